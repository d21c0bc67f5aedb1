package embedded

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

func TestASearchHoldsNoMoreObjectsThanItsReply(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 160 MiB; runs without -short")
	}
	const documents = 160
	s := open(t, Options{})
	schemas := make(map[string][]byte)
	var docs []provider.Document
	filler := strings.Repeat("a", 1<<20)
	for i := range documents {
		url := fmt.Sprintf("https://a.example/%03d", i)
		schema := fmt.Appendf(nil, `{"@type":"Thing","n":%d,"x":"%s"}`, i, filler[:len(filler)-i*1000])
		if i < 10 {
			schemas[url] = schema
		}
		docs = append(docs, provider.Document{Site: "a.example", URL: url, Name: "tea", Text: "tea", Schema: schema})
		if len(docs) == 10 {
			put(t, s, docs...)
			docs = nil
		}
	}
	for _, q := range []provider.Query{
		{Text: "tea", Scope: provider.AllSites(), Limit: documents},
		{Text: "tea", Scope: provider.AllSites(), Limit: documents, Filter: provider.Filter{{Path: "n", Op: provider.GreaterEqual, Value: 0.0}}},
	} {
		var result *provider.Result
		peak := peakHeap(func() {
			var err error
			if result, err = s.Search(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		})
		if peak > 120<<20 {
			t.Errorf("a search held up to %d MiB, want under 120", peak>>20)
		}
		if len(result.Hits) != documents || len(result.Statuses) != 1 {
			t.Fatalf("%d hits, statuses %+v; want %d and one status", len(result.Hits), result.Statuses, documents)
		}
		total := 0
		for i, h := range result.Hits {
			total += len(h.Schema)
			if want, ok := schemas[h.URL]; ok && !bytes.Equal(h.Schema, want) {
				t.Errorf("hit %d, %s, has %d bytes, want its object of %d", i, h.URL, len(h.Schema), len(want))
			}
		}
		if total > provider.MaxReplyBytes || total < provider.MaxReplyBytes-1<<20 {
			t.Errorf("%d bytes of objects, want nearly %d", total, provider.MaxReplyBytes)
		}
	}
}

// peakHeap returns how much more of the heap was in use, at most, while do ran.
func peakHeap(do func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	before, peak := heap(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	do()
	close(stop)
	<-done
	return peak - min(peak, before)
}
