package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/siteprovider/siteprovider/provider"
)

// ReindexOptions says what Reindex is to do.
type ReindexOptions struct {
	// All indexes every document anew, not only those that were indexed
	// under other rules. It mends whatever Check gives RemedyReindex for.
	All bool
	// Progress, if not nil, is called now and then with the number of
	// documents that are done, and of all that are to be.
	Progress func(done, total int64)
}

// ReindexReport says what Reindex did.
type ReindexReport struct {
	Documents int64 // indexed anew
	Rebuilt   int64 // sites whose index was damaged or of another format, and is whole again
}

// reindexDocuments is how many documents one transaction of Reindex changes.
const reindexDocuments = 500

// Reindex brings up to date what is derived from the documents: names, types,
// texts and languages where they were not given when a document was put, and
// the index. It works in short transactions while others use the store;
// documents that they change meanwhile are left to them. If it is stopped, all
// that was done is kept, and doing it again does the rest.
func (s *Store) Reindex(ctx context.Context, o ReindexOptions) (*ReindexReport, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &reindex{store: s, ctx: ctx, o: o, report: new(ReindexReport)}
	if err := r.run(); err != nil {
		return r.report, failure(ctx, "reindex", err)
	}
	return r.report, nil
}

// reindex is a Reindex in progress.
type reindex struct {
	store  *Store
	ctx    context.Context
	o      ReindexOptions
	report *ReindexReport
	total  int64
}

func (r *reindex) run() error {
	if err := r.sweep(); err != nil {
		return err
	}
	var sites []siteRow
	err := r.store.files.read(r.ctx, func(tx *session) error {
		c, err := r.store.sites.load(r.ctx, tx)
		if err != nil {
			return err
		}
		sites = c.sites
		return tx.row(r.ctx, "SELECT count(*) FROM document WHERE version <> ? OR ?", documentVersion, r.o.All).Scan(&r.total)
	})
	if err != nil {
		return err
	}
	for _, site := range sites {
		if err := r.mend(site.name); err != nil {
			return err
		}
		for after, more := "", true; more; {
			if after, more, err = r.batch(site.name, after); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep removes the pieces of an index that nothing leads to, and counts sites
// that were not. One that is missing stays so: its documents have lost its name.
func (r *reindex) sweep() error {
	return r.store.files.write(r.ctx, func(tx *session) error {
		var removed int64
		for _, query := range []string{
			"DELETE FROM segment WHERE site NOT IN (SELECT id FROM site)",
			"DELETE FROM chunk WHERE segment NOT IN (SELECT id FROM segment)",
		} {
			result, err := tx.exec(r.ctx, query)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			removed += n
		}
		recounted, err := recount(r.ctx, tx)
		if err == nil && removed == 0 && !recounted {
			err = errNothingToDo
		}
		return err
	})
}

// mend rebuilds the index of a site if it is damaged or outdated.
func (r *reindex) mend(name string) error {
	var damage error
	// A writer that comes in between makes a rebuild give up.
	for range 10 {
		before := damage
		damage = nil
		var site siteRow
		err := r.store.files.read(r.ctx, func(tx *session) error {
			c, err := r.store.sites.load(r.ctx, tx)
			if err != nil {
				return err
			}
			there := false
			if site, there = c.site(name); !there {
				return nil
			}
			var segments int64
			return verifyIndex(r.ctx, tx, site, &segments, func(what string) { damage = errors.New(what) })
		})
		var outdated outdatedIndex
		if errors.As(err, &outdated) {
			damage, err = outdated, nil
		}
		if err != nil {
			return err
		}
		if damage == nil {
			if before != nil {
				r.report.Rebuilt++
			}
			return nil
		}
		if err := r.store.rebuild(r.ctx, &indexDamage{site: site, err: damage, recount: true}); err != nil {
			return err
		}
	}
	return damaged("the index of site %q is still damaged after it was rebuilt: %v", name, damage)
}

// batch indexes anew the next documents of a site with URLs greater than after.
// It returns the last of them, and whether there may be more.
func (r *reindex) batch(site, after string) (last string, more bool, err error) {
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
		docs, err = r.next(tx, row, after)
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

// next returns the next documents that are to be indexed anew, as many as a
// batch should have.
func (r *reindex) next(tx *session, site siteRow, after string) (docs []storedDocument, err error) {
	size := 0
	errFull := errors.New("enough")
	err = tx.each(r.ctx, func(rows *sql.Rows) error {
		var d storedDocument
		if err := d.scan(rows); err != nil {
			return err
		}
		docs = append(docs, d)
		if size += len(d.objects); size >= provider.MaxBatchBytes {
			return errFull
		}
		return nil
	}, "SELECT "+storedColumns+" FROM document WHERE site = ? AND url > ? AND (version <> ? OR ?) ORDER BY url LIMIT ?",
		site.id, after, documentVersion, r.o.All, reindexDocuments)
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
	return &change{doc: given, hash: d.hash, old: d.id}
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
