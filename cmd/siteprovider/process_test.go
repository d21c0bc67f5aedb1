package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// soup and bread are documents of two sites.
const (
	soup = `{"@type":"Recipe","url":"https://kitchen.example/soup","name":"Noodle soup","description":"A clear broth with egg noodles.","offers":{"price":"12.50"}}`
	cake = `{"@type":"Recipe","url":"https://kitchen.example/cake","name":"Plum cake","description":"Sheet cake with sour plums.","offers":{"price":30}}`
	tent = `{"@type":"Product","url":"https://trails.example/tent","name":"Light tent","description":"Room for two and a noodle soup.","offers":{"price":120}}`
)

// kitchen ingests the three documents into the store of a new directory.
func kitchen(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	o := must(t, dir, strings.Join([]string{soup, cake, tent}, "\n"), "ingest", "-")
	require.Equal(t, "3 read, 3 stored\n", o.stdout)
	require.Empty(t, o.stderr)
	return dir
}

func TestEveryCommandWorksThroughThePlugin(t *testing.T) {
	dir := kitchen(t)

	o := must(t, dir, soup, "ingest", "--json", "-")
	require.Equal(t, int64(1), gjson.Get(o.stdout, "unchanged").Int(), o.stdout)

	o = must(t, dir, "", "search", "--site", "kitchen.example", "noodle soup")
	require.Contains(t, o.stdout, "  1. Noodle soup\n     kitchen.example · Recipe\n     https://kitchen.example/soup\n")
	require.NotContains(t, o.stdout, "trails.example")
	require.Empty(t, o.stderr)

	o = must(t, dir, "", "search", "--json", "noodle soup")
	require.Equal(t, []string{"https://kitchen.example/soup", "https://trails.example/tent"}, texts(o.stdout, "hits.#.url"))
	require.Equal(t, soup, gjson.Get(o.stdout, "hits.0.schema").Raw)

	o = must(t, dir, "", "search", "--json", "--filter", "offers.price<=20", "--filter", "@type=Recipe", "soup cake tent")
	require.Equal(t, []string{"https://kitchen.example/soup"}, texts(o.stdout, "hits.#.url"))

	o = must(t, dir, "", "get", "https://kitchen.example/cake")
	require.Equal(t, cake+"\n", o.stdout)

	o = must(t, dir, "", "get", "--json", "HTTPS://KITCHEN.example:443/a/../cake")
	require.Equal(t, `{"objects":[{"url":"https://kitchen.example/cake","site":"kitchen.example","found":true,"ambiguous":false,"schema":`+cake+"}]}\n", o.stdout)

	o = must(t, dir, "", "list", "--site", "kitchen.example")
	require.Equal(t, "https://kitchen.example/cake\nhttps://kitchen.example/soup\n", o.stdout)

	o = must(t, dir, "", "list", "--json", "--site", "kitchen.example")
	require.Equal(t, int64(2), gjson.Get(o.stdout, "entries.#").Int())
	require.Len(t, gjson.Get(o.stdout, "entries.0.hash").Str, 64)
	require.True(t, gjson.Get(o.stdout, "entries.0.indexed").Bool())

	require.Equal(t, "       2  kitchen.example\n       1  trails.example\n", must(t, dir, "", "sites").stdout)
	require.Equal(t, `{"sites":[{"site":"kitchen.example","documents":2},{"site":"trails.example","documents":1}]}`+"\n",
		must(t, dir, "", "sites", "--json").stdout)

	require.Equal(t, "1 deleted\n", must(t, dir, "", "delete", "--site", "kitchen.example", "https://kitchen.example/cake").stdout)
	o = siteprovider(t, dir, "", "get", "https://kitchen.example/cake")
	require.Equal(t, outcome{exitPart, "", "not found: https://kitchen.example/cake\n"}, o)
	o = siteprovider(t, dir, "", "get", "--json", "https://kitchen.example/cake")
	require.Equal(t, exitPart, o.status)
	require.Equal(t, `{"objects":[{"url":"https://kitchen.example/cake","site":"","found":false,"ambiguous":false,"schema":null}]}`+"\n", o.stdout)

	o = siteprovider(t, dir, "", "delete", "--site", "kitchen.example", "https://kitchen.example/cake")
	require.Equal(t, exitPart, o.status)
	require.Equal(t, "0 deleted\n", o.stdout)

	require.Equal(t, `{"deleted":1}`+"\n", must(t, dir, "", "delete", "--json", "--site", "kitchen.example").stdout)
	require.Equal(t, "       1  trails.example\n", must(t, dir, "", "sites").stdout)
}

