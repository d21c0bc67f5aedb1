package ingest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider/providertest"
)

// data returns the path of a file of the data that is kept beside the
// repository, and skips the test where it is not there.
func data(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("SITEPROVIDER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		t.Skipf("needs test data that is not part of the repository: set SITEPROVIDER_DATA to the directory that holds %s", name)
	}
	return p
}

func TestARelevanceSetIsIngestedWholeAndThenUnchanged(t *testing.T) {
	path := data(t, "ir/esci-sample/schema.jsonl.gz")
	m := providertest.NewMemory()
	store, sent := countPuts(m)
	first := mustRun(t, Options{Store: store, Sources: []string{path}})
	require.Equal(t, [2]int{6764, 6764}, [2]int{first.Read, first.Stored})
	*sent = 0
	again := mustRun(t, Options{Store: store, Sources: []string{path}})
	require.Equal(t, [2]int{6764, 6764}, [2]int{again.Read, again.Unchanged})
	require.Zero(t, *sent)
}

func TestRealPagesAreIngestedTheSameInEveryOrder(t *testing.T) {
	if os.Getenv("SITEPROVIDER_LONG") != "1" {
		t.Skip("reads 2,707 pages several times; set SITEPROVIDER_LONG=1")
	}
	dir := t.TempDir()
	sources := pages(t, data(t, "real_jsonld.jsonl.gz"), dir)

	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{dir}})
	t.Logf("%d pages: %d documents, skipped %v, %d failed, %d repaired, %d notices",
		len(sources), r.Stored, r.SkippedBy, r.Failed, r.Repairs, len(r.Notices)+r.NoticesOmitted)
	require.Greater(t, r.Stored, len(sources))
	before := stored(t, m)

	for i, j := 0, len(sources)-1; i < j; i, j = i+1, j-1 {
		sources[i], sources[j] = sources[j], sources[i]
	}
	again := mustRun(t, Options{Store: m, Sources: sources})
	require.Equal(t, r.Stored, again.Unchanged)
	require.Zero(t, again.Stored)
	require.Equal(t, before, stored(t, m))
}

// pages writes the pages of a collection into dir, each its scripts and its
// address as its canonical link, and returns their paths.
func pages(t *testing.T, collection, dir string) []string {
	t.Helper()
	f, err := os.Open(collection)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	var paths []string
	for lines.Scan() {
		var page struct {
			PageURL string `json:"page_url"`
			JSONLD  []string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &page))
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html>\n<link rel=canonical href=%q>\n", page.PageURL)
		for _, s := range page.JSONLD {
			fmt.Fprintf(&b, "<script type=\"application/ld+json\">%s</script>\n", s)
		}
		p := filepath.Join(dir, fmt.Sprintf("%04d.html", len(paths)))
		require.NoError(t, os.WriteFile(p, []byte(b.String()), 0o600))
		paths = append(paths, p)
	}
	require.NoError(t, lines.Err())
	return paths
}
