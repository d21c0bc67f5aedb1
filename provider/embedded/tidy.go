package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	// maxCrowd is how many segments a site may have while it is written to.
	maxCrowd = 16
	// smallIndex is the size, in bytes, up to which a site's segments are made
	// one whenever there is time.
	smallIndex = 1 << 20
	// The bounds of what one transaction merges, of several sites.
	tidyBytes = 8 << 20
	tidySites = 200
)

// merging is segments of a site that are to be made one.
type merging struct {
	site  siteRow
	group []segmentRow
	parts []part
	body  []byte // nil where all their documents are dead
}

// tidy merges the segments of sites that have more than crowd of them; where
// crowd is 1, also those that have dead documents among them. The new segments are made outside of any
// transaction that writes. A damaged index is left to whoever needs it; that there
// is one is the error once the other sites are tidy.
func (k *keeper) tidy(ctx context.Context, crowd int) error {
	mine := false
	for {
		list, generation, err := k.plan(ctx, crowd)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			if crowd == 1 {
				k.seen, k.tidied = generation, generation
			}
			break
		}
		if !mine {
			if mine, err = k.takeLease(ctx); err != nil || !mine {
				return err
			}
		}
		for _, m := range list {
			if err := m.merge(ctx); err != nil {
				return damagedIndex(m.site, err)
			}
		}
		if mine, err = k.swap(ctx, list); err != nil || !mine {
			return err
		}
		if crowd == 1 && k.quiet() < k.calm {
			break
		}
	}
	if !mine {
		return k.skipped
	}
	return cmp.Or(k.write(ctx, func(tx *session) error { return k.lease.release(ctx, tx) }), k.skipped)
}

// write is a write of the keeper's own, after which there is no need to poke it.
func (k *keeper) write(ctx context.Context, do func(*session) error) error {
	k.logged = true
	return k.store.files.turn(ctx, func(tx *session) error { return cmp.Or(do(tx), ctx.Err()) })
}

func (k *keeper) takeLease(ctx context.Context) (mine bool, err error) {
	err = k.write(ctx, func(tx *session) error {
		if mine, err = k.lease.take(ctx, tx); err == nil && !mine {
			err = errNothingToDo
		}
		return err
	})
	return mine, err
}

// plan returns what is to be merged next, with the segments read, as of a
// generation of the store. It leaves out sites whose index is damaged.
func (k *keeper) plan(ctx context.Context, crowd int) (list []*merging, generation int64, err error) {
	k.skipped = nil
	err = k.store.files.read(ctx, func(tx *session) error {
		c, err := k.store.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		generation = c.generation
		crowded, err := crowdedSites(ctx, tx, crowd)
		if err != nil || len(crowded) == 0 {
			return err
		}
		var bytes int64
		for _, site := range c.sites {
			if !crowded[site.id] {
				continue
			}
			rows, err := segmentRows(ctx, tx, site.id)
			if errors.Is(err, provider.ErrCorrupt) {
				k.skipped = cmp.Or(k.skipped, err)
				continue
			}
			if err != nil {
				return err
			}
			group := worthTidying(rows)
			if len(group) == 0 {
				continue
			}
			m := &merging{site: site, group: group}
			for _, r := range group {
				bytes += r.bytes
			}
			if len(list) > 0 && bytes > tidyBytes {
				return nil // next time
			}
			if err := m.read(ctx, tx, k.store); errors.Is(err, provider.ErrCorrupt) {
				k.skipped = cmp.Or(k.skipped, err)
				continue
			} else if err != nil {
				return err
			}
			if list = append(list, m); len(list) == tidySites {
				return nil
			}
		}
		return nil
	})
	return list, generation, err
}

// crowdedSites returns the sites with more than crowd segments, and where crowd
// is 1 those with dead documents in one.
func crowdedSites(ctx context.Context, tx *session, crowd int) (map[int64]bool, error) {
	crowded := make(map[int64]bool)
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		crowded[id] = true
		return nil
	}, "SELECT site FROM segment GROUP BY site HAVING count(*) > ? OR ? AND count(dead) > 0", crowd, crowd == 1)
	return crowded, err
}

