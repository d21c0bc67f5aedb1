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
	row    int64 // its row, once that is written
	// damaged is set where the row that is indexed anew is not as it was
	// written, which its new checksum must go on saying.
	damaged bool

	// What prepare adds.
	key    int64
	types  string
	text   []byte
	object []byte // as it is stored
	terms  terms
}

// siteChange is the documents to be stored on one site, in the order of their
// URLs, and the body of their segment.
type siteChange struct {
	site string
	docs []*change
	body []byte
}

// prepared is changes with all that needs no transaction.
type prepared struct {
	shop  *workshop
	sites []siteChange
	built chan struct{} // closed once the sites have their bodies
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

// prepareAndStore stores changes, of which none was stored in the state seen.
func (s *Store) prepareAndStore(ctx context.Context, seen state, changes []*change) error {
	p, err := s.prepare(ctx, changes)
	if err != nil {
		return err
	}
	defer func() { <-p.built }() // nothing of a call goes on when it is over
	sub := &submission{changes: changes, documents: len(changes)}
	for _, c := range changes {
		sub.bytes += c.doc.Size()
	}
	sub.apply = func(w *write) error {
		if w.before.state == seen {
			return w.put(p)
		}
		// Somebody else wrote meanwhile, perhaps the same.
		left, err := dropUnchanged(w.ctx, w.tx, w.before, changes)
		if err != nil {
			return err
		}
		return w.put(p.only(left))
	}
	return s.submit(ctx, sub)
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

// prepare does for changes all that needs no transaction. The bodies may still
// be being built when it returns: the rows are written meanwhile.
func (s *Store) prepare(ctx context.Context, changes []*change) (*prepared, error) {
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &prepared{shop, bySite(changes), make(chan struct{})}
	go p.build()
	return p, nil
}

// only returns p without the changes that are not in left.
func (p *prepared) only(left []*change) *prepared {
	<-p.built
	n := 0
	for _, g := range p.sites {
		n += len(g.docs)
	}
	if len(left) == n {
		return p
	}
	fewer := &prepared{p.shop, bySite(left), make(chan struct{})}
	fewer.build()
	return fewer
}

func (p *prepared) build() {
	inParallel(len(p.sites), func(i int) { p.sites[i].build(p.shop) })
	close(p.built)
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
	if c.object == nil {
		c.object = packObject(d.Schema)
	}
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

// storedRows returns what the store has under the identity of each change; its
// id is 0 where it has nothing.
func storedRows(ctx context.Context, tx *session, c *catalogue, changes []*change) ([]storedRow, error) {
	found := make([]storedRow, len(changes))
	var identities [][2]any
	var at []int
	for i, ch := range changes {
		if site, ok := c.site(ch.doc.Site); ok {
			identities, at = append(identities, [2]any{site.id, ch.doc.URL}), append(at, i)
		}
	}
	if len(identities) == 0 {
		return found, nil
	}
	list, err := json.Marshal(identities)
	if err != nil {
		return nil, err
	}
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var i int
		var r storedRow
		if err := rows.Scan(&i, &r.id, &r.version, &r.hash); err != nil {
			return err
		}
		found[at[i]] = r
		return nil
	}, "SELECT j.key, d.id, d.version, d.hash FROM json_each(?) AS j CROSS JOIN document AS d ON d.site = j.value ->> 0 AND d.url = j.value ->> 1", string(list))
	return found, err
}

// dropUnchanged returns the changes that are any, with the rows that they
// replace, and gives each its outcome.
func dropUnchanged(ctx context.Context, tx *session, c *catalogue, changes []*change) ([]*change, error) {
	stored, err := storedRows(ctx, tx, c, changes)
	if err != nil {
		return nil, err
	}
	var kept []*change
	for i, ch := range changes {
		if old := stored[i]; old.version == documentVersion && bytes.Equal(old.hash, ch.hash) {
			ch.result.Outcome = provider.Unchanged
			continue
		}
		ch.result.Outcome, ch.old = provider.Stored, stored[i].id
		kept = append(kept, ch)
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
