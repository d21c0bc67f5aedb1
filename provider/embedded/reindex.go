package embedded

import (
	"context"
	"errors"
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
	r := &reindex{store: s, ctx: ctx, o: o, report: new(ReindexReport), batch: reindexDocuments, pause: noPause}
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
	batch  int                         // documents that one transaction changes
	pause  func(context.Context) error // called after each
	// trusting leaves a site alone that is said to be up to date.
	trusting bool
}

// reindexDocuments is how many documents one transaction of Reindex changes.
const reindexDocuments = 500

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
		if err := r.site(site.name); err != nil {
			return err
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
	for try := range 5 {
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
			return verifyIndex(r.ctx, tx, site, &segments, nil, func(what string) { damage = errors.New(what) })
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
		if err := r.store.rebuild(r.ctx, &indexDamage{site: site, err: damage, recount: true, insist: try > 1}); err != nil {
			return err
		}
	}
	return damaged("the index of site %q is still damaged after it was rebuilt: %v", name, damage)
}
