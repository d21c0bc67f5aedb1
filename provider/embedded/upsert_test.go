package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

// BenchmarkUpsertBesideSearch replaces single documents while a searcher does
// one search after another. Its slices of time with no upserts, with 500 a
// second, with those of one caller that does not rest and with those of four
// take turns, so that what else the machine does falls on all of them alike.
// One iteration is one slice of each.
func BenchmarkUpsertBesideSearch(b *testing.B) {
	docs := upsertDocuments(b)
	queries := benchQueries(docs)
	s := benchStore(b, b.TempDir(), docs)
	defer s.Close()
	for _, scope := range []struct {
		name string
		of   func(q benchQuery) provider.Scope
	}{
		{"OneSite", func(q benchQuery) provider.Scope { return provider.InSites(q.site) }},
		{"AllSites", func(benchQuery) provider.Scope { return provider.AllSites() }},
	} {
		b.Run(scope.name, func(b *testing.B) {
			u := &upserts{b: b, store: s, docs: docs, search: func(i int) error {
				q := queries[i%len(queries)]
				_, err := s.Search(b.Context(), provider.Query{Text: q.text, Scope: scope.of(q)})
				return err
			}}
			var alone, paced, one, four upsertSlice
			u.run(&upsertSlice{}, 0, 0) // loads the index
			for b.Loop() {
				u.run(&alone, 0, 0)
				u.run(&paced, 1, time.Second/500)
				u.run(&one, 1, 0)
				u.run(&four, 4, 0)
			}
			b.ReportMetric(milliseconds(alone.at(50)), "alone-p50-ms")
			b.ReportMetric(milliseconds(alone.at(95)), "alone-p95-ms")
			for _, beside := range []struct {
				name string
				*upsertSlice
			}{{"500", &paced}, {"1caller", &one}, {"4callers", &four}} {
				b.ReportMetric(beside.rate(), beside.name+"-upserts/s")
				b.ReportMetric(float64(beside.at(50))/float64(alone.at(50)), beside.name+"-p50-ratio")
				b.ReportMetric(float64(beside.at(95))/float64(alone.at(95)), beside.name+"-p95-ratio")
			}
		})
	}
}

// upsertDocuments are DebianDocuments, or made up where there are none.
func upsertDocuments(b *testing.B) []provider.Document {
	if os.Getenv("SITEPROVIDER_DEBIAN_JSONL") != "" {
		return embedded.DebianDocuments(b)
	}
	random := rand.New(rand.NewPCG(5, 6))
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", random.Uint32()>>8)
	}
	text := func(n int) (s string) {
		for range n {
			s += words[random.IntN(1+random.IntN(len(words)))] + " "
		}
		return s
	}
	docs := make([]provider.Document, 20_000)
	for i := range docs {
		site := fmt.Sprintf("%d.example", random.IntN(58))
		docs[i] = provider.Document{Site: site, URL: fmt.Sprintf("https://%s/%d", site, i),
			Schema: fmt.Appendf(nil, `{"@type":"Product","name":%q,"description":%q}`, text(4), text(60))}
	}
	return docs
}

type upserts struct {
	b      *testing.B
	store  *embedded.Store
	docs   []provider.Document
	search func(i int) error
	edits  atomic.Int64
	tries  int
}

// upsertSlice is what was measured while a number of callers replaced documents.
type upsertSlice struct {
	searches []time.Duration
	upserts  int64
	took     time.Duration
}

func (u *upserts) run(slice *upsertSlice, callers int, every time.Duration) {
	begin, before := time.Now(), u.edits.Load()
	end := begin.Add(500 * time.Millisecond)
	var group sync.WaitGroup
	for caller := range callers {
		random := rand.New(rand.NewPCG(uint64(before), uint64(caller)))
		group.Go(func() {
			for next := begin; time.Now().Before(end); next = next.Add(every) {
				time.Sleep(time.Until(next))
				d := u.docs[random.IntN(len(u.docs))]
				d.Name = fmt.Sprint("edition ", u.edits.Add(1))
				if _, err := u.store.Put(u.b.Context(), []provider.Document{d}); err != nil {
					u.b.Error(err)
					return
				}
			}
		})
	}
	for now := begin; now.Before(end); {
		if err := u.search(u.tries); err != nil {
			u.b.Fatal(err)
		}
		u.tries++
		after := time.Now()
		slice.searches = append(slice.searches, after.Sub(now))
		now = after
	}
	group.Wait()
	slice.upserts += u.edits.Load() - before
	slice.took += time.Since(begin)
}

func (s *upsertSlice) at(percent int) time.Duration {
	slices.Sort(s.searches)
	return s.searches[len(s.searches)*percent/100]
}

func (s *upsertSlice) rate() float64 { return float64(s.upserts) / s.took.Seconds() }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
