package embedded

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// What a process was told is stored survives that process, however it ends;
// what it was told is deleted stays deleted; and a call that was not answered
// was done wholly or not at all.
func TestKilledProcessesLoseNothingThatWasAcknowledged(t *testing.T) {
	kills := 20
	switch {
	case long():
		kills = 1000
	case testing.Short():
		kills = 10
	}
	const stores = 4
	modes := slices.Sorted(maps.Keys(deedModes))
	var mu sync.Mutex
	killed, done, cut := make(map[string]int), make(map[string]int), make(map[string]int)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var group sync.WaitGroup
	for n := range stores {
		group.Go(func() {
			t.Run(fmt.Sprint("store", n), func(t *testing.T) {
				k := &killTrial{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, uint64(n))), state: make(deedState), version: 1}
				k.killed, k.done, k.cut = make(map[string]int), make(map[string]int), make(map[string]int)
				for i := n; i < kills; i += stores {
					these := []string{modes[(i/stores+n)%len(modes)]}
					for len(these) < callers && k.random.IntN(3) == 0 {
						these = append(these, modes[k.random.IntN(len(modes))])
					}
					k.round(these...)
					k.killed[these[0]]++
					if len(these) > 1 {
						k.killed["beside others"]++
					}
				}
				mu.Lock()
				defer mu.Unlock()
				add(killed, k.killed)
				add(done, k.done)
				add(cut, k.cut)
			})
		})
	}
	group.Wait()
	if done["put"] == 0 {
		t.Error("no document was acknowledged: nothing was tried")
	}
	t.Logf("killed during %v", killed)
	t.Logf("acknowledged %v; cut short %v", done, cut)
}

// killTrial is a store whose writers are killed again and again.
type killTrial struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	state   deedState
	version int            // the next that nobody has used; the first is 1
	killed  map[string]int // by mode
	done    map[string]int // acknowledged deeds
	cut     map[string]int // deeds that a kill interrupted, and what was kept of them
}

// round starts callers with these modes, in one process or several, kills them
// at a random moment, and looks what there is.
func (k *killTrial) round(modes ...string) {
	k.t.Helper()
	var beside *Store
	if k.random.IntN(2) == 0 { // a process that has the file open meanwhile keeps its log
		beside = k.open()
		defer beside.Close()
		k.search(beside)
	}
	var list []*process
	for caller := 0; caller < len(modes); {
		p := start(k.t, deedsDir, k.dir)
		list = append(list, p)
		n := 1 + k.random.IntN(len(modes)-caller)
		_ = p.tell("%d", n)
		for range n {
			if err := p.tell("%d %s %d %d", caller, modes[caller], k.random.Uint64(), k.version); err != nil {
				k.t.Fatal(err)
			}
			caller++
		}
	}
	var said []string
	if k.random.IntN(4) > 0 { // else it may be killed while it starts
		for _, p := range list {
			for line := range p.said {
				if said = append(said, line); strings.HasSuffix(line, "done") {
					break
				}
			}
		}
	}
	time.Sleep(time.Duration(k.random.IntN(50_000)) * time.Microsecond)
	for _, p := range list {
		_ = p.Process.Kill()
	}
	for _, p := range list {
		said = append(said, p.kill()...)
		if p.complaints.Len() > 0 {
			k.t.Fatalf("one of %v says: %s", modes, p.complaints.String())
		}
	}
	k.look(k.account(said), beside)
}

// account takes what callers said into the state. It returns the deeds that were
// not done.
func (k *killTrial) account(said []string) (open []deed) {
	doing := make(map[string]deed)
	for _, line := range said {
		caller, what, _ := strings.Cut(line, " ")
		if what == "done" {
			k.state = k.state.after(doing[caller])
			k.done[doing[caller].what]++
			delete(doing, caller)
			continue
		}
		d := parseDeed(what)
		doing[caller] = d
		k.version = max(k.version, d.version+1)
	}
	return slices.Collect(maps.Values(doing))
}

func (k *killTrial) open() *Store {
	k.t.Helper()
	s, err := Open(k.t.Context(), Options{Dir: k.dir})
	if err != nil {
		k.t.Fatalf("open after a kill: %v", err)
	}
	return s
}

// look compares the store with the state, in which each of the open deeds may
// have been done or not.
func (k *killTrial) look(open []deed, beside *Store) {
	k.t.Helper()
	s := k.open()
	defer s.Close()
	got := k.documents(s)
	for _, d := range open {
		kept := "lost"
		if k.state.has(got, d) {
			k.state, kept = k.state.after(d), "kept"
		}
		if d.what == "tidy" {
			kept = d.how
		}
		k.cut[d.what+" "+kept]++
	}
	if !maps.Equal(got, k.state) {
		k.t.Fatalf("after a kill during %v:%s", open, difference(got, k.state))
	}
	for _, s := range []*Store{s, beside} {
		if s != nil {
			k.search(s)
		}
	}
	r, err := s.Check(k.t.Context(), nil)
	if err != nil || r.Found != 0 || r.Documents != int64(len(got)) {
		k.t.Fatalf("check after a kill during %v: %+v, %v; want %d documents and no problem", open, r, err, len(got))
	}
}

// documents looks up all there could be, and wants the bytes that were put.
func (k *killTrial) documents(s *Store) deedState {
	k.t.Helper()
	got := make(deedState)
	urls, ids := make(map[string][]string), make(map[string][]int)
	for id := range callers * deedRange {
		site := deedSite(id)
		urls[site], ids[site] = append(urls[site], deedURL(id)), append(ids[site], id)
	}
	for site, urls := range urls {
		objects, err := s.Get(k.t.Context(), provider.Lookup{URLs: urls, Scope: provider.InSites(site)})
		if err != nil {
			k.t.Fatalf("get after a kill: %v", err)
		}
		for i, o := range objects {
			if o.Found {
				id, version := versionOf(k.t, o.Schema)
				if id != ids[site][i] {
					k.t.Fatalf("get of document %d gives document %d", ids[site][i], id)
				}
				got[id] = version
			}
		}
	}
	return got
}

// search wants the documents of the state, and no others, from a search.
func (k *killTrial) search(s *Store) {
	k.t.Helper()
	res, err := s.Search(k.t.Context(), provider.Query{Text: "everything", Scope: provider.AllSites(), Limit: provider.MaxLimit})
	if err != nil {
		k.t.Fatalf("search after a kill: %v", err)
	}
	got := make(deedState)
	for _, h := range res.Hits {
		id, version := versionOf(k.t, h.Schema)
		got[id] = version
	}
	if !maps.Equal(got, k.state) || len(got) != len(res.Hits) {
		k.t.Fatalf("a search after a kill has %d hits, want %d:%s", len(res.Hits), len(k.state), difference(got, k.state))
	}
}

func add(sums, counts map[string]int) {
	for what, n := range counts {
		sums[what] += n
	}
}
