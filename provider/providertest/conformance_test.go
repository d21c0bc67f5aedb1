package providertest_test

import (
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// TestConformance runs the suite against Memory, or against the executable that
// the flag -plugin names.
func TestConformance(t *testing.T) {
	open := func(providertest.T) provider.Provider { return providertest.NewMemory() }
	if *pluginPath != "" {
		if strings.ContainsRune(*pluginPath, filepath.Separator) && !filepath.IsAbs(*pluginPath) {
			dir, _ := os.Getwd()
			t.Fatalf("-plugin %s: is relative, and tests run in %s; give an absolute path, such as \"$PWD/%s\"", *pluginPath, dir, *pluginPath)
		}
		open = openPlugin
	}
	providertest.Run(providertest.Wrap(t), open, providertest.Opt{Known: known})
}

// openPlugin starts the executable that is to be tested.
func openPlugin(t providertest.T) provider.Provider {
	t.Helper()
	spec := plugin.Spec{
		Path: *pluginPath, Env: pluginEnv, Settings: []byte(*settings),
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if args := flag.Args(); len(args) > 0 { // what follows --
		spec.Args = args
	}
	if strings.Contains(*settings, "{dir}") {
		spec.Settings = []byte(strings.ReplaceAll(*settings, "{dir}", inJSON(emptyDir(t))))
	}
	p, err := plugin.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("open the plugin: %v", err)
	}
	if *wipe {
		empty(t, p)
	}
	return p
}

// emptyDir is a directory in memory where the system has one: the suite asks
// for the rules and not for the disk.
func emptyDir(t providertest.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "providertest")
	if err != nil {
		if dir, err = os.MkdirTemp("", "providertest"); err != nil {
			t.Fatalf("make a directory for the provider: %v", err)
		}
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// inJSON is s as it is written inside a JSON string.
func inJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// empty deletes everything that p holds.
func empty(t providertest.T, p provider.Provider) {
	t.Helper()
	sites, err := p.Sites(t.Context())
	if err != nil {
		t.Fatalf("-wipe: list the sites: %v", err)
	}
	for _, s := range sites {
		if _, err := p.Delete(t.Context(), provider.Selector{Site: s.Site, WholeSite: true}); err != nil {
			t.Fatalf("-wipe: delete %s: %v", s.Site, err)
		}
	}
}

// The suite is run as an author of a plugin runs it: on a right one it is
// green, and what is wrong with a wrong one it names.
func TestAnyExecutableCanBeTested(t *testing.T) {
	if testing.Short() {
		t.Skip("SQLite is slow under the race detector; runs without -short")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	suite := func(rules string, args ...string) (output string, passed bool) {
		cmd := exec.Command(self, append([]string{"-test.v", "-test.run", "^TestConformance$" + rules}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	wants := func(output string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(output, line) {
				t.Errorf("no %q in the output:\n%s", line, output)
			}
		}
	}

	output, passed := suite("", "-plugin", self, "--", "plugin", "right")
	if !passed {
		t.Errorf("the right provider failed:\n%s", output)
	}
	for _, rule := range providertest.Rules() {
		wants(output, "--- PASS: TestConformance/"+rule+" ")
	}

	const some = "/^(Scope|Order|Delete)$"
	output, passed = suite(some, "-plugin", self, "--", "plugin", "wrong")
	if passed {
		t.Error("the wrong provider passed")
	}
	wants(output,
		"--- FAIL: TestConformance/Scope/OneSiteIsAStrictFilter ", `outside the scope ["`,
		"--- FAIL: TestConformance/Delete/ByURL ", "= 2, want 1",
		"--- PASS: TestConformance/Order/BestFirst ")

	output, passed = suite("/^Delete$/^ByURL$", "-plugin", self, "-known", "Delete/ByURL=it counts from one", "--", "plugin", "wrong")
	if !passed {
		t.Error("a known exception failed")
	}
	wants(output, "--- SKIP: TestConformance/Delete/ByURL ", "it counts from one")

	const starts = "/^Info$/^AnEmptyProviderHoldsNothing$"
	if _, passed = suite(starts, "-plugin", self, "--", "plugin", "full"); passed {
		t.Error("a provider that does not start empty passed")
	}
	if output, passed = suite(starts, "-plugin", self, "-wipe", "-settings", "{}", "--", "plugin", "full"); !passed {
		t.Errorf("a provider that was wiped failed:\n%s", output)
	}

	output, passed = suite(starts, "-plugin", "./relative")
	if passed {
		t.Error("a relative path was accepted")
	}
	wants(output, "give an absolute path")
}