func texts(doc, path string) []string {
	var out []string
	for _, r := range gjson.Get(doc, path).Array() {
		out = append(out, r.Str)
	}
	return out
}

func TestReadingWhereNothingWasIngestedSaysSo(t *testing.T) {
	for _, args := range [][]string{
		{"search", "x"}, {"get", "https://a.example/"}, {"list", "--site", "a.example"}, {"sites"},
		{"delete", "--site", "a.example"}, {"search", "--json", "x"},
	} {
		dir := t.TempDir()
		o := siteprovider(t, dir, "", args...)
		require.Equal(t, exitUsage, o.status, args)
		require.Empty(t, o.stdout, args)
		require.Contains(t, o.stderr, "nothing ingested here", args)
		require.Contains(t, o.stderr, "siteprovider ingest FILE", args)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "%v made something", args)
	}
}

func TestTheConfigurationFileNamesTheStore(t *testing.T) {
	dir := t.TempDir()
	elsewhere := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("retrieval:\n  default: {data_env: MY_STORE}\n  second: {data: two}\n"), 0o600))

	cmd := program(t, elsewhere, "--config", config, "ingest", "-")
	cmd.Env = append(os.Environ(), "MY_STORE=one")
	require.Equal(t, exitDone, finish(t, cmd, soup).status)
	require.DirExists(t, filepath.Join(dir, "one"))

	o := siteprovider(t, elsewhere, "", "--config", config, "sites")
	require.Equal(t, exitUsage, o.status)
	require.Contains(t, o.stderr, "config.yaml:2: retrieval.default: data_env: the environment variable MY_STORE is not set")

	must(t, elsewhere, cake, "--config", config, "--use", "second", "ingest", "-")
	require.Equal(t, "https://kitchen.example/cake\n", must(t, dir, "", "--data", "two", "list", "--site", "kitchen.example").stdout)

	o = siteprovider(t, elsewhere, "", "--config", config, "--use", "third", "sites")
	require.Equal(t, exitUsage, o.status)
	require.Contains(t, o.stderr, "there are: default, second")
}

func TestAnotherExecutableServesAsThePlugin(t *testing.T) {
	dir := kitchen(t)
	self, err := os.Executable()
	require.NoError(t, err)
	o := must(t, dir, "", "--plugin", self, "sites", "--json")
	require.Equal(t, int64(2), gjson.Get(o.stdout, "sites.#").Int())

	// Where there is no store, the wrong path is what to name.
	for _, where := range []string{dir, t.TempDir()} {
		o = siteprovider(t, where, "", "--plugin", "not-there", "sites")
		require.Equal(t, exitUsage, o.status)
		require.Contains(t, o.stderr, "not-there: ")
		require.NotContains(t, o.stderr, "nothing ingested")
	}

	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("retrieval:\n  default:\n    data: siteprovider-data\n    plugin: "+self+"\n    plugin_sha256: "+strings.Repeat("0", 64)+"\n"), 0o600))
	o = siteprovider(t, dir, "", "--config", config, "sites")
	require.Equal(t, exitUsage, o.status, "an executable with another checksum was run")
	require.Contains(t, o.stderr, config+":5: plugin_sha256: ")
	require.Empty(t, o.stdout)
}

