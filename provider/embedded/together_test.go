package embedded

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// crowdTime is how long a crowd is at it.
func crowdTime() time.Duration {
	if long() {
		return time.Minute
	}
	return time.Second
}

const crowdBatch = 200

// Two processes put, replace and delete while two others search: a search that
// begins after a call was answered sees what that call did.
func TestFourProcessesSeeWhatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	c := newCrowd(t, open(t, Options{Dir: dir, calm: keeperCalm}))
	var searchers, ingesters []*process
	for i := range 2 {
		p := start(t, crowdDir, dir)
		_ = p.tell("search %d", i)
		searchers = append(searchers, p)
	}
	for i := range 2 {
		p := start(t, crowdDir, dir)
		_ = p.tell("ingest %d %d %v", i, crowdBatch, crowdTime())
		ingesters = append(ingesters, p)
	}
	var group sync.WaitGroup
	for _, p := range ingesters {
		group.Go(func() {
			for line := range p.said {
				if c.say(line) {
					for _, s := range searchers {
						_ = s.tell("%s", line)
					}
				}
			}
			if err := p.wait(); err != nil {
				t.Errorf("an ingester: %v", err)
			}
		})
	}
	group.Wait()
	for _, p := range searchers {
		p.in.Close()
		var r crowdReport
		line, ok := <-p.said
		if err := p.wait(); err != nil || !ok || json.Unmarshal([]byte(line), &r) != nil {
			t.Errorf("a searcher: %v: %s", err, line)
		}
		c.report(r)
	}
	c.end()
}

// The same inside one process, which the race detector can look at.
func TestGoroutinesSeeWhatWasAcknowledged(t *testing.T) {
	t.Run("one store", func(t *testing.T) {
		s := open(t, Options{calm: keeperCalm})
		inOneProcess(t, s, s, s, s, s)
	})
	t.Run("four stores of one file", func(t *testing.T) {
		dir := t.TempDir()
		var list []*Store
		for range 5 {
			list = append(list, open(t, Options{Dir: dir, calm: keeperCalm}))
		}
		inOneProcess(t, list[0], list[1:]...)
	})
}

// inOneProcess has two of the stores searched while two are written to.
func inOneProcess(t *testing.T, s *Store, of ...*Store) {
	c := newCrowd(t, s)
	var writing, searching sync.WaitGroup
	all := []*heard{new(heard), new(heard)}
	for i, h := range all {
		searching.Go(func() {
			r, err := searchInCrowd(of[2+i], h, uint64(i))
			if err != nil {
				t.Errorf("a searcher: %v", err)
			}
			c.report(r)
		})
	}
	for i := range 2 {
		writing.Go(func() {
			err := ingestIntoCrowd(of[i], i, crowdBatch, time.Now().Add(crowdTime()), func(line string) {
				if c.say(line) {
					for _, h := range all {
						h.line(line)
					}
				}
			})
			if err != nil {
				t.Errorf("an ingester: %v", err)
			}
		})
	}
	writing.Wait()
	for _, h := range all {
		h.mu.Lock()
		h.end = true
		h.mu.Unlock()
	}
	searching.Wait()
	c.end()
}

// crowd keeps the books of two ingesters and two searchers.
type crowd struct {
	t         *testing.T
	store     *Store
	mu        sync.Mutex
	heard     heard
	deadlines int
	searches  int
}

func newCrowd(t *testing.T, s *Store) *crowd { return &crowd{t: t, store: s} }

// say takes a line of an ingester, and reports whether it is for the searchers.
func (c *crowd) say(line string) bool {
	n := 0
	if _, err := fmt.Sscanf(line, "end %d", &n); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.deadlines += n
		return false
	}
	c.heard.line(line)
	return true
}

func (c *crowd) report(r crowdReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.searches += r.Searches
	c.deadlines += r.Deadlines
	c.t.Logf("a searcher: %d searches, %d stale (oldest %v), p50 %v, p95 %v, max %v", r.Searches, r.Stale, r.Oldest, r.P50, r.P95, r.Max)
	if r.Stale > 0 {
		c.t.Errorf("%d searches did not see what had been acknowledged before, the oldest for %v, such as %s", r.Stale, r.Oldest, r.What)
	}
	if r.Searches == 0 {
		c.t.Error("a searcher did not search")
	}
	if r.Deadlines > 0 {
		c.t.Errorf("%d searches took longer than %v", r.Deadlines, crowdPatience)
	}
}

// end looks for every document that any ingester had an answer for.
func (c *crowd) end() {
	c.t.Helper()
	bySite := make(map[string][]int)
	there := int64(0)
	for _, id := range c.heard.ids {
		site := crowdDocument(id, 1).Site
		bySite[site] = append(bySite[site], id)
		if fate(id) > 0 {
			there++
		}
	}
	for site, ids := range bySite {
		for some := range slices.Chunk(ids, 1000) {
			var urls []string
			for _, id := range some {
				urls = append(urls, crowdDocument(id, 1).URL)
			}
			objects, err := c.store.Get(c.t.Context(), provider.Lookup{URLs: urls, Scope: provider.InSites(site)})
			if err != nil {
				c.t.Fatal(err)
			}
			for i, o := range objects {
				want := ""
				if v := fate(some[i]); v > 0 {
					want = string(crowdDocument(some[i], v).Schema)
				}
				if string(o.Schema) != want {
					c.t.Fatalf("document %d is %.60q in the end, want %.60q", some[i], o.Schema, want)
				}
			}
		}
	}
	if r := checked(c.t, c.store); r.Documents != there || there == 0 {
		c.t.Errorf("%d documents in the end, want %d", r.Documents, there)
	}
	c.t.Logf("%d documents put, %d of them left; %d searches; %d calls met their deadline", len(c.heard.ids), there, c.searches, c.deadlines)
}
