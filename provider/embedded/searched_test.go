package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// A cache that holds next to nothing makes searches slower, and changes none of
// their hits.
func TestASmallCacheFindsWhatALargeOneFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	large := open(t, Options{})
	dir := strings.TrimSuffix(large.path, FileName)
	small := open(t, Options{Dir: dir, CacheBytes: 1})
	some := open(t, Options{Dir: dir, CacheBytes: 30 << 10})
	var sites []string
	for i := range 12 {
		sites = append(sites, fmt.Sprintf("%02d.example", i))
	}
	for range 8 {
		var docs []provider.Document
		for range 100 {
			d := doc(sites[random.IntN(1+random.IntN(len(sites)))], fmt.Sprintf("https://x.example/%03d", random.IntN(300)), someText(random, random.IntN(4)), someText(random, 1+random.IntN(40)))
			d.Schema = fmt.Appendf(nil, `{"@type":"Product","n":%d}`, random.IntN(10))
			docs = append(docs, d)
		}
		put(t, large, docs...)
		for range 5 {
			q := provider.Query{Text: someText(random, 1+random.IntN(3)), Scope: provider.AllSites(), Limit: 1 + random.IntN(80)}
			if random.IntN(3) == 0 {
				q.Scope = provider.InSites(sites[random.IntN(12)], sites[random.IntN(12)])
			}
			if random.IntN(3) == 0 {
				q.Filter = provider.Filter{{Path: "n", Op: provider.Equal, Value: random.IntN(10)}}
			}
			want, err := large.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range map[string]*Store{"1 byte": small, "30 KiB": some} {
				got, err := s.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v with a cache of %s: %d hits %s, want %d: %s", q, name, len(got.Hits), urlsOf(got), len(want.Hits), urlsOf(want))
				}
				if s.indexes.bytes > s.indexes.limit {
					t.Errorf("the cache of %s holds %d bytes", name, s.indexes.bytes)
				}
			}
		}
	}
}

func urlsOf(r *provider.Result) (list []string) {
	for _, h := range r.Hits {
		list = append(list, h.Site+" "+h.URL)
	}
	return list
}

// What a search holds of an index that is larger than the cache is what the cache
// holds, and one segment.
func TestASearchOfMoreThanTheCacheHoldsOneSegmentBesideIt(t *testing.T) {
	s := open(t, Options{CacheBytes: 3 << 10})
	for site := range 10 {
		var docs []provider.Document
		for i := range 10 * (1 + site%3) {
			docs = append(docs, doc(fmt.Sprintf("%d.example", site), fmt.Sprintf("https://a.example/%d", i), "tea", fmt.Sprintf("w%d w%d green tea", i, i*i)))
		}
		put(t, s, docs...)
	}
	err := s.files.read(t.Context(), func(tx *session) error {
		c, err := s.sites.load(t.Context(), tx)
		if err != nil {
			return err
		}
		x, err := s.searched(t.Context(), tx, c.sites)
		if err != nil {
			return err
		}
		held, streamed, largest := int64(0), 0, int64(0)
		for i, index := range x.indexes {
			if index != nil {
				held += index.bytes
				continue
			}
			streamed++
			for _, r := range x.streamed[i].rows {
				largest = max(largest, r.bytes)
			}
		}
		if held == 0 || streamed < 3 {
			t.Fatalf("%d bytes are held and %d sites streamed; want some of either", held, streamed)
		}
		if held > 3<<10 || s.indexes.bytes > 3<<10 {
			t.Errorf("%d bytes are held, %d in the cache; want at most %d", held, s.indexes.bytes, 3<<10)
		}
		before := cap(x.memory)
		for range 3 {
			seen := int64(0)
			if err := x.each(t.Context(), func(p *rankedPart) error { seen += p.statistics().documents; return nil }); err != nil {
				return err
			}
			if seen != 190 || x.stats.documents != 190 {
				t.Errorf("%d documents are gone through, and %d counted; want 190", seen, x.stats.documents)
			}
		}
		if cap(x.memory) != before || int64(before) > 2*largest {
			t.Errorf("%d, then %d bytes are held beside the cache; want those of a segment, at most %d", before, cap(x.memory), largest)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASiteIsLoadedOnceForAllWhoAskMeanwhile(t *testing.T) {
	c := newIndexCache(1 << 20)
	site := siteRow{id: 7, generation: 3}
	own, _ := c.begin(site)
	if !own {
		t.Fatal("the first is not to load it")
	}
	own, done := c.begin(site)
	if own {
		t.Fatal("the second is to load it as well")
	}
	if own, _ := c.begin(siteRow{id: 7, generation: 4}); !own {
		t.Error("another state of the site is not to be loaded")
	}
	select {
	case <-done:
		t.Fatal("it is said to be loaded before it is")
	default:
	}
	c.end(site)
	<-done
	if own, _ := c.begin(site); !own {
		t.Error("who asks when it was loaded, and dropped, is not to load it")
	}
}

func TestManyWhoSearchANewlyOpenedStoreFindTheSame(t *testing.T) {
	s := open(t, Options{})
	var want []string
	for i := range 30 {
		site := fmt.Sprintf("%02d.example", i)
		put(t, s, doc(site, "https://x.example/", "", "tea"))
		want = append(want, site)
	}
	s.Close()
	s = open(t, Options{Dir: strings.TrimSuffix(s.path, FileName)})
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			scope := provider.AllSites()
			if n%2 == 1 {
				scope = provider.InSites(want...)
			}
			res, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: scope})
			if err != nil {
				t.Error(err)
				return
			}
			var got []string
			for _, h := range res.Hits {
				got = append(got, h.Site)
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
	group.Wait()
	if len(s.indexes.loads) != 0 || len(s.indexes.sites) != 30 {
		t.Errorf("%d sites are in the cache and %d are being loaded; want 30 and none", len(s.indexes.sites), len(s.indexes.loads))
	}
}

// Reading and writing do not wait for one another, so that the cache may have a
// newer index of a site than a search that is still under way can use.
func TestASearchOfAnOlderStateThanTheCacheHasEndsAndSeesItsOwn(t *testing.T) {
	s := open(t, Options{})
	put(t, s, doc("a.example", "https://a.example/1", "", "tea"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := s.files.read(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		put(t, s, doc("a.example", "https://a.example/2", "", "tea"))
		wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1", "https://a.example/2")
		x, err := s.searched(ctx, tx, c.sites)
		if err == nil && x.stats.documents != 1 {
			t.Errorf("it sees %d documents, want 1", x.stats.documents)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1", "https://a.example/2")
}
