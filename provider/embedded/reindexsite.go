package embedded

import (
	"bytes"
	"database/sql"
	"errors"

	"github.com/siteprovider/siteprovider/provider"
)

// site indexes anew the documents of a site that are to be, and says of the site
// that all of them are up to date.
func (r *reindex) site(name string) error {
	current, err := r.settle(name)
	if err != nil || current && !r.o.All {
		return err
	}
	// A process of another version that puts a document meanwhile takes this
	// back.
	if err := r.mark(name, -documentVersion, func(siteRow) bool { return true }); err != nil {
		return err
	}
	for after, more := "", true; more; {
		if after, more, err = r.next(name, after); err == nil {
			err = r.pause(r.ctx)
		}
		if err != nil {
			return err
		}
	}
	return r.mark(name, documentVersion, func(site siteRow) bool { return site.version == -documentVersion })
}

// settle looks whether all documents of a site are up to date and, where nobody
// changes the site meanwhile, says so of the site. It reports whether that is so.
func (r *reindex) settle(name string) (current bool, err error) {
	var site siteRow
	err = r.store.files.read(r.ctx, func(tx *session) error {
		c, err := r.store.sites.load(r.ctx, tx)
		if err != nil {
			return err
		}
		ok := false
		if site, ok = c.site(name); !ok || r.trusting && site.version == documentVersion {
			current = true
			return nil
		}
		var outdated bool
		err = tx.row(r.ctx, "SELECT EXISTS (SELECT 1 FROM document WHERE site = ? AND version <> ?)", site.id, documentVersion).Scan(&outdated)
		current = !outdated
		return err
	})
	if err != nil || !current || site.version == documentVersion || site.id == 0 {
		return current, err
	}
	err = r.mark(name, documentVersion, func(now siteRow) bool {
		current = now.generation == site.generation
		return current
	})
	return current, err
}

// mark writes the version of a site, if the site as it is then is as it should
// be.
func (r *reindex) mark(name string, version int64, should func(siteRow) bool) error {
	return r.store.files.write(r.ctx, func(tx *session) error {
		c, err := r.store.sites.load(r.ctx, tx)
		if err != nil {
			return err
		}
		site, ok := c.site(name)
		if !ok || !should(site) || site.version == version {
			return errNothingToDo
		}
		site.version = version
		w := newWrite(r.ctx, tx, r.store, c)
		if err := w.putSite(site); err != nil {
			return err
		}
		return w.finish(false)
	})
}

// next indexes anew the next documents of a site with URLs greater than after.
// It returns the last of them, and whether there may be more.
func (r *reindex) next(site, after string) (last string, more bool, err error) {
	var seen state
	var docs []storedDocument
	err = r.store.files.read(r.ctx, func(tx *session) error {
		c, err := r.store.sites.load(r.ctx, tx)
		if err != nil {
			return err
		}
		seen = c.state
		row, ok := c.site(site)
		if !ok {
			return nil
		}
		docs, err = r.read(tx, row, after)
		return err
	})
	if err != nil || len(docs) == 0 {
		return "", false, err
	}
	if err := r.store.mending(r.ctx, func() error { return r.replace(site, seen, docs) }); err != nil {
		return "", false, err
	}
	r.report.Documents += int64(len(docs))
	if r.o.Progress != nil {
		r.total = max(r.total, r.report.Documents)
		r.o.Progress(r.report.Documents, r.total)
	}
	return docs[len(docs)-1].url, true, nil
}

// read returns the next documents that are to be indexed anew, as many as a
// transaction should change.
func (r *reindex) read(tx *session, site siteRow, after string) (docs []storedDocument, err error) {
	size := 0
	errFull := errors.New("enough")
	err = tx.each(r.ctx, func(rows *sql.Rows) error {
		var d storedDocument
		if err := d.scan(rows); err != nil {
			return err
		}
		docs = append(docs, d)
		if size += len(d.object); size >= provider.MaxBatchBytes {
			return errFull
		}
		return nil
	}, "SELECT "+storedColumns+" FROM document WHERE site = ? AND url > ? AND (version <> ? OR ?) ORDER BY url LIMIT ?",
		site.id, after, documentVersion, r.o.All, r.batch)
	if errors.Is(err, errFull) {
		err = nil
	}
	return docs, err
}

// replace indexes docs anew, which were what a site had in the state seen.
func (r *reindex) replace(site string, seen state, docs []storedDocument) error {
	changes := make([]*change, len(docs))
	inParallel(len(docs), func(i int) { changes[i] = docs[i].again(site) })
	p, err := r.store.prepare(r.ctx, changes)
	if err != nil {
		return err
	}
	defer func(all *prepared) { <-all.built }(p)
	return r.store.files.write(r.ctx, func(tx *session) error {
		c, err := r.store.sites.load(r.ctx, tx)
		if err != nil {
			return err
		}
		if c.state != seen {
			left, err := r.stillThere(tx, c, changes)
			if err != nil {
				return err
			}
			if len(left) == 0 {
				return errNothingToDo
			}
			p = p.only(left)
		}
		if err := r.mendKeys(tx, docs); err != nil {
			return err
		}
		w := newWrite(r.ctx, tx, r.store, c)
		if err := w.put(p); err != nil {
			return err
		}
		return w.end()
	})
}

// again returns d as a change to itself, to be read and indexed by the rules of
// this version.
func (d *storedDocument) again(site string) *change {
	full, _ := d.document(site)
	given, whole := d.asPut(full)
	if !whole {
		given = full // what there is, is all there is
	}
	damaged := !whole && checkRow(d.crc, d.url, d.name, d.types, d.lang, d.packedText, d.packed) != nil
	c := &change{doc: given, hash: d.hash, old: d.id, damaged: damaged}
	if d.unreadable != nil {
		c.object = d.packed // what there is of it
	}
	return c
}

// stillThere returns the changes to documents that nobody has changed or deleted
// meanwhile.
func (r *reindex) stillThere(tx *session, c *catalogue, changes []*change) (left []*change, err error) {
	stored, err := storedRows(r.ctx, tx, c, changes)
	if err != nil {
		return nil, err
	}
	for i, ch := range changes {
		now := stored[i]
		if now.id == ch.old && bytes.Equal(now.hash, ch.hash) && (r.o.All || now.version != documentVersion) {
			left = append(left, ch)
		}
	}
	return left, nil
}

// mendKeys corrects the keys of docs that are wrong.
func (r *reindex) mendKeys(tx *session, docs []storedDocument) error {
	for i := range docs {
		key := urlKey(docs[i].url)
		if docs[i].key == key {
			continue
		}
		if _, err := tx.exec(r.ctx, "UPDATE document SET key = ? WHERE id = ? AND url = ?", key, docs[i].id, docs[i].url); err != nil {
			return err
		}
	}
	return nil
}