// An executable that is no plugin is told how it ended, by itself.
func TestAnExecutableThatIsNoPluginIsNamedAsSuch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the executable is a shell script, which windows does not run")
	}
	script := filepath.Join(t.TempDir(), "no-plugin")
	for text, want := range map[string]string{
		"#!/bin/sh\n":             "it ended before the handshake (exit status 0); is it a siteprovider plugin?",
		"#!/bin/sh\nexit 7\n":     "it ended before the handshake (exit status 7)",
		"#!/bin/sh\necho hello\n": "hello",
	} {
		require.NoError(t, os.WriteFile(script, []byte(text), 0o700))
		o := siteprovider(t, t.TempDir(), "", "--plugin", script, "sites")
		require.Equal(t, exitFault, o.status, o.stderr)
		require.Contains(t, o.stderr, script)
		require.Contains(t, o.stderr, want)
	}
}

// Fifty objects whose bytes a decoder and encoder would change come back from
// a store as they went in, whichever way they are asked for.
func TestObjectsComeBackByteForByte(t *testing.T) {
	numbers := []string{"1.0", "1e2", "1E+2", "-0", "-0.0", "12345678901234567890123", "0.1000", "1e-7", "100", "3.14159265358979323846"}
	strs := []string{`<script>&amp;</script>`, `\u003cb\u003e`, `\u00e9é\/`, `\ud83d\ude00😀`, `\u2028` + "\u2028\u2029"}
	objects := map[string]string{}
	var input strings.Builder
	for i, n := range numbers {
		for j, s := range strs {
			url := fmt.Sprintf("https://odd.example/%d/%d", i, j)
			object := fmt.Sprintf("{ \"zeta\" :%s, \"@type\":\"Thing\",\t\"url\":\"%s\",\"name\":\"oddity %d\",\"b\":[ ],\"a\":\"%s\",\"m\":{\"x\":null} }", n, url, i*10+j, s)
			require.True(t, json.Valid([]byte(object)), object)
			objects[url] = object
			input.WriteString(object + "\n")
		}
	}
	require.Len(t, objects, 50)
	dir := t.TempDir()
	o := must(t, dir, input.String(), "ingest", "--json", "-")
	require.Equal(t, int64(50), gjson.Get(o.stdout, "stored").Int(), o.stdout)

	var urls []string
	var plain strings.Builder
	for u, object := range objects {
		urls = append(urls, u)
		plain.WriteString(object + "\n")
	}
	o = must(t, dir, "", append([]string{"get"}, urls...)...)
	require.Equal(t, plain.String(), o.stdout)

	o = must(t, dir, "", append([]string{"get", "--json"}, urls...)...)
	require.True(t, gjson.Valid(o.stdout))
	for i, object := range gjson.Get(o.stdout, "objects").Array() {
		require.Equal(t, objects[urls[i]], object.Get("schema").Raw)
	}

	o = must(t, dir, "", "search", "--json", "-n", "50", "oddity")
	hits := gjson.Get(o.stdout, "hits").Array()
	require.Len(t, hits, 50)
	for _, hit := range hits {
		require.Equal(t, objects[hit.Get("url").Str], hit.Get("schema").Raw)
	}
}

// Scripts read these keys: a place that is not known is a zero, not a gap.
func TestFailuresInJSONHaveEveryKey(t *testing.T) {
	o := siteprovider(t, t.TempDir(), "", "ingest", "--json", "missing.json")
	require.Equal(t, exitPart, o.status)
	for _, key := range []string{"read", "stored", "unchanged", "pending", "superseded", "skipped", "failed", "deleted"} {
		require.Equal(t, gjson.Number, gjson.Get(o.stdout, key).Type, key)
	}
	failures := gjson.Get(o.stdout, "failures").Array()
	require.Len(t, failures, 1)
	keys := map[string]string{}
	failures[0].ForEach(func(key, value gjson.Result) bool {
		keys[key.Str] = value.Raw
		return true
	})
	require.NotEmpty(t, keys["error"])
	delete(keys, "error") // the operating system's words
	require.Equal(t, map[string]string{"source": `"missing.json"`, "line": "0", "script": "0", "url": `""`}, keys)
}

