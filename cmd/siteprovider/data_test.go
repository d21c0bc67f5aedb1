package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// dataFile returns the path of a file of third-party test data.
func dataFile(t *testing.T, name ...string) string {
	t.Helper()
	dir := os.Getenv("SITEPROVIDER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path, err := filepath.Abs(filepath.Join(append([]string{dir}, name...)...))
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there; name the directory of the test data in SITEPROVIDER_DATA", path)
	}
	return path
}

// The products of a relevance set go in once, and a second time nothing is
// written. The times are logged, not asserted: other work may share the machine.
func TestASiteOfProductsIsIngestedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("ingests 6,764 documents twice; leave out -short")
	}
	const products = 6764
	file := dataFile(t, "ir", "esci-sample", "schema.jsonl.gz")
	dir := t.TempDir()
	for _, outcome := range []string{"stored", "unchanged"} {
		start := time.Now()
		o := must(t, dir, "", "ingest", "--json", file)
		t.Logf("%s: %v", outcome, time.Since(start))
		require.Empty(t, o.stderr)
		require.Equal(t, int64(products), gjson.Get(o.stdout, "read").Int(), o.stdout)
		require.Equal(t, int64(products), gjson.Get(o.stdout, outcome).Int(), o.stdout)
	}
	o := must(t, dir, "", "sites", "--json")
	require.Equal(t, `{"sites":[{"site":"esci-sample.example","documents":6764}]}`+"\n", o.stdout)
}