// worthTidying returns the segments of a site that are better one. Of a small
// site those are all. Of others they are the smaller ones, up to one that is so
// large that it is not worth its writing; a segment of which an eighth is dead
// is.
func worthTidying(rows []segmentRow) (group []segmentRow) {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b segmentRow) int { return cmp.Compare(a.bytes, b.bytes) })
	var bytes int64
	worn := false
	for _, r := range sorted {
		dead := int64(r.dead.count())
		tired := dead > 0 && (bytes+r.bytes <= smallIndex || 8*dead >= r.documents)
		if len(group) > 0 && bytes+r.bytes > max(maxMergeBytes, smallIndex) {
			break
		}
		if bytes+r.bytes > smallIndex && 4*bytes < r.bytes && !tired && len(group) > 0 {
			break
		}
		group = append(group, r)
		bytes += r.bytes
		worn = worn || tired
	}
	if len(group) == 1 && !worn {
		return nil
	}
	return group
}

// read reads the segments that are to be merged.
func (m *merging) read(ctx context.Context, tx *session, s *Store) error {
	known := s.indexes.get(m.site)
	for _, r := range m.group {
		seg := known.segment(r.id)
		if seg == nil {
			var err error
			if seg, err = loadSegment(ctx, tx, r); err != nil {
				return err
			}
		}
		m.parts = append(m.parts, part{seg, r.dead})
	}
	return nil
}

func (m *merging) merge(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if slices.ContainsFunc(m.group, func(r segmentRow) bool { return r.living() > 0 }) {
		m.body, err = mergeSegments(m.parts)
	}
	return err
}

// swap puts what was merged in the place of what it was merged from. It reports
// false, and does nothing, where another process holds the lease.
func (k *keeper) swap(ctx context.Context, list []*merging) (mine bool, err error) {
	err = k.write(ctx, func(tx *session) error {
		if mine, err = k.lease.take(ctx, tx); err != nil {
			return err
		}
		if !mine {
			return errNothingToDo
		}
		c, err := k.store.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		w := newWrite(ctx, tx, k.store, c)
		for _, m := range list {
			if err := m.swap(w); err != nil {
				return damagedIndex(m.site, err)
			}
		}
		if len(w.sums) == 0 {
			return errNothingToDo
		}
		return w.finish(false)
	})
	return mine, err
}

// swap does nothing where one of the segments is not there any more, or another
// file has taken the place of theirs. What died in them meanwhile is dead in the
// new one.
func (m *merging) swap(w *write) error {
	site, ok := w.before.site(m.site.name)
	if !ok || site.key() != m.site.key() {
		return nil
	}
	rows, err := segmentRows(w.ctx, w.tx, site.id)
	if err != nil {
		return err
	}
	var died []int64 // rows of documents
	for i, old := range m.group {
		at := slices.IndexFunc(rows, func(r segmentRow) bool { return r.id == old.id })
		if at < 0 {
			return nil
		}
		for doc := range m.parts[i].docs {
			if rows[at].dead.has(doc) && !old.dead.has(doc) {
				died = append(died, m.parts[i].id(doc))
			}
		}
	}
	for _, old := range m.group {
		if err := w.dropSegment(old.id); err != nil {
			return err
		}
	}
	if m.body != nil {
		id, err := w.addSegment(site.id, m.body)
		if err != nil {
			return err
		}
		if err := m.bury(w, site, id, died); err != nil {
			return err
		}
	}
	return w.putSite(site)
}

// bury marks documents as dead in the new segment.
func (m *merging) bury(w *write, site siteRow, segment int64, died []int64) error {
	if len(died) == 0 {
		return nil
	}
	seg, err := parseSegment(m.body)
	if err != nil {
		return err
	}
	row := segmentRow{id: segment, documents: int64(seg.docs), bytes: int64(len(m.body) + 4), format: segmentFormat}
	slices.Sort(died)
	for doc := range seg.docs {
		if _, ok := slices.BinarySearch(died, seg.id(doc)); ok {
			row.dead = row.dead.with(doc, seg.docs)
		}
	}
	return w.markDead(site.id, row)
}