func TestADamagedStoreIsAFaultAndStaysAsItIs(t *testing.T) {
	dir := kitchen(t)
	files, err := filepath.Glob(filepath.Join(dir, "siteprovider-data", "*.db"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	junk := []byte(strings.Repeat("this is no store. ", 1000))
	require.NoError(t, os.WriteFile(files[0], junk, 0o600))
	for _, args := range [][]string{{"search", "soup"}, {"sites"}, {"ingest", "-"}} {
		o := siteprovider(t, dir, cake, args...)
		require.Equal(t, exitFault, o.status, "%v: %s", args, o.stderr)
		require.Contains(t, o.stderr, files[0], args)
		require.Empty(t, o.stdout, args)
	}
	after, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Equal(t, junk, after)
}

func TestStoresAreForTheirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	dir := kitchen(t)
	err := filepath.Walk(filepath.Join(dir, "siteprovider-data"), func(path string, info os.FileInfo, err error) error {
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s has mode %v", path, info.Mode())
		return nil
	})
	require.NoError(t, err)
}

func TestVersionsAreNamed(t *testing.T) {
	o := must(t, t.TempDir(), "", "version", "--json")
	for _, field := range []string{"wire", "store", "text"} {
		require.GreaterOrEqual(t, gjson.Get(o.stdout, field).Int(), int64(1), o.stdout)
	}
	require.NotEmpty(t, gjson.Get(o.stdout, "version").Str)
	o = must(t, t.TempDir(), "", "version")
	require.Regexp(t, `^siteprovider \S+\nwire \d+\nstore \d+\ntext \d+\ngo go\S+\n$`, o.stdout)
}

func TestHelpNamesEveryCommand(t *testing.T) {
	o := must(t, t.TempDir(), "", "--help")
	for _, name := range []string{"demo", "ingest", "search", "get", "list", "sites", "delete", "store", "plugin", "version"} {
		require.Contains(t, o.stdout, "\n  "+name+" ")
		help := must(t, t.TempDir(), "", name, "--help")
		require.Contains(t, help.stdout, "siteprovider "+name)
	}
}

// An interrupt in the middle of an ingestion ends the command and its plugin,
// and what was acknowledged is there.
func TestAnInterruptEndsTheCommandAndItsPlugin(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks for the plugin in /proc, which only linux has")
	}
	dir := kitchen(t)
	cmd := program(t, dir, "ingest", "-")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	var child int
	require.Eventually(t, func() bool {
		child = childOf(t, cmd.Process.Pid)
		return child != 0
	}, time.Minute, 10*time.Millisecond, "no plugin was started")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitSignal+int(syscall.SIGINT), exit.ExitCode(), stderr.String())
	require.Eventually(t, func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", child))
		return err != nil
	}, time.Minute, 10*time.Millisecond, "the plugin outlives its host")
	require.Equal(t, "       2  kitchen.example\n       1  trails.example\n", must(t, dir, "", "sites").stdout)
}

// A reader that has seen enough, such as head, ends a command quietly and
// leaves nothing behind.
func TestAReaderThatLeavesEndsTheCommandQuietly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no broken pipes")
	}
	tmp := shortTempDir(t)
	cmd := program(t, t.TempDir(), "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReaderSize(stdout, 16).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, stdout.Close())
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitSignal+int(syscall.SIGPIPE), exit.ExitCode(), stderr.String())
	require.Empty(t, stderr.String())
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// childOf returns the process id of a child of the process parent, or 0.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		line, _ := bufio.NewReader(f).ReadString('\n')
		f.Close()
		var pid, ppid int
		var state string
		_, rest, ok := strings.Cut(line, ") ")
		if n, _ := fmt.Sscanf(line, "%d", &pid); !ok || n != 1 {
			continue
		}
		if n, _ := fmt.Sscanf(rest, "%s %d", &state, &ppid); n == 2 && ppid == parent {
			return pid
		}
	}
	return 0
}
