package embedded

import "slices"

// reindex does all of list, merges side by side.
func (w *write) reindex(list []*siteWrite) error {
	for _, r := range list {
		if err := r.read(w); err != nil {
			return damagedIndex(r.site, err)
		}
	}
	errs := make([]error, len(list))
	inParallel(len(list), func(i int) { errs[i] = list[i].merge() })
	for i, r := range list {
		if errs[i] != nil {
			return damagedIndex(r.site, errs[i])
		}
		if err := r.write(w); err != nil {
			return err
		}
	}
	return nil
}

// read decides which segments of the site are to change, and reads them.
func (r *siteWrite) read(w *write) error {
	rows, err := segmentRows(w.ctx, w.tx, r.site.id)
	if err != nil {
		return err
	}
	segments, err := w.loader(r.site, rows, len(r.removed) > 0)
	if err != nil {
		return err
	}
	changed, err := bury(rows, r.removed, segments, r.site)
	if err != nil {
		return err
	}
	added := int64(0)
	for _, body := range r.bodies {
		seg, err := parseSegment(body)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, part{segment: seg})
		added += int64(seg.docs)
	}
	r.absorbed = toAbsorb(rows, added)
	for _, row := range r.absorbed {
		if row.living() > 0 {
			seg, err := segments(row)
			if err != nil {
				return err
			}
			r.parts = append(r.parts, part{seg, row.dead})
		}
		delete(changed, row.id)
	}
	for _, row := range rows {
		if changed[row.id] {
			r.marked = append(r.marked, row)
		}
	}
	return nil
}

// merge makes one body of parts.
func (r *siteWrite) merge() (err error) {
	if len(r.absorbed) == 0 && len(r.bodies) == 1 {
		r.body = r.bodies[0]
	} else if len(r.parts) > 0 {
		r.body, err = mergeSegments(r.parts)
	}
	return err
}

// write writes what was decided and merged, and the site's row.
func (r *siteWrite) write(w *write) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for _, row := range r.absorbed {
		if err := w.dropSegment(row.id); err != nil {
			return err
		}
	}
	for _, row := range r.marked {
		if err := w.markDead(r.site.id, row); err != nil {
			return err
		}
	}
	if len(r.body) > 0 {
		if _, err := w.addSegment(r.site.id, r.body); err != nil {
			return err
		}
	}
	return w.putSite(r.site)
}

// worthKeeping is how much of a site's index a write reads before it keeps it in
// memory, for the next.
const worthKeeping = 64 << 10

// loader returns a function that reads segments of a site, each once, and those
// not at all that are in memory. rows are all of them; search says that most
// will be looked into.
func (w *write) loader(site siteRow, rows []segmentRow, search bool) (func(segmentRow) (*segment, error), error) {
	known := w.store.indexes.get(site)
	var missing int64
	for _, r := range rows {
		if known.segment(r.id) == nil {
			missing += r.bytes
		}
	}
	if before, ok := w.before.site(site.name); ok && search && missing > worthKeeping {
		// What is kept is the state before this transaction.
		was := slices.Clone(rows)
		for i := range was {
			was[i].dead = slices.Clone(was[i].dead)
		}
		fresh, err := loadIndexes(w.ctx, w.tx, []siteRow{before}, []*siteIndex{known}, map[int64][]segmentRow{site.id: was})
		if err != nil {
			return nil, err
		}
		known = fresh[0]
		w.store.indexes.put(known)
	}
	loaded := make(map[int64]*segment)
	return func(r segmentRow) (*segment, error) {
		seg := known.segment(r.id)
		if seg == nil {
			seg = loaded[r.id]
		}
		if seg == nil {
			var err error
			if seg, err = loadSegment(w.ctx, w.tx, r); err != nil {
				return nil, err
			}
			loaded[r.id] = seg
		}
		return seg, nil
	}, nil
}

// bury marks the documents with these URLs as dead in rows, and returns the
// segments that it marked something in.
func bury(rows []segmentRow, urls []string, segments func(segmentRow) (*segment, error), site siteRow) (map[int64]bool, error) {
	changed := make(map[int64]bool)
	left := slices.Clone(urls)
	for i := range rows {
		if len(left) == 0 {
			break
		}
		seg, err := segments(rows[i])
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(url string) bool {
			doc, ok := seg.find(url)
			if !ok || rows[i].dead.has(doc) {
				return false
			}
			rows[i].dead = rows[i].dead.with(doc, seg.docs)
			changed[rows[i].id] = true
			return true
		})
	}
	if len(left) > 0 {
		return nil, damaged("%d documents of site %q are missing from its index, such as %q", len(left), site.name, left[0])
	}
	return changed, nil
}
