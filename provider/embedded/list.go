package embedded

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"sort"

	"github.com/siteprovider/siteprovider/provider"
)

// List returns a page of a site's documents.
func (s *Store) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if q, err = q.Check(); err != nil {
		return nil, err
	}
	var entries []provider.Entry
	err = s.mending(ctx, func() error {
		return s.files.read(ctx, func(tx *session) error {
			entries, err = s.list(ctx, tx, q)
			return err
		})
	})
	if err != nil {
		return nil, failure(ctx, "list", err)
	}
	return entries, nil
}

func (s *Store) list(ctx context.Context, tx *session, q provider.ListQuery) ([]provider.Entry, error) {
	entries := []provider.Entry{}
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return nil, err
	}
	site, ok := c.site(q.Site)
	if !ok {
		return entries, nil
	}
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var e provider.Entry
		var key, version, crc int64
		var hash sql.RawBytes
		if err := rows.Scan(&e.URL, &key, &hash, &version, &crc); err != nil {
			return err
		}
		if err := checkHead(crc, site.id, e.URL, key, version, hash); err != nil {
			return err
		}
		e.Hash, e.Indexed = hex.EncodeToString(hash), version == documentVersion
		entries = append(entries, e)
		return nil
	}, "SELECT url, key, hash, version, crc FROM document WHERE site = ? AND url > ? ORDER BY url LIMIT ?", site.id, q.After, q.Limit)
	if err != nil {
		return nil, err
	}
	return entries, s.wantListed(ctx, tx, site, q, entries)
}

// wantListed compares a page of a site's documents with its index: a list that
// lacks documents is taken for the whole of them, and they are deleted from
// where they came. An index that is to be brought up to date has no say.
func (s *Store) wantListed(ctx context.Context, tx *session, site siteRow, q provider.ListQuery, page []provider.Entry) error {
	x, err := s.index(ctx, tx, site)
	if err != nil {
		var outdated outdatedIndex
		if errors.As(err, &outdated) {
			return nil
		}
		return err
	}
	rest := make([]*livingEntries, len(x.parts))
	for i, p := range x.parts {
		rest[i] = &livingEntries{p.part, p.urls.cursorBehind(q.After)}
		rest[i].skipDead()
	}
	for i := 0; i < len(page) || len(page) < q.Limit; i++ {
		var next *livingEntries
		for _, e := range rest {
			if !e.done() && (next == nil || string(e.current) < string(next.current)) {
				next = e
			}
		}
		switch {
		case i == len(page) && next == nil:
			return nil
		case i == len(page):
			return damagedIndex(site, damaged("site %q: its list ends before the document %s of its index", site.name, next.current))
		case next == nil:
			return damagedIndex(site, damaged("site %q: its index lacks the document %s", site.name, page[i].URL))
		case string(next.current) != page[i].URL:
			return damagedIndex(site, damaged("site %q: its list has the document %s where its index has %s", site.name, page[i].URL, next.current))
		}
		next.next()
	}
	return nil
}

// cursorBehind returns a cursor that begins with the first string greater than
// key.
func (s sortedStrings) cursorBehind(key string) *sortedCursor {
	blocks := (s.n + blockStrings - 1) / blockStrings
	b := sort.Search(blocks, func(i int) bool {
		first, _, ok := cutBytes(s.block(i))
		return !ok || string(first) > key
	})
	c := &sortedCursor{list: s, i: max(b-1, 0)*blockStrings - 1}
	for c.next() && string(c.current) <= key {
	}
	return c
}
