package embedded

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
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
	old    int64 // the row of the document that it replaces; 0: none

	// What prepare adds.
	key   int64
	types string
	text  []byte
	terms terms
}

// siteChange is the documents to be stored on one site, in the order of their
// URLs, and the body of their segment.
type siteChange struct {
	site string
	docs []*change
	body []byte
}

// workshop is what documents are prepared with. Its tools remember what they
// met, which a sync.Pool would lose at each garbage collection.
type workshop struct {
	lexicon   *lexicon
	analysers chan *analyser
	builders  chan *segmentBuilder
}

func newWorkshop() *workshop {
	n := runtime.GOMAXPROCS(0)
	w := &workshop{newLexicon(), make(chan *analyser, n), make(chan *segmentBuilder, n)}
	for range n {
		w.analysers <- newAnalyser(w.lexicon)
		w.builders <- new(segmentBuilder)
	}
	return w
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
	if len(changes) == 0 {
		return results, nil
	}
	var seen state
	err = s.files.read(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		seen = c.state
		changes, err = dropUnchanged(ctx, tx, c, changes)
		return err
	})
	if err == nil && len(changes) > 0 {
		err = s.mending(ctx, func() error { return s.prepareAndStore(ctx, seen, changes) })
	}
	if err != nil {
		return nil, failure(ctx, "put", err)
	}
	return results, nil
}

// plan checks each document and finds those that are to be stored: the last
// valid one of each identity, sorted by site, then by URL, which is the order of
// the index on them, of which a batch then touches few pages.
func plan(docs []provider.Document) ([]provider.PutResult, []*change) {
	results := make([]provider.PutResult, len(docs))
	checked := make([]*change, len(docs))
	inParallel(len(docs), func(i int) {
		r := &results[i]
		r.URL = docs[i].URL
		d, err := docs[i].Check(fmt.Sprintf("documents[%d]", i))
		if err != nil {
			r.Outcome, r.Err = provider.Failed, err
			r.Site, _ = provider.CheckSite("Site", docs[i].Site)
			return
		}
		r.Site, r.Outcome = d.Site, provider.Stored
		checked[i] = &change{result: r, doc: d, hash: contentHash(d)}
	})
	type identity struct{ site, url string }
	last := make(map[identity]*change, len(docs))
	for _, c := range checked {
		if c == nil {
			continue
		}
		id := identity{c.doc.Site, c.doc.URL}
		if before := last[id]; before != nil {
			before.result.Outcome = provider.Superseded
		}
		last[id] = c
	}
	changes := slices.Collect(maps.Values(last))
	slices.SortFunc(changes, func(a, b *change) int {
		return cmp.Or(strings.Compare(a.doc.Site, b.doc.Site), strings.Compare(a.doc.URL, b.doc.URL))
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

// prepareAndStore stores changes, of which none was stored in the state seen. What needs no transaction is done before it begins.
func (s *Store) prepareAndStore(ctx context.Context, seen state, changes []*change) error {
	shop, sites := s.prepare(ctx, changes)
	return s.files.write(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		if c.state != seen {
			// Somebody else wrote meanwhile, perhaps the same.
			left, err := dropUnchanged(ctx, tx, c, changes)
			if err != nil {
				return err
			}
			if len(left) == 0 {
				return errNothingToDo
			}
			if len(left) < len(changes) {
				sites = bySite(left)
				for i := range sites {
					sites[i].build(shop)
				}
			}
		}
		return s.store(ctx, tx, c, sites)
	})
}

// prepare does for changes all that needs no transaction.
func (s *Store) prepare(ctx context.Context, changes []*change) (*workshop, []siteChange) {
	shop := s.workshop.Load()
	if len(shop.lexicon.terms()) > maxLexicon {
		next := newWorkshop()
		s.workshop.CompareAndSwap(shop, next)
		shop = next
	}
	inParallel(len(changes), func(i int) {
		if ctx.Err() == nil {
			a := <-shop.analysers
			changes[i].prepare(a)
			shop.analysers <- a
		}
	})
	sites := bySite(changes)
	inParallel(len(sites), func(i int) {
		if ctx.Err() == nil {
			sites[i].build(shop)
		}
	})
	return shop, sites
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

// dropUnchanged returns the changes that are any, with the rows that they
// replace, and gives the others their outcome.
func dropUnchanged(ctx context.Context, tx *session, c *catalogue, changes []*change) ([]*change, error) {
	var kept []*change
	for _, g := range bySite(changes) {
		var stored map[string]storedRow
		if site, ok := c.site(g.site); ok {
			var err error
			if stored, err = storedRows(ctx, tx, site.id, g.docs); err != nil {
				return nil, err
			}
		}
		for _, ch := range g.docs {
			old := stored[ch.doc.URL]
			if old.version == documentVersion && bytes.Equal(old.hash, ch.hash) {
				ch.result.Outcome = provider.Unchanged
				continue
			}
			ch.old = old.id
			kept = append(kept, ch)
		}
	}
	return kept, nil
}

// build builds the segment of the documents.
func (g *siteChange) build(shop *workshop) {
	docs := make([]indexed, len(g.docs))
	for i, c := range g.docs {
		docs[i] = indexed{c.doc.URL, c.terms}
	}
	b := <-shop.builders
	g.body = b.build(shop.lexicon.terms(), docs)
	shop.builders <- b
}

// store writes the documents of sites.
func (s *Store) store(ctx context.Context, tx *session, c *catalogue, sites []siteChange) error {
	w := newWrite(ctx, tx, s, c)
	list := make([]*reindexing, len(sites))
	for i, g := range sites {
		site, ok := c.site(g.site)
		if !ok {
			var err error
			if site, err = w.addSite(g.site); err != nil {
				return err
			}
		}
		var err error
		if list[i], err = w.put(site, g); err != nil {
			return err
		}
	}
	if err := w.reindex(list...); err != nil {
		return err
	}
	return w.finish(false)
}

// bySite returns changes, which are sorted by site, site by site.
func bySite(changes []*change) []siteChange {
	var list []siteChange
	for _, c := range changes {
		if n := len(list); n == 0 || list[n-1].site != c.doc.Site {
			list = append(list, siteChange{site: c.doc.Site})
		}
		g := &list[len(list)-1]
		g.docs = append(g.docs, c)
	}
	return list
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
