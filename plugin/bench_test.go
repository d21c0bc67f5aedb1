package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// shelf answers every search with the same 50 objects of 2 KB, at once, so
// that what a benchmark sees is the way and not the work.
type shelf struct {
	provider.Provider
	result *provider.Result
}

func openShelf(context.Context, []byte) (provider.Provider, error) {
	s := shelf{result: &provider.Result{ScoreKind: provider.ScoreBM25}}
	for i := range 50 {
		schema := fmt.Appendf(nil, `{"@type":"Recipe","name":"Walnut bread %d","description":"`, i)
		schema = append(schema, bytes.Repeat([]byte("x"), 2<<10-len(schema)-2)...)
		s.result.Hits = append(s.result.Hits, provider.Hit{
			URL: fmt.Sprintf("https://recipes.example/walnut-bread-%d", i), Site: "recipes.example",
			Name: fmt.Sprintf("Walnut bread %d", i), Types: []string{"Recipe"}, Schema: append(schema, `"}`...),
			Passage: "Bread with walnuts, baked slowly.",
		})
	}
	return s, nil
}

func (s shelf) Search(context.Context, provider.Query) (*provider.Result, error) {
	return s.result, nil
}
func (s shelf) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "shelf", Version: "1.0", Backend: "shelf", Documents: 50}, nil
}
func (s shelf) Close() error { return nil }

// BenchmarkPluginOverhead makes each call directly and through a plugin, one
// after the other, so that both meet the same machine, and reports the median
// of what the plugin adds.
func BenchmarkPluginOverhead(b *testing.B) {
	direct, err := openShelf(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	p, err := plugin.Open(b.Context(), kind("shelf"))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	q := provider.Query{Text: "walnut bread", Scope: provider.InSites("recipes.example")}
	timed := func(p provider.Provider) time.Duration {
		start := time.Now()
		res, err := p.Search(b.Context(), q)
		took := time.Since(start)
		if err != nil || len(res.Hits) != 50 || len(res.Hits[49].Schema) != 2<<10 {
			b.Fatalf("%v, want 50 hits of 2 KB", err)
		}
		return took
	}
	var added, through []time.Duration
	for b.Loop() {
		d, t := timed(direct), timed(p)
		added, through = append(added, t-d), append(through, t)
	}
	slices.Sort(added)
	slices.Sort(through)
	b.ReportMetric(float64(added[len(added)/2].Microseconds()), "added-µs-p50")
	b.ReportMetric(float64(added[len(added)*99/100].Microseconds()), "added-µs-p99")
	b.ReportMetric(float64(through[len(through)/2].Microseconds()), "plugin-µs-p50")
}

// BenchmarkStart measures a start, a first answer and an orderly end.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := plugin.Open(b.Context(), kind("shelf"))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Search(b.Context(), provider.Query{Text: "walnut", Scope: provider.AllSites()}); err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}
