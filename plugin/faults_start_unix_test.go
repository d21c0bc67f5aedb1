//go:build unix

package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// startError opens what does not start, and wants the error to be a StartError
// with these words in it.
func startError(t *testing.T, spec plugin.Spec, words ...string) *plugin.StartError {
	t.Helper()
	p, err := plugin.Open(t.Context(), spec)
	if err == nil {
		p.Close()
		t.Fatal("Open succeeded")
	}
	var start *plugin.StartError
	if !errors.As(err, &start) {
		t.Fatalf("error %T %v, want a *StartError", err, err)
	}
	for _, w := range words {
		if all := err.Error() + "\n" + strings.Join(start.LastWords, "\n"); !strings.Contains(all, w) {
			t.Errorf("error %q, want %q in it", all, w)
		}
	}
	return start
}

func wantErrors(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("error %v, want one that matches %q", err, w)
		}
	}
}

func startFails(spec plugin.Spec, words ...string) func(*testing.T) {
	return func(t *testing.T) { wantErrors(t, startError(t, spec, words...), provider.ErrUnavailable) }
}

func anotherVersion(t *testing.T) {
	err := startError(t, kind("speaks version 9"), "version 9", "version 1")
	wantErrors(t, err, provider.ErrUnsupported, plugin.ErrVersion)
}

func noPluginAtAll(t *testing.T) {
	path, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, startError(t, plugin.Spec{Path: path}, "is it a siteprovider plugin?"), provider.ErrUnavailable, plugin.ErrHandshake)
}

func hangsAtItsStart(t *testing.T) {
	spec := kind("hangs")
	spec.Limits.StartTimeout = 500 * time.Millisecond
	wantErrors(t, startError(t, spec, "not ready within 500ms", "thinking"), provider.ErrUnavailable, context.DeadlineExceeded)
}

func longSocketDirectory(t *testing.T) {
	short := os.Getenv("TMPDIR")
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	wantErrors(t, startError(t, kind("memory"), "TMPDIR"), provider.ErrUnavailable)
	if left, _ := os.ReadDir(long); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("TMPDIR", short)
}

func theHostIsItselfAPlugin(t *testing.T) {
	t.Setenv("PLUGIN_CLIENT_CERT", "-----BEGIN CERTIFICATE-----")
	t.Setenv("PLUGIN_MULTIPLEX_GRPC", "true")
	t.Setenv("PLUGIN_UNIX_SOCKET_GROUP", "nobody")
	t.Setenv("PLUGIN_UNIX_SOCKET_DIR", "/nowhere")
	t.Setenv("PLUGIN_PROTOCOL_VERSIONS", "9")
	mustTell(t, open(t, kind("puppet")), "pid")
}

func aVariableThatLeaks(t *testing.T) {
	const secret = "gk-4c1e77aa90"
	t.Setenv("HOST_TOKEN", "of the host")
	t.Setenv("BACKEND_REGION", "north")
	spec := with("puppet", map[string]string{"api_key": secret})
	spec.Env = []string{"BACKEND_REGION"}
	p := open(t, spec)

	var env []string
	if err := json.Unmarshal([]byte(mustTell(t, p, "env")), &env); err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"BACKEND_REGION", plugin.CookieKey, plugin.LeaseEnv, plugin.LogLevelEnv,
		"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_UNIX_SOCKET_DIR",
	}
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(allowed, name) {
			t.Errorf("the plugin has the variable %s", name)
		}
	}
	if !slices.Contains(env, "BACKEND_REGION=north") {
		t.Error("the plugin lacks the variable that Spec.Env names")
	}
	if args := mustTell(t, p, "args"); strings.Contains(args+strings.Join(env, " "), secret) {
		t.Error("the settings are in the plugin's arguments or environment")
	}
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "PLUGIN_UNIX_SOCKET_DIR="); ok {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("socket directory %s: %v %v, want mode 0700", dir, info, err)
			}
		}
	}
}

// shellWrapper is a plugin that a shell starts and waits for. The one or the
// other of them is killed.
func shellWrapper(theShell bool) func(*testing.T) {
	return func(t *testing.T) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		spec := kind("puppet")
		spec.Path, spec.Args = "/bin/sh", []string{"-c", `"$0" plugin puppet; exit $?`, self}
		p := open(t, spec)
		inner, _ := strconv.Atoi(mustTell(t, p, "pid"))
		outer, _ := strconv.Atoi(mustTell(t, p, "ppid"))
		if outer == os.Getpid() {
			t.Fatal("the shell has become the plugin; the test shows nothing")
		}
		victim := inner
		if theShell {
			victim = outer
		}
		syscall.Kill(victim, syscall.SIGKILL)
		eventually(t, "another process serves", func() bool { return mustTell(t, p, "pid") != itoa(inner) })
		eventually(t, "shell and plugin are gone", func() bool { return !alive(inner) && !alive(outer) })
	}
}

// copied copies this executable to dir/plugin: another file, with another sum.
func copied(t *testing.T, dir string) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "plugin")
	if err := os.WriteFile(path, append(b, "a later version"...), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// linked links this executable to dir/plugin.
func linked(t *testing.T, dir string) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "plugin")
	if err := os.Link(self, path); err != nil {
		if path = copied(t, dir); os.Truncate(path, sizeOf(t, self)) != nil {
			t.Fatal(err)
		}
	}
	return path
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// upgrade puts another version in the place of the executable at path, as
// package managers do.
func upgrade(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(copied(t, t.TempDir()), path); err != nil {
		t.Fatal(err)
	}
}

// An executable that is replaced while it runs is noticed; it runs on, and the
// next process is wholly the new one.
func upgraded(t *testing.T) {
	path := linked(t, t.TempDir())
	spec, events := watched(kind("puppet"))
	spec.Path, spec.Limits.HealthEvery = path, 10*time.Millisecond
	p := open(t, spec)
	pid := pidOf(t, p)
	old := sizeOf(t, path)
	if serving := events.next(t, plugin.Serving); serving.Upgraded || serving.PID != pid {
		t.Errorf("event %+v, want the first process, %d, not upgraded", serving, pid)
	}
	upgrade(t, path)
	events.next(t, plugin.Replaced)
	if again := pidOf(t, p); again != pid || mustTell(t, p, "size") != itoa(int(old)) {
		t.Errorf("process %d became %d, of %s bytes; want it to go on as it was", pid, again, mustTell(t, p, "size"))
	}
	kill(t, pid)
	mustTell(t, p, "pid")
	if serving := events.next(t, plugin.Serving); !serving.Upgraded {
		t.Errorf("event %+v, want it to say that the executable is another", serving)
	}
	if size := mustTell(t, p, "size"); size == itoa(int(old)) {
		t.Errorf("the old version of %s bytes was started again", size)
	}
}

func upgradedAgainstTheChecksum(t *testing.T) {
	path := linked(t, t.TempDir())
	spec, events := watched(kind("puppet"))
	spec.Path, spec.SHA256 = path, sumOf(t, path)
	p := open(t, spec)
	pid := pidOf(t, p)
	upgrade(t, path)
	kill(t, pid)
	for range 3 {
		_, err := tell(t.Context(), p, "pid")
		if errors.Is(err, plugin.ErrChecksum) {
			wantErrors(t, err, provider.ErrInvalid)
			break
		}
		if err == nil {
			t.Fatal("an executable with another checksum was started")
		}
	}
	if failed := events.next(t, plugin.StartFailed); !errors.Is(failed.Err, plugin.ErrChecksum) {
		t.Errorf("event %+v, want the checksum for its reason", failed)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	linked(t, filepath.Dir(path))
	mustTell(t, p, "pid")
}
