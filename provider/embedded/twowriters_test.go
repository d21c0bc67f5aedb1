package embedded

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Two processes write to the same sites. While they do, every search sees one
// of the states that their calls leave, never an earlier one than the search
// before; and whenever both have been answered, the documents of both rank as
// the formula says.
func TestTwoProcessesWriteAndAllRanksByTheFormula(t *testing.T) {
	want := 700
	switch {
	case long():
		want = 100_000
	case testing.Short():
		want = 200
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := newTwoWriters(t, seed)
	for w.operations < want {
		w.round()
		if t.Failed() {
			t.Fatalf("after %d rounds and %d operations", w.rounds, w.operations)
		}
	}
	checked(t, w.stores[0])
	t.Logf("%d operations in %d rounds: %d calls here, %d there; %d searches between, %d rankings compared; %d documents left",
		w.operations, w.rounds, w.here, w.elsewhere, w.searches, w.rankings, len(union(w.mine, w.others)))
}

type twoWriters struct {
	t            *testing.T
	dir          string
	random       *rand.Rand
	stores       []*Store
	other        *process
	mine, others *script

	operations, rounds, here, elsewhere, searches, rankings int
}

func newTwoWriters(t *testing.T, seed uint64) *twoWriters {
	w := &twoWriters{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 2)), mine: newScript("erstling"), others: newScript("zweitwerk")}
	// One of them tidies up at every opportunity, and one can keep no index in
	// memory.
	w.stores = []*Store{open(t, Options{Dir: w.dir}), open(t, Options{Dir: w.dir, calm: time.Millisecond}), open(t, Options{Dir: w.dir, CacheBytes: 1 << 10})}
	w.other = start(t, scriptDir, w.dir)
	w.ask("%s", w.others.word)
	w.answered()
	return w
}

func (w *twoWriters) ask(format string, args ...any) {
	w.t.Helper()
	if err := w.other.tell(format, args...); err != nil {
		w.t.Fatalf("the other process does not listen: %v; %v", err, w.other.wait())
	}
}

func (w *twoWriters) answered() {
	w.t.Helper()
	if _, ok := <-w.other.said; !ok {
		w.t.Fatalf("the other process has ended: %v", w.other.wait())
	}
}

func (w *twoWriters) store() *Store { return w.stores[w.random.IntN(len(w.stores))] }

func (w *twoWriters) round() {
	w.t.Helper()
	w.rounds++
	theirs, here := w.random.IntN(12), w.random.IntN(12)
	seed := w.random.Uint64()
	w.others.seed(seed)
	states := []map[string]bool{w.others.versions()}
	w.ask("round %d %d", seed, theirs)
	for range theirs {
		w.operations += w.others.next().operations
		states = append(states, w.others.versions())
	}
	at := 0
	w.mine.seed(w.random.Uint64())
	for range here {
		st := w.mine.next()
		if err := st.do(w.t.Context(), w.store()); err != nil {
			w.t.Fatalf("%d documents, selector %+v, %s: %v", len(st.docs), st.sel, st.tidy, err)
		}
		w.operations += st.operations
		w.look(w.mine.word, w.mine.versions())
		at += w.look(w.others.word, states[at:]...)
	}
	w.answered()
	w.here += here
	w.elsewhere += theirs
	w.look(w.others.word, states[len(states)-1])

	if w.random.IntN(10) == 0 { // a site of both goes
		site := scriptSites[w.random.IntN(len(scriptSites))]
		want := w.mine.drop(site) + w.others.drop(site)
		if n, err := w.store().Delete(w.t.Context(), provider.Selector{Site: site, WholeSite: true}); err != nil || n != want {
			w.t.Fatalf("deleted %d documents of a site, %v; want %d", n, err, want)
		}
		w.ask("drop %s", site)
		w.answered()
		w.operations++
	}
	if w.random.IntN(5) == 0 {
		w.stores[0].Close()
		w.stores[0] = open(w.t, Options{Dir: w.dir})
	}
	for range 1 + w.random.IntN(2) {
		checkRanking(w.t, w.random, w.store(), union(w.mine, w.others), sitesOf(w.random, w.mine, w.others))
		w.checkScores()
		w.rankings += 4
		w.operations += 4
	}
}

// checkScores compares the scores of all documents that are found with those of
// the formula.
func (w *twoWriters) checkScores() {
	w.t.Helper()
	docs := slices.Collect(maps.Values(union(w.mine, w.others)))
	query := someText(w.random, 1+w.random.IntN(4))
	_, scores := plainRanking(docs, query)
	s, ctx := w.store(), w.t.Context()
	got := make(map[string]float64)
	err := s.files.read(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		sites, _ := c.scope(provider.AllSites())
		x, err := s.searched(ctx, tx, sites)
		if err != nil {
			return err
		}
		list, err := x.rank(ctx, new(scratch), want(newStemmer(), queryWords(query), x.stats), len(docs), nil)
		for _, c := range list {
			got[string(c.part.url(c.doc, nil))+" "+c.part.site.name] = float64(c.score) / scoreUnit
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for key, score := range scores {
		if math.Abs(got[key]-score) > 1e-6*score {
			w.t.Fatalf("%q: %s has the score %.9f, want %.9f", query, key, got[key], score)
		}
	}
	if len(got) != len(scores) {
		w.t.Fatalf("%q: %d documents have a score, want %d", query, len(got), len(scores))
	}
}

// look searches for the word that all documents of one writer have, and returns
// which of the states it finds.
func (w *twoWriters) look(word string, states ...map[string]bool) int {
	w.t.Helper()
	res, err := w.store().Search(w.t.Context(), provider.Query{Text: word, Scope: provider.AllSites(), Limit: provider.MaxLimit})
	if err != nil {
		w.t.Fatal(err)
	}
	w.searches++
	w.operations++
	got := make(map[string]bool)
	for _, h := range res.Hits {
		got[h.Site+" "+h.URL+" "+string(h.Schema)] = true
	}
	if len(got) != len(res.Hits) {
		w.t.Fatalf("%d hits are %d documents", len(res.Hits), len(got))
	}
	for i, state := range states {
		if maps.Equal(got, state) {
			return i
		}
	}
	w.t.Fatalf("a search for %s gives %d documents, which is none of the %d states there could be; the first has %d", word, len(got), len(states), len(states[0]))
	return 0
}
