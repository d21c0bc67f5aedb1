package embedded

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
				k := &killTrial{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, uint64(n))), state: make(deedState), done: make(map[string]int), cut: make(map[string]int)}
				for i := n; i < kills; {
					these := []string{modes[(i/stores+n)%len(modes)]}
					if k.random.IntN(3) == 0 {
						these = append(these, modes[k.random.IntN(len(modes))])
					}
					k.round(these...)
					mu.Lock()
					for _, mode := range these {
						killed[mode]++
						i += stores
					}
					mu.Unlock()
				}
				mu.Lock()
				defer mu.Unlock()
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
	version int            // the next that nobody has used
	done    map[string]int // acknowledged deeds
	cut     map[string]int // deeds that a kill interrupted, and what was kept of them
}

// round starts processes of these modes, kills them at a random moment, and
// looks what there is.
func (k *killTrial) round(modes ...string) {
	k.t.Helper()
	var beside *Store
	if k.random.IntN(2) == 0 { // a process that has the file open meanwhile keeps its log
		beside = k.open()
		defer beside.Close()
		k.search(beside)
	}
	var list []*process
	for who, mode := range modes {
		p := start(k.t, deedsDir, k.dir)
		if err := p.tell("%s %d %d %d", mode, k.random.Uint64(), who, k.version); err != nil {
			k.t.Fatal(err)
		}
		list = append(list, p)
	}
	said := make([][]string, len(list))
	if k.random.IntN(4) > 0 { // else it may be killed while it starts
		for i, p := range list {
			for line := range p.said {
				if said[i] = append(said[i], line); line == "done" {
					break
				}
			}
		}
	}
	time.Sleep(time.Duration(k.random.IntN(50_000)) * time.Microsecond)
	for _, p := range list {
		_ = p.Process.Kill()
	}
	var open []deed
	for i, p := range list {
		said[i] = append(said[i], p.kill()...)
		if p.complaints.Len() > 0 {
			k.t.Fatalf("%s says: %s", modes[i], p.complaints.String())
		}
		if d, ok := k.account(said[i]); ok {
			open = append(open, d)
		}
	}
	k.look(open, beside)
}

// account takes what a process said into the state. It returns the deed that
// was not done, if there is one.
func (k *killTrial) account(said []string) (open deed, ok bool) {
	for _, line := range said {
		if line == "done" {
			k.state = k.state.after(open)
			k.done[open.what]++
			ok = false
			continue
		}
		open, ok = parseDeed(line), true
		k.version = max(k.version, open.version+1)
	}
	return open, ok
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
	for _, site := range []string{"shared.example", "own0.example", "own1.example"} {
		var urls []string
		var ids []int
		for id := range 2 * deedRange {
			if deedSite(id) == site {
				urls, ids = append(urls, deedURL(id)), append(ids, id)
			}
		}
		objects, err := s.Get(k.t.Context(), provider.Lookup{URLs: urls, Scope: provider.InSites(site)})
		if err != nil {
			k.t.Fatalf("get after a kill: %v", err)
		}
		for i, o := range objects {
			if o.Found {
				id, version := versionOf(k.t, o.Schema)
				if id != ids[i] {
					k.t.Fatalf("get of document %d gives document %d", ids[i], id)
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
