package embedded

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
)

// siteRow is a site that holds documents.
type siteRow struct {
	store      storeFile
	id         int64
	name       string
	documents  int64
	generation int64 // of the store, when the site was last changed
	version    int64 // documentVersion of all of its documents; see schema
}

// catalogue is the sites of one generation of the store. It never changes.
type catalogue struct {
	storeRow
	sites []siteRow      // by name
	sum   int64          // of the sums of sites
	at    map[string]int // name -> place in sites
}

// state tells a state of a store from every other state of any store.
type state struct {
	store      storeFile
	generation int64
}

func (c *catalogue) site(name string) (siteRow, bool) {
	i, ok := c.at[name]
	if !ok {
		return siteRow{}, false
	}
	return c.sites[i], true
}

// catalogueCache keeps the newest catalogue that was read.
type catalogueCache struct {
	newest atomic.Pointer[catalogue]
}

// load returns the catalogue of the state that the transaction of s sees.
func (c *catalogueCache) load(ctx context.Context, s *session) (*catalogue, error) {
	own, err := readStoreRow(ctx, s)
	if err != nil {
		return nil, err
	}
	known := c.newest.Load()
	if known != nil && known.storeRow == own {
		return known, nil
	}
	if own.version > StoreVersion {
		return nil, newerVersion("the store was changed while it was open: it now", own.version)
	}
	newer := known == nil || known.store != own.store || known.generation < own.generation
	var fresh *catalogue
	if known != nil && newer && known.store == own.store && own.dropped <= known.generation {
		fresh, err = own.readSites(ctx, s, known)
	}
	// Where the index on generations has lost something, the table decides.
	if err == nil && (fresh == nil || !fresh.complete()) {
		fresh, err = own.readSites(ctx, s, nil)
	}
	if err != nil {
		return nil, err
	}
	if n := int64(len(fresh.sites)); n < own.count {
		return nil, damagedList{damaged("the store has %d sites, and only %d of them can be read", own.count, n)}
	}
	if !fresh.complete() {
		return nil, damagedList{damaged("the list of sites is not as it was written (wrong checksum)")}
	}
	if newer {
		c.newest.CompareAndSwap(known, fresh)
	}
	return fresh, nil
}

// storeRow is the one row of the table store.
type storeRow struct {
	state
	dropped int64 // the last generation in which a site went
	count   int64 // of sites
	version int64 // of the layout
	digest  int64
}

func readStoreRow(ctx context.Context, s *session) (own storeRow, err error) {
	var m mark
	err = s.row(ctx, "SELECT mark, dropped, sites, version, digest FROM store").Scan((*[]byte)(&m), &own.dropped, &own.count, &own.version, &own.digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return own, damaged("the store's own row is missing")
	case err != nil:
		return own, err
	case len(m) != markBytes:
		return own, damaged("the store's mark has %d bytes", len(m))
	}
	own.store, own.generation = storeFile{m.id(), s.number}, int64(m.generation())
	return own, nil
}

// complete reports whether c has the sites that its store has, as they are.
func (c *catalogue) complete() bool {
	return int64(len(c.sites)) == c.count && c.sum+c.storeRow.sum() == c.digest
}

// readSites returns the sites: those of known, with what changed since, or all
// of them where known is nil.
func (own storeRow) readSites(ctx context.Context, s *session, known *catalogue) (*catalogue, error) {
	fresh := &catalogue{storeRow: own, at: map[string]int{}}
	query, args := "SELECT id, name, documents, generation, version, crc FROM site NOT INDEXED", []any(nil)
	if known != nil {
		fresh.sites, fresh.at, fresh.sum = slices.Clone(known.sites), maps.Clone(known.at), known.sum
		query, args = "SELECT id, name, documents, generation, version, crc FROM site WHERE generation > ?", []any{known.generation}
	}
	before := len(fresh.sites)
	err := s.each(ctx, func(rows *sql.Rows) error {
		r := siteRow{store: own.store}
		var crc int64
		if err := rows.Scan(&r.id, &r.name, &r.documents, &r.generation, &r.version, &crc); err != nil {
			return err
		}
		if crc != nameChecksum(r.id, r.name) {
			return damaged("site %q: its number or name is not as it was written (wrong checksum)", r.name)
		}
		fresh.sum += r.sum()
		if i, ok := fresh.at[r.name]; ok {
			fresh.sum -= fresh.sites[i].sum()
			fresh.sites[i] = r
			return nil
		}
		fresh.at[r.name] = len(fresh.sites)
		fresh.sites = append(fresh.sites, r)
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	if len(fresh.sites) > before {
		slices.SortFunc(fresh.sites, func(a, b siteRow) int { return strings.Compare(a.name, b.name) })
		for i, r := range fresh.sites {
			fresh.at[r.name] = i
		}
	}
	return fresh, nil
}

// scope returns the sites of a checked scope that hold something, by name, and
// the names of those that hold nothing.
func (c *catalogue) scope(scope provider.Scope) (found []siteRow, unknown []string) {
	if scope.All() {
		return c.sites, nil
	}
	for _, name := range scope.Sites() {
		if r, ok := c.site(name); ok {
			found = append(found, r)
		} else {
			unknown = append(unknown, name)
		}
	}
	slices.SortFunc(found, func(a, b siteRow) int { return strings.Compare(a.name, b.name) })
	return found, unknown
}

// Bounds of the search for the site that a name was meant for.
const (
	maxNearestSites = 5000
	maxNearestRunes = 128
)

// nearest returns the site whose name is least different from name, if any is
// at all alike: up to a third of the letters may differ.
func (c *catalogue) nearest(name string) (string, bool) {
	want := []rune(strings.ToLower(name))
	if len(want) > maxNearestRunes {
		return "", false
	}
	best, found := len(want)/3+1, ""
	for _, r := range c.sites[:min(len(c.sites), maxNearestSites)] {
		if len(r.name) > 4*maxNearestRunes {
			continue
		}
		if d := editDistance(want, []rune(strings.ToLower(r.name)), best); d < best {
			best, found = d, r.name
		}
	}
	return found, found != ""
}

// editDistance returns how many letters must be put in, left out or replaced to
// make b of a; limit where it is that many or more.
func editDistance(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j, rb := range b {
			cost := diagonal
			if ra != rb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= limit {
			return limit
		}
	}
	return min(row[len(b)], limit)
}

// Sites returns every site that holds a document, by name.
func (s *Store) Sites(ctx context.Context) ([]provider.Site, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var c *catalogue
	err = s.mending(ctx, func() error {
		return s.files.read(ctx, func(tx *session) error {
			c, err = s.sites.load(ctx, tx)
			return err
		})
	})
	if err != nil {
		return nil, failure(ctx, "list sites", err)
	}
	sites := make([]provider.Site, len(c.sites))
	for i, r := range c.sites {
		sites[i] = provider.Site{Site: r.name, Documents: r.documents}
	}
	return sites, nil
}
