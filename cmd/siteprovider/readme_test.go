package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/provider"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// fenced returns the blocks of code in a language, in order.
func fenced(text, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// readmeCommand is a command that the README shows, and what it prints.
type readmeCommand struct {
	line string
	want []string
}

func readmeCommands(text string) []readmeCommand {
	var out []readmeCommand
	for _, block := range fenced(text, "console") {
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if cmd, ok := strings.CutPrefix(line, "$ "); ok {
				out = append(out, readmeCommand{line: cmd})
			} else {
				out[len(out)-1].want = append(out[len(out)-1].want, line)
			}
		}
	}
	return out
}

// pattern returns the regular expression of what a command prints: its lines,
// where three dots stand for anything.
func (c readmeCommand) pattern() string {
	var b strings.Builder
	b.WriteString(`^`)
	for _, line := range c.want {
		switch {
		case strings.TrimSpace(line) == "...":
			b.WriteString(`(?s:.*)`)
		default:
			b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`) + `\n`)
		}
	}
	b.WriteString(`$`)
	return b.String()
}

// Every command of the README is typed into a shell, one after the other, in
// a directory that looks like a checkout. Its output and, where it is not 0,
// its exit status are the ones shown.
func TestReadmeCommandsDoWhatItShows(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the README's commands are for a POSIX shell, which is not here")
	}
	dir := t.TempDir()
	layOutReadme(t, dir)
	typed := typing(t, shell, dir)

	commands := readmeCommands(readme(t))
	require.Greater(t, len(commands), 15)
	for _, c := range commands {
		if c.line == "go build -o siteprovider ./cmd/siteprovider" {
			continue // TestReadmeBuildsTheProgram
		}
		got := typed(c.line)
		if c.want != nil {
			assert.Regexp(t, c.pattern(), got, "$ %s", c.line)
		} else {
			assert.NotContains(t, got, "(exit status", "$ %s", c.line)
		}
	}
}

// typing returns what types a line into a shell in dir, where siteprovider is
// the program under test. It returns what the line prints and, where it is not
// 0, its exit status.
func typing(t *testing.T, shell, dir string) func(line string) string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	wrapper := fmt.Sprintf("#!%s\nexec '%s' \"$@\"\n", shell, self)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "siteprovider"), []byte(wrapper), 0o700))
	return func(line string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, shell, "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		got, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = fmt.Appendf(got, "(exit status %d)\n", exit.ExitCode())
		} else {
			require.NoError(t, err, line)
		}
		return string(got)
	}
}

// The examples that the help shows work as typed: what is ingested first is
// searched, listed and looked up, and deleted in the end.
func TestHelpExamplesWork(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell, which is not here")
	}
	dir := t.TempDir()
	layOutReadme(t, dir)
	typed := typing(t, shell, dir)
	examples := map[string]string{}
	for _, cmd := range (&app{}).root().Commands() {
		examples[cmd.Name()] = cmd.Example
	}
	for _, name := range []string{"ingest", "search", "get", "list", "sites", "delete"} {
		for line := range strings.Lines(examples[name]) {
			line = strings.TrimSpace(line)
			got := typed(line)
			assert.NotContains(t, got, "(exit status", line)
			assert.NotContains(t, got, "no hits", line)
			assert.NotContains(t, got, "0 stored", line)
			assert.NotRegexp(t, "^0 deleted", got, line)
			assert.NotEmpty(t, got, line)
		}
	}
	for _, name := range []string{"ingest", "search", "get", "list", "delete"} {
		assert.Contains(t, examples[name], "siteprovider "+name, "the help of %s has no example", name)
	}
}

// layOutReadme puts into dir what the README's commands read.
func layOutReadme(t *testing.T, dir string) {
	t.Helper()
	samples, err := filepath.Abs("samples")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "cmd", "siteprovider", "samples"), os.DirFS(samples)))
	yaml := fenced(readme(t), "yaml")
	require.Len(t, yaml, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml[0]), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "store"), 0o700))
	// The store that config.yaml names.
	must(t, dir, soup, "--data", "store", "ingest", "-")
}

func TestReadmeBuildsTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program; leave out -short")
	}
	require.Contains(t, readme(t), "$ go build -o siteprovider ./cmd/siteprovider\n")
	dir := t.TempDir()
	executable := filepath.Join(dir, "siteprovider.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", executable, "./cmd/siteprovider")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	ingest := exec.CommandContext(t.Context(), executable, "ingest", "-")
	ingest.Dir, ingest.Stdin = dir, strings.NewReader(soup)
	out, err = ingest.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "1 read, 1 stored\n", string(out))
}

// The demo is the first thing anybody runs.
func TestDemoShowsSearchesAndALookup(t *testing.T) {
	require.Contains(t, readme(t), "\n    go run ./cmd/siteprovider demo\n    go test ./...\n")
	tmp := shortTempDir(t)
	cmd := program(t, t.TempDir(), "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	o := finish(t, cmd, "")
	require.Equal(t, exitDone, o.status, o.stderr)
	require.Empty(t, o.stderr)
	require.Contains(t, o.stdout, "139 stored")
	require.Equal(t, 1+len(demoSteps), strings.Count(o.stdout, "\n$ siteprovider "))

	steps := strings.Split(o.stdout, "\n$ siteprovider ")
	for _, step := range steps {
		if strings.HasPrefix(step, "search ") {
			require.Contains(t, step, "\n  1. ", "a search of the demo finds nothing")
		}
	}
	for site, step := range map[string]string{
		"kitchen.example": "search --site kitchen.example -n 3",
		"gadgets.example": "search --site gadgets.example --filter",
		"museo.example":   "search --site museo.example",
	} {
		_, out, ok := strings.Cut(o.stdout, "\n$ siteprovider "+step)
		require.True(t, ok, step)
		out, _, _ = strings.Cut(out, "\n$ siteprovider ")
		for _, m := range regexp.MustCompile(`(?m)^     (\S+) · `).FindAllStringSubmatch(out, -1) {
			require.Equal(t, site, m[1], step)
		}
	}

	pho, err := os.ReadFile(filepath.Join("samples", "kitchen.example", "recipes.jsonl"))
	require.NoError(t, err)
	_, got, _ := strings.Cut(o.stdout, "\n$ siteprovider get https://kitchen.example/recipes/beef-pho\n")
	got, _, _ = strings.Cut(got, "\n")
	require.NotEmpty(t, got)
	require.Contains(t, string(pho), got+"\n", "the object is not the one of the sample's file")

	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left, "the demo leaves files behind")
}

func TestReadmeListsEveryKey(t *testing.T) {
	var rows []string
	for _, k := range config.Keys() {
		backend := k.Backend
		if backend == "" {
			backend = "any"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", k.Name, backend, k.Doc))
	}
	_, table, ok := strings.Cut(readme(t), "| key | backend | what it is |\n|---|---|---|\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	require.Equal(t, strings.Join(rows, "\n"), table)
}

// The host program is put together as the README says and searches a store
// that the command line filled.
func TestReadmeHostWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module of its own; leave out -short")
	}
	program, mod := fenced(readme(t), "go"), fenced(readme(t), `go\.mod`)
	require.Len(t, program, 1)
	require.Len(t, mod, 1)
	require.Contains(t, readme(t), "`go mod tidy`")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	const checkout = "/path/to/siteprovider"
	require.Contains(t, mod[0], checkout)

	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": program[0],
		"go.mod":  strings.ReplaceAll(mod[0], checkout, strconv.Quote(filepath.ToSlash(root))),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	store := filepath.Join(dir, "new", "store")
	self, err := os.Executable()
	require.NoError(t, err)
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %v: %s", args, out)
		return string(out)
	}
	run("mod", "tidy")
	run("vet", ".")
	host := []string{"run", ".", self, store, "kitchen.example", "leek"}
	require.Contains(t, run(host...), `SITE_UNKNOWN: the site "kitchen.example" holds nothing`)

	samples, err := filepath.Abs(filepath.Join("samples", "kitchen.example"))
	require.NoError(t, err)
	must(t, dir, "", "--data", store, "ingest", samples)
	require.Contains(t, run(host...), "Potato and leek soup https://kitchen.example/soups/potato-leek-soup/\n")
}

func TestReadmeNamesTheLimits(t *testing.T) {
	text := readme(t)
	for _, row := range []string{
		fmt.Sprintf("| an object | %d MiB, nested %d deep |", provider.MaxObjectBytes>>20, provider.MaxJSONDepth),
		fmt.Sprintf("| a URL | %d KiB |", provider.MaxURLBytes>>10),
		fmt.Sprintf("| a site's name | %d KiB |", provider.MaxSiteBytes>>10),
		fmt.Sprintf("| a query | %d KiB |", provider.MaxQueryBytes>>10),
		fmt.Sprintf("| hits of one search, `-n` | %d |", provider.MaxLimit),
		fmt.Sprintf("| sites of one search, URLs of one call | %d |", provider.MaxSites),
	} {
		require.Contains(t, text, row)
	}
	require.Equal(t, provider.MaxSites, provider.MaxURLs)
}

// Every module that the program is built on is named with its licence.
func TestNoticeNamesEveryModule(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	notice, err := os.ReadFile(filepath.Join("..", "..", "NOTICE"))
	require.NoError(t, err)
	modules := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1)
	require.NotEmpty(t, modules)
	for _, m := range modules {
		require.Regexp(t, `(?m)^  `+regexp.QuoteMeta(m[1])+` .*\S`, string(notice))
	}
}
