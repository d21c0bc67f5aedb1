package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// crowdPatience is how long one call of a crowd may take.
const crowdPatience = 20 * time.Second

// crowdDocument is a version of a document that an ingester of a crowd puts.
func crowdDocument(id, version int) provider.Document {
	return provider.Document{
		Site: fmt.Sprintf("crowd%d.example", id%5), URL: fmt.Sprintf("https://x.example/%d", id), Name: fmt.Sprintf("Number%d", id),
		Text:   fmt.Sprintf("everyone number%d %s", id, strings.Join(someWords[id%20:id%20+id%13], " ")),
		Schema: fmt.Appendf(nil, `{"@type":"Thing","id":%d,"version":%d,"x":"%s"}`, id, version, strings.Repeat("x", id*37%1500)),
	}
}

// fate is what becomes of a document in the end: its first version stays, or a
// second one, or it is deleted.
func fate(id int) (version int) {
	switch id % 10 {
	case 3:
		return 2
	case 7:
		return 0
	}
	return 1
}

// patiently makes a call until it does not run into its deadline, and counts
// how often it did.
func patiently(deadlines *int, call func(context.Context) error) error {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), crowdPatience)
		err := call(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		*deadlines++
	}
}

// ingestIntoCrowd puts documents for a while, as fast as it can, and says the
// number of each, in a line with others, once its fate is acknowledged. It ends
// with "end" and the number of calls that met their deadline.
func ingestIntoCrowd(s *Store, who, batch int, until time.Time, say func(string)) error {
	deadlines := 0
	defer func() { say(fmt.Sprint("end ", deadlines)) }()
	store := func(docs []provider.Document) error {
		return patiently(&deadlines, func(ctx context.Context) error {
			results, err := s.Put(ctx, docs)
			for _, r := range results {
				err = errors.Join(err, r.Err)
			}
			return err
		})
	}
	for next := who * 10_000_000; time.Now().Before(until); next += batch {
		var all, second []provider.Document
		ids := make(map[int][]int) // by fate
		gone := make(map[string][]string)
		for id := next; id < next+batch; id++ {
			d := crowdDocument(id, 1)
			all = append(all, d)
			ids[fate(id)] = append(ids[fate(id)], id)
			switch fate(id) {
			case 2:
				second = append(second, crowdDocument(id, 2))
			case 0:
				gone[d.Site] = append(gone[d.Site], d.URL)
			}
		}
		if err := store(all); err != nil {
			return err
		}
		say(numbers(ids[1]))
		if err := store(second); err != nil {
			return err
		}
		say(numbers(ids[2]))
		for site, urls := range gone {
			err := patiently(&deadlines, func(ctx context.Context) error {
				_, err := s.Delete(ctx, provider.Selector{Site: site, URLs: urls})
				return err
			})
			if err != nil {
				return err
			}
		}
		say(numbers(ids[0]))
	}
	return nil
}

// crowdReport is what a searcher has seen.
type crowdReport struct {
	Searches, Deadlines int
	Stale               int           // answers that were not what had been acknowledged before the search
	Oldest              time.Duration // the longest time until such a one was right
	What                string        // such a one
	P50, P95, Max       time.Duration
}

// heard are the documents whose fate has been acknowledged.
type heard struct {
	mu  sync.Mutex
	ids []int
	end bool
}

func (h *heard) line(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, word := range strings.Fields(line) {
		var id int
		fmt.Sscan(word, &id)
		h.ids = append(h.ids, id)
	}
}

// one returns one of the last that were heard of, or any; -1 at the end.
func (h *heard) one(random *rand.Rand) (id int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.ids)
	switch {
	case h.end:
		return -1, false
	case n == 0:
		return 0, false
	case random.IntN(2) == 0:
		return h.ids[n-1-random.IntN(min(n, 20))], true
	}
	return h.ids[random.IntN(n)], true
}

