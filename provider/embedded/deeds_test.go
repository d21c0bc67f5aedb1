package embedded

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// deed is one call that changes a store, as a line says it:
// "put VERSION ID...", "delete ID...", "drop SITE" or "tidy HOW".
type deed struct {
	what    string
	how     string // how to tidy, or the site to drop
	version int
	ids     []int
}

func (d deed) String() string {
	switch d.what {
	case "put":
		return fmt.Sprintf("put %d %s", d.version, numbers(d.ids))
	case "delete":
		return "delete " + numbers(d.ids)
	}
	return d.what + " " + d.how
}

func numbers(ids []int) string { return strings.Trim(fmt.Sprint(ids), "[]") }

func parseDeed(line string) (d deed) {
	var rest string
	d.what, rest, _ = strings.Cut(line, " ")
	switch d.what {
	case "put":
		fmt.Sscan(rest, &d.version)
		_, rest, _ = strings.Cut(rest, " ")
		fallthrough
	case "delete":
		for _, word := range strings.Fields(rest) {
			var id int
			fmt.Sscan(word, &id)
			d.ids = append(d.ids, id)
		}
	default:
		d.how = rest
	}
	return d
}

// deedRange is how many documents each of the callers has for itself.
const (
	deedRange = 80
	callers   = 4
)

// deedSite is the site of a document. Every third one is on a site that all
// callers write to.
func deedSite(id int) string {
	if id%3 == 0 {
		return "shared.example"
	}
	return fmt.Sprintf("own%d.example", id/deedRange)
}

func deedURL(id int) string { return fmt.Sprintf("https://x.example/%d", id) }

// deedDocument is a version of a document. One in twenty has an object of
// several pages.
func deedDocument(id, version int) provider.Document {
	random := rand.New(rand.NewPCG(uint64(id), uint64(version)))
	filler := random.IntN(2000)
	if random.IntN(20) == 0 {
		filler = random.IntN(100_000)
	}
	return provider.Document{
		Site: deedSite(id), URL: deedURL(id), Name: fmt.Sprintf("number%d", id),
		Text:   fmt.Sprintf("everything number%d version%d %s", id, version, strings.Repeat("many ", random.IntN(60))),
		Schema: fmt.Appendf(nil, `{"@type":"Thing","id":%d,"version":%d,"x":"%s"}`, id, version, strings.Repeat("x", filler)),
	}
}

// deedModes are what a caller does until its process is killed, by how often it
// does each deed.
var deedModes = map[string][]string{
	"ingest":  {"put", "put", "put", "put one"},
	"merge":   {"put one", "put one", "put one", "put one", "put one", "put", "tidy merge"},
	"delete":  {"put", "put", "delete", "delete", "drop"},
	"compact": {"put", "put one", "delete", "tidy compact"},
	"reindex": {"put", "put one", "delete", "tidy reindex"},
}

// nextDeed makes up a deed of a caller.
func nextDeed(random *rand.Rand, mode string, who, version int) deed {
	kinds := deedModes[mode]
	what, how, _ := strings.Cut(kinds[random.IntN(len(kinds))], " ")
	d := deed{what: what, how: how, version: version}
	if what == "drop" {
		d.how = fmt.Sprintf("own%d.example", who)
	}
	n := 1
	if how == "" {
		n += random.IntN(40)
	}
	for _, i := range random.Perm(deedRange)[:n] {
		id := who*deedRange + i
		if what != "delete" || len(d.ids) == 0 || deedSite(id) == deedSite(d.ids[0]) { // a deletion is of one site
			d.ids = append(d.ids, id)
		}
	}
	return d
}

// doDeeds reads how many callers there are, and for each "CALLER MODE SEED
// VERSION". All use one store. Each says what it is going to do, and "done" after
// that, in lines that begin with its number. The store tidies up at every
// opportunity.
func doDeeds(dir string) error {
	s, err := Open(context.Background(), Options{Dir: dir, calm: time.Millisecond})
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Scan(&n); err != nil {
		return err
	}
	failed := make(chan error)
	for range n {
		var caller, version int
		var mode string
		var seed uint64
		if _, err := fmt.Scan(&caller, &mode, &seed, &version); err != nil {
			return err
		}
		go func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for ; ; version++ {
				d := nextDeed(random, mode, caller, version)
				fmt.Println(caller, d)
				if err := d.do(s); err != nil {
					failed <- fmt.Errorf("%s: %w", d, err)
					return
				}
				fmt.Println(caller, "done")
			}
		}()
	}
	return <-failed
}

func (d deed) do(s *Store) error {
	ctx := context.Background()
	switch d.what {
	case "put":
		var docs []provider.Document
		for _, id := range d.ids {
			docs = append(docs, deedDocument(id, d.version))
		}
		results, err := s.Put(ctx, docs)
		for _, r := range results {
			if r.Outcome != provider.Stored {
				return fmt.Errorf("%s is %v, %v", r.URL, r.Outcome, r.Err)
			}
		}
		return err
	case "delete":
		sel := provider.Selector{Site: deedSite(d.ids[0])}
		for _, id := range d.ids {
			sel.URLs = append(sel.URLs, deedURL(id))
		}
		_, err := s.Delete(ctx, sel)
		return err
	case "drop":
		_, err := s.Delete(ctx, provider.Selector{Site: d.how, WholeSite: true})
		return err
	}
	return tidy(s, d.how)
}

func tidy(s *Store, how string) (err error) {
	ctx := context.Background()
	switch how {
	case "merge":
		_, err = s.mergeAll(ctx)
	case "compact":
		_, err = s.Compact(ctx)
	case "reindex":
		_, err = s.Reindex(ctx, ReindexOptions{All: true})
	}
	return err
}

// deedState is which version of each document has to be in a store. A document
// that is not in it must not be there.
type deedState map[int]int

// after returns the state after d.
func (s deedState) after(d deed) deedState {
	next := maps.Clone(s)
	switch d.what {
	case "put":
		for _, id := range d.ids {
			next[id] = d.version
		}
	case "delete":
		for _, id := range d.ids {
			delete(next, id)
		}
	case "drop":
		maps.DeleteFunc(next, func(id, _ int) bool { return deedSite(id) == d.how })
	}
	return next
}

// has reports whether got is what d leaves of the documents that it is about,
// and not what was there before.
func (s deedState) has(got deedState, d deed) bool {
	after := s.after(d)
	changed := false
	for _, state := range []deedState{s, after} {
		for id := range state {
			if s[id] == after[id] {
				continue
			}
			changed = true
			if got[id] != after[id] {
				return false
			}
		}
	}
	return changed
}

func difference(got, want deedState) string {
	var b strings.Builder
	for id := range callers * deedRange {
		if got[id] != want[id] {
			fmt.Fprintf(&b, " document %d has version %d, want %d;", id, got[id], want[id])
		}
	}
	return b.String()
}

// versionOf reads what deedDocument wrote, of which every byte must be there.
func versionOf(t *testing.T, schema []byte) (id, version int) {
	t.Helper()
	if _, err := fmt.Sscanf(string(schema), `{"@type":"Thing","id":%d,"version":%d,`, &id, &version); err != nil {
		t.Fatalf("an object begins with %.60s: %v", schema, err)
	}
	if want := deedDocument(id, version).Schema; !bytes.Equal(schema, want) {
		t.Fatalf("document %d has %d bytes that are not the %d of its version %d", id, len(schema), len(want), version)
	}
	return id, version
}
