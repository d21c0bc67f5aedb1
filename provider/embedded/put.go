package embedded

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// documentVersion is the version of the rules by which a document is indexed:
// a document with another one is indexed anew when it is put again.
const documentVersion = schemaorg.TextVersion<<16 | analysisVersion

// change is a document to be stored.
type change struct {
	result *provider.PutResult
	doc    provider.Document
	hash   []byte

	// What prepare adds.
	key   int64
	types string
	text  []byte
	terms terms
}

// Put stores documents in one transaction: after an error none of them is
// stored. It returns once they are on disk and found by searches. Documents
// that are there already cost no write.
func (s *Store) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := provider.CheckBatch(docs); err != nil {
		return nil, err
	}
	results, changes := plan(docs)
	inParallel(len(changes), func(i int) { changes[i].hash = contentHash(changes[i].doc) })

	var seen int64
	if len(changes) > 0 {
		err = s.files.read(ctx, func(tx *session) error {
			c, err := s.sites.load(ctx, tx)
			if err != nil {
				return err
			}
			seen = c.generation
			changes, err = s.dropUnchanged(ctx, tx, c, changes)
			return err
		})
		if err != nil {
			return nil, failure(ctx, "put", err)
		}
	}
	if len(changes) == 0 {
		return results, nil
	}
	inParallel(len(changes), func(i int) {
		if ctx.Err() != nil {
			return
		}
		a := s.analysers.Get().(*analyser)
		defer s.analysers.Put(a)
		changes[i].prepare(a)
	})
	err = s.files.write(ctx, func(tx *session) error { return s.store(ctx, tx, seen, changes) })
	if err != nil {
		return nil, failure(ctx, "put", err)
	}
	return results, nil
}

// plan checks each document and finds those that are to be stored: the last
// valid one of each identity.
func plan(docs []provider.Document) ([]provider.PutResult, []*change) {
	type identity struct{ site, url string }
	results := make([]provider.PutResult, len(docs))
	last := make(map[identity]*change, len(docs))
	changes := make([]*change, 0, len(docs))
	for i, d := range docs {
		r := &results[i]
		r.URL = d.URL
		checked, err := d.Check(fmt.Sprintf("documents[%d]", i))
		if err != nil {
			r.Outcome, r.Err = provider.Failed, err
			if site, err := provider.CheckSite("", d.Site); err == nil {
				r.Site = site
			}
			continue
		}
		r.Site, r.Outcome = checked.Site, provider.Stored
		c := &change{result: r, doc: checked}
		id := identity{checked.Site, checked.URL}
		if before := last[id]; before != nil {
			before.result.Outcome = provider.Superseded
		}
		last[id] = c
		changes = append(changes, c)
	}
	changes = slices.DeleteFunc(changes, func(c *change) bool { return c.result.Outcome == provider.Superseded })
	// By site, and within a site in the order of the index on (site, url),
	// of which a batch then touches few pages.
	slices.SortFunc(changes, func(a, b *change) int {
		if c := strings.Compare(a.doc.Site, b.doc.Site); c != 0 {
			return c
		}
		return strings.Compare(a.doc.URL, b.doc.URL)
	})
	return results, changes
}

func contentHash(d provider.Document) []byte {
	b, err := hex.DecodeString(d.Hash())
	if err != nil {
		return []byte(d.Hash())
	}
	return b
}

// prepare does for a document all that needs no transaction.
func (c *change) prepare(a *analyser) {
	d := schemaorg.Fill(c.doc)
	c.doc = d
	c.key = urlKey(d.URL)
	if len(d.Types) > 0 {
		types, _ := json.Marshal(d.Types) // strings always are
		c.types = string(types)
	}
	c.text = packText(d.Schema, d.Text)
	c.terms = a.document(d.Name, d.Text, d.Language)
}

// urlKey is where Get looks a URL up: by its normal form, of which the exact
// form is one spelling. It begins with a hash of the host, so that documents of
// one host are neighbours in the index.
func urlKey(url string) int64 {
	normal := provider.NormalURL(url)
	host := normal
	if _, rest, ok := strings.Cut(normal, "://"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	h, whole := fnv.New32a(), fnv.New32a()
	h.Write([]byte(host))
	whole.Write([]byte(normal))
	return int64(uint64(h.Sum32())<<32 | uint64(whole.Sum32()))
}

// storedRow is what the store has under the identity of a document.
type storedRow struct {
	id      int64
	version int64
	hash    []byte
}

// storedRows returns what a site has under the URLs of changes, by URL.
func storedRows(ctx context.Context, tx *session, site int64, changes []*change) (map[string]storedRow, error) {
	urls := make([]string, len(changes))
	for i, c := range changes {
		urls[i] = c.doc.URL
	}
	list, err := json.Marshal(urls)
	if err != nil {
		return nil, err
	}
	found := make(map[string]storedRow)
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var url string
		var r storedRow
		if err := rows.Scan(&url, &r.id, &r.version, &r.hash); err != nil {
			return err
		}
		found[url] = r
		return nil
	}, "SELECT d.url, d.id, d.version, d.hash FROM json_each(?) AS j CROSS JOIN document AS d ON d.site = ? AND d.url = j.value",
		string(list), site)
	return found, err
}

// dropUnchanged returns the changes that are any, and gives the others their
// outcome.
func (s *Store) dropUnchanged(ctx context.Context, tx *session, c *catalogue, changes []*change) ([]*change, error) {
	var kept []*change
	err := bySite(changes, func(name string, group []*change) error {
		site, ok := c.site(name)
		if !ok {
			kept = append(kept, group...)
			return nil
		}
		stored, err := storedRows(ctx, tx, site.id, group)
		if err != nil {
			return err
		}
		for _, ch := range group {
			if ch.isStored(stored) {
				ch.result.Outcome = provider.Unchanged
			} else {
				kept = append(kept, ch)
			}
		}
		return nil
	})
	return kept, err
}

func (c *change) isStored(stored map[string]storedRow) bool {
	r, ok := stored[c.doc.URL]
	return ok && r.version == documentVersion && string(r.hash) == string(c.hash)
}

// store writes changes, of which none was stored at the generation seen.
func (s *Store) store(ctx context.Context, tx *session, seen int64, changes []*change) error {
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return err
	}
	if c.generation != seen {
		if changes, err = s.dropUnchanged(ctx, tx, c, changes); err != nil || len(changes) == 0 {
			return err
		}
	}
	w, err := newWrite(ctx, tx, s, c)
	if err != nil {
		return err
	}
	err = bySite(changes, func(name string, group []*change) error {
		site, ok := c.site(name)
		stored := map[string]storedRow{}
		if ok {
			stored, err = storedRows(ctx, tx, site.id, group)
		} else {
			site, err = w.addSite(name)
		}
		if err != nil {
			return err
		}
		return w.put(site, stored, group)
	})
	if err != nil {
		return err
	}
	return w.finish(false)
}

// bySite calls do for each site of changes, which are sorted by it.
func bySite(changes []*change, do func(site string, group []*change) error) error {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].doc.Site == changes[0].doc.Site {
			n++
		}
		if err := do(changes[0].doc.Site, changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// inParallel calls do for 0 to n-1, on as many processors as there are.
func inParallel(n int, do func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	group.Wait()
}
