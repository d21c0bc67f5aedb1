package embedded_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

func benchStore(b *testing.B, dir string, docs []provider.Document) *embedded.Store {
	b.Helper()
	s, err := embedded.Open(b.Context(), embedded.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for batch := range slices.Chunk(docs, provider.MaxBatchDocuments) {
		if _, err := s.Put(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkPut stores all documents in a new store, a thousand at a time.
func BenchmarkPut(b *testing.B) {
	docs := embedded.DebianDocuments(b)
	size := 0
	for _, d := range docs {
		size += d.Size()
	}
	var file int64
	for b.Loop() {
		dir := b.TempDir()
		if err := benchStore(b, dir, docs).Close(); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, embedded.FileName))
		if err != nil {
			b.Fatal(err)
		}
		file = info.Size()
	}
	b.ReportMetric(float64(len(docs)*b.N)/b.Elapsed().Seconds(), "docs/s")
	b.ReportMetric(float64(file)/float64(size), "disk/raw")
}

// BenchmarkPutAgain stores documents that are there already, unchanged.
func BenchmarkPutAgain(b *testing.B) {
	docs := embedded.DebianDocuments(b)
	s := benchStore(b, b.TempDir(), docs)
	defer s.Close()
	for b.Loop() {
		for batch := range slices.Chunk(docs, provider.MaxBatchDocuments) {
			if _, err := s.Put(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(docs)*b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkPutOne replaces single documents, each in a transaction of its own.
func BenchmarkPutOne(b *testing.B) {
	docs := embedded.DebianDocuments(b)
	s := benchStore(b, b.TempDir(), docs)
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for i := 0; b.Loop(); i++ {
		d := docs[random.IntN(len(docs))]
		d.Name = "edition " + time.Duration(i).String()
		if _, err := s.Put(b.Context(), []provider.Document{d}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch asks for the 50 best hits with their objects, when the index is
// in memory.
func BenchmarkSearch(b *testing.B) {
	docs := embedded.DebianDocuments(b)
	dir := b.TempDir()
	s := benchStore(b, dir, docs)
	defer func() { s.Close() }()
	queries := benchQueries(docs)
	search := func(b *testing.B, scope func(i int) provider.Scope) {
		var times []time.Duration
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			q := queries[i%len(queries)]
			res, err := s.Search(b.Context(), provider.Query{Text: q.text, Scope: scope(i)})
			if err != nil {
				b.Fatal(err)
			}
			if len(res.Hits) == 0 {
				b.Fatalf("no hit for %q", q.text)
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
	}
	own := func(i int) provider.Scope { return provider.InSites(queries[i%len(queries)].site) }
	five := func(i int) provider.Scope { return provider.InSites(fiveSites(queries, i)...) }
	all := func(int) provider.Scope { return provider.AllSites() }
	for i := range queries { // load the index
		if _, err := s.Search(b.Context(), provider.Query{Text: queries[i].text, Scope: all(i)}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("OneSite", func(b *testing.B) { search(b, own) })
	b.Run("FiveSites", func(b *testing.B) { search(b, five) })
	b.Run("AllSites", func(b *testing.B) { search(b, all) })
}

// BenchmarkFirstSearch opens a store and searches its largest site.
func BenchmarkFirstSearch(b *testing.B) {
	docs := embedded.DebianDocuments(b)
	dir := b.TempDir()
	if err := benchStore(b, dir, docs).Close(); err != nil {
		b.Fatal(err)
	}
	count := make(map[string]int)
	largest := docs[0].Site
	for _, d := range docs {
		if count[d.Site]++; count[d.Site] > count[largest] {
			largest = d.Site
		}
	}
	for b.Loop() {
		s, err := embedded.Open(b.Context(), embedded.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Search(b.Context(), provider.Query{Text: "text editor", Scope: provider.InSites(largest)}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

type benchQuery struct{ text, site string }

// fiveSites returns the site of query i and those of the queries after it, until
// there are five.
func fiveSites(queries []benchQuery, i int) []string {
	var sites []string
	for k := 0; k < len(queries) && len(sites) < 5; k++ {
		if site := queries[(i+k)%len(queries)].site; !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	return sites
}

// benchQueries makes 500 queries of two to five words out of documents, each
// with the site of its document.
func benchQueries(docs []provider.Document) []benchQuery {
	random := rand.New(rand.NewPCG(3, 4))
	var list []benchQuery
	for len(list) < 500 {
		d := docs[random.IntN(len(docs))]
		var object struct{ Name, Description string }
		if json.Unmarshal(d.Schema, &object) != nil {
			continue
		}
		words := strings.Fields(object.Name + " " + object.Description)
		if len(words) < 5 {
			continue
		}
		var text []string
		for range 2 + random.IntN(4) {
			text = append(text, words[random.IntN(len(words))])
		}
		list = append(list, benchQuery{strings.Join(text, " "), d.Site})
	}
	return list
}
