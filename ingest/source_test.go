package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes files of the given paths below a new directory, each holding its
// own path, and returns the directory.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(p), 0o644))
	}
	return dir
}

// names returns the inputs that sources give, relative to dir.
func names(t *testing.T, dir string, sources ...string) (inputs []string, failures map[string]string) {
	t.Helper()
	in, failed, _ := expand(sources)
	for _, i := range in {
		name := i.name
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsAbs(name) {
			name = filepath.ToSlash(rel)
		}
		inputs = append(inputs, name)
	}
	failures = make(map[string]string)
	for _, f := range failed {
		rel, err := filepath.Rel(dir, f.Source)
		require.NoError(t, err)
		failures[filepath.ToSlash(rel)] = f.Err.Error()
	}
	return inputs, failures
}

func TestSourcesAreReadInOrderAndOnce(t *testing.T) {
	dir := tree(t, "b.json", "a/z.json", "a/b/c.jsonl", "a.json", "a/.hidden.json", ".git/config", "style.css", "a/logo.PNG", "c.html")
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	all := []string{"a.json", "a/b/c.jsonl", "a/z.json", "b.json", "c.html"}
	for _, c := range []struct {
		name    string
		sources []string
		want    []string
	}{
		{"a directory, all of it", []string{dir}, all},
		{"a directory with a slash behind it", []string{dir + string(filepath.Separator)}, all},
		{"in any order and more than once", []string{at("c.html"), "-", at("a/b/../z.json"), dir, at("a"), "-", at("b.json")}, append(slices.Clone(all), "-")},
		{"a pattern", []string{at("*.json")}, []string{"a.json", "b.json"}},
		{"a pattern that matches a directory", []string{at("[a]")}, []string{"a/b/c.jsonl", "a/z.json"}},
		{"hidden files and assets where they are named", []string{at("a/.hidden.json"), at("style.css")}, []string{"a/.hidden.json", "style.css"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, failures := names(t, dir, c.sources...)
			require.Equal(t, c.want, got)
			require.Empty(t, failures)
		})
	}
}

func TestSourcesThatNameNothingFailAndTheOthersAreRead(t *testing.T) {
	dir := tree(t, "a.json", "pictures/x.png")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	at := func(p string) string { return filepath.Join(dir, p) }
	got, failures := names(t, dir, at("no.json"), at("a.json"), at("empty"), at("pictures"), at("*.tsv"), at("[.json"))
	require.Equal(t, []string{"a.json"}, got)
	require.Len(t, failures, 5)
	require.Contains(t, failures["no.json"], "no such file")
	require.Equal(t, "the directory has no file to read", failures["empty"])
	require.Equal(t, "the directory has no file to read", failures["pictures"])
	require.Equal(t, "no file matches the pattern", failures["*.tsv"])
	require.Contains(t, failures["[.json"], "pattern")
}

func TestAFileMayHaveANameLikeAPattern(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows allows no such name")
	}
	dir := tree(t, "[x]*.json", "x1.json")
	got, failures := names(t, dir, filepath.Join(dir, "[x]*.json"))
	require.Empty(t, failures)
	require.Equal(t, []string{"[x]*.json"}, got)
}

func TestLinksAreFollowedToFilesOnly(t *testing.T) {
	dir := tree(t, "real/a.json")
	for from, to := range map[string]string{"link.json": "real/a.json", "circle": ".", "real/up": "..", "dangling.json": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skipf("the system makes no links: %v", err)
		}
	}
	got, failures := names(t, dir, dir)
	require.Equal(t, []string{"link.json", "real/a.json"}, got)
	require.Len(t, failures, 1)
	require.Contains(t, failures, "dangling.json")
}