// searchInCrowd looks for what is heard of until the end of that.
func searchInCrowd(s *Store, h *heard, seed uint64) (r crowdReport, err error) {
	random := rand.New(rand.NewPCG(seed, 3))
	var times []time.Duration
	for {
		id, ok := h.one(random)
		if id < 0 {
			break
		}
		if !ok {
			time.Sleep(time.Millisecond)
			continue
		}
		if random.IntN(20) == 0 {
			if err := searchForMany(s, random, &r.Deadlines); err != nil {
				return r, err
			}
		}
		began := time.Now()
		for first := true; ; first = false {
			got := 0
			begin := time.Now()
			err := patiently(&r.Deadlines, func(ctx context.Context) (err error) {
				got, err = crowdVersion(ctx, s, id, random.IntN(3) == 0)
				return err
			})
			if err != nil {
				return r, err
			}
			r.Searches++
			times = append(times, time.Since(begin))
			if got == fate(id) {
				if !first {
					r.Oldest = max(r.Oldest, time.Since(began))
				}
				break
			}
			if first {
				r.Stale++
				r.What = fmt.Sprintf("document %d: version %d, want %d", id, got, fate(id))
			}
			if time.Since(began) > crowdPatience {
				return r, fmt.Errorf("%s, for %v", r.What, time.Since(began))
			}
		}
	}
	slices.Sort(times)
	if n := len(times); n > 0 {
		r.P50, r.P95, r.Max = times[n/2], times[n*95/100], times[n-1]
	}
	return r, nil
}

// crowdVersion is the version of a document that a search finds; 0: none.
func crowdVersion(ctx context.Context, s *Store, id int, everywhere bool) (version int, err error) {
	d := crowdDocument(id, 1)
	q := provider.Query{Text: fmt.Sprintf("number%d", id), Scope: provider.InSites(d.Site)}
	if everywhere {
		q.Scope = provider.AllSites()
	}
	res, err := s.Search(ctx, q)
	if err != nil || len(res.Hits) == 0 {
		return 0, err
	}
	var object struct{ ID, Version int }
	if err := json.Unmarshal(res.Hits[0].Schema, &object); err != nil || object.ID != id || len(res.Hits) > 1 || res.Hits[0].URL != d.URL {
		return 0, fmt.Errorf("a search for %s finds %d documents, the first of them %s: %.60s", q.Text, len(res.Hits), res.Hits[0].URL, res.Hits[0].Schema)
	}
	return object.Version, nil
}

// searchForMany searches for what many documents have, and wants no hit that
// nobody has put.
func searchForMany(s *Store, random *rand.Rand, deadlines *int) error {
	var res *provider.Result
	err := patiently(deadlines, func(ctx context.Context) (err error) {
		res, err = s.Search(ctx, provider.Query{Text: someText(random, 3), Scope: provider.AllSites()})
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range res.Hits {
		var object struct{ ID, Version int }
		if err := json.Unmarshal(h.Schema, &object); err != nil {
			return err
		}
		d := crowdDocument(object.ID, object.Version)
		if h.Site != d.Site || h.URL != d.URL || h.Name != d.Name || string(h.Schema) != string(d.Schema) {
			return fmt.Errorf("a hit is %s of %s, %s, which nobody has put", h.URL, h.Site, h.Name)
		}
	}
	return nil
}

// joinCrowd reads "ingest WHO BATCH DURATION" or "search SEED" and does that. A
// searcher hears on its further lines what an ingester says, and ends with a
// line that has its report.
func joinCrowd(dir string) error {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	var role, duration string
	var seed, batch int
	fmt.Sscan(lines.Text(), &role, &seed, &batch, &duration)
	if role == "ingest" {
		d, err := time.ParseDuration(duration)
		if err != nil {
			return err
		}
		if err := ingestIntoCrowd(s, seed, batch, time.Now().Add(d), func(line string) { fmt.Println(line) }); err != nil {
			return err
		}
		return s.Close()
	}
	h := new(heard)
	go func() {
		for lines.Scan() {
			h.line(lines.Text())
		}
		h.mu.Lock()
		h.end = true
		h.mu.Unlock()
	}()
	r, err := searchInCrowd(s, h, uint64(seed))
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	return s.Close()
}
