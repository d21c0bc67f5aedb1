package ingest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRun measures everything but the store, on wrapped products of about
// 1.8 KB each.
func BenchmarkRun(b *testing.B) {
	path := data(b, "ir/esci-sample/schema.jsonl.gz")
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		r, err := Run(b.Context(), Options{Store: forgetful{}, Sources: []string{path}})
		require.NoError(b, err)
		require.Equal(b, 6764, r.Stored)
	}
	b.ReportMetric(float64(6764*b.N)/b.Elapsed().Seconds(), "documents/s")
}

// BenchmarkLines measures what a line costs beside the reading of its object.
func BenchmarkLines(b *testing.B) {
	text := lines(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Run(b.Context(), Options{Store: forgetful{}, Sources: []string{"-"}, Stdin: strings.NewReader(text)})
		require.NoError(b, err)
		require.Equal(b, 10_000, r.Stored)
	}
	b.ReportMetric(float64(10_000*b.N)/b.Elapsed().Seconds(), "documents/s")
}
