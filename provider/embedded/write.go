package embedded

import (
	"context"
	"slices"
)

// write is a transaction that changes sites. Each changed site's documents and
// index change together.
type write struct {
	ctx      context.Context
	tx       *session
	store    *Store
	storeRow // the new one, but for its digest

	before *catalogue
	sum    int64           // of the sums of the sites, so far
	sums   map[int64]int64 // of each site that was changed; 0: it went
}

func newWrite(ctx context.Context, tx *session, s *Store, c *catalogue) *write {
	w := &write{ctx: ctx, tx: tx, store: s, storeRow: c.storeRow, before: c, sum: c.sum, sums: make(map[int64]int64)}
	w.generation++
	return w
}

// finish writes the new generation; dropped is set where a site went.
func (w *write) finish(dropped bool) error {
	if dropped {
		w.dropped = w.generation
	}
	_, err := w.tx.exec(w.ctx, "UPDATE store SET mark = ?, dropped = ?, sites = ?, digest = ?",
		[]byte(w.state.mark()), w.dropped, w.count, w.sum+w.storeRow.sum())
	return err
}

// addSite makes a new site, which putSite is to be called for before the end.
func (w *write) addSite(name string) (siteRow, error) {
	r, err := w.tx.exec(w.ctx, "INSERT INTO site (name, documents, generation, version) VALUES (?, 0, ?, ?)", name, w.generation, documentVersion)
	if err != nil {
		return siteRow{}, err
	}
	w.count++
	id, err := r.LastInsertId()
	return siteRow{store: w.state.store, id: id, name: name, generation: w.generation, version: documentVersion}, err
}

// note keeps the sum of the sums of sites; sum is the new one of site, 0 where
// the site goes.
func (w *write) note(site siteRow, sum int64) {
	old, changed := w.sums[site.id]
	if !changed {
		if r, ok := w.before.site(site.name); ok {
			old = r.sum()
		}
	}
	w.sum += sum - old
	w.sums[site.id] = sum
}

// put writes the rows of the documents of one site. What remains to be done is
// to bring its index in step.
func (w *write) put(site siteRow, g siteChange) (*reindexing, error) {
	var replaced []string
	for doc, c := range g.docs {
		id, err := w.putRow(site, c)
		if err != nil {
			return nil, err
		}
		if c.old != 0 {
			replaced = append(replaced, c.doc.URL)
		}
		setID(g.body, doc, id)
	}
	site.documents += int64(len(g.docs) - len(replaced))
	if site.version != documentVersion && site.version != -documentVersion {
		site.version = 0
	}
	return &reindexing{site: site, removed: replaced, body: g.body}, nil
}

// putRow writes the row of a document and returns its number.
func (w *write) putRow(site siteRow, c *change) (int64, error) {
	d := &c.doc
	text := c.text
	if text == nil {
		text = []byte{}
	}
	crc := documentChecksum(headChecksum(site.id, d.URL, c.key, documentVersion, c.hash), rowChecksum(d.URL, d.Name, c.types, d.Language, text, d.Schema))
	if c.old != 0 {
		r, err := w.tx.exec(w.ctx, "UPDATE document SET version = ?, hash = ?, name = ?, types = ?, language = ?, crc = ?, text = ?, schema = ? WHERE id = ? AND site = ? AND url = ?",
			documentVersion, c.hash, d.Name, c.types, d.Language, crc, text, d.Schema, c.old, site.id, d.URL)
		if err != nil {
			return 0, err
		}
		if n, err := r.RowsAffected(); err != nil || n != 1 {
			return 0, damaged("site %q, document %s: its row %d is not where it was", site.name, d.URL, c.old)
		}
		return c.old, nil
	}
	r, err := w.tx.exec(w.ctx, "INSERT INTO document (site, url, key, version, hash, name, types, language, crc, text, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		site.id, d.URL, c.key, documentVersion, c.hash, d.Name, c.types, d.Language, crc, text, d.Schema)
	if err != nil {
		return 0, err
	}
	id, err := r.LastInsertId()
	if err == nil && id > maxRowID {
		err = damaged("the store has given out all its row numbers")
	}
	return id, err
}

// reindexing brings the index of a site in step with its documents.
type reindexing struct {
	site    siteRow  // as it is to be
	removed []string // the URLs of documents that are no longer as they were
	body    []byte   // the segment of those that are new; nil: none are

	parts    []part // what becomes one segment, that of body included
	absorbed []segmentRow
	marked   []segmentRow // segments with more dead documents than before
}

// reindex does all of list, merges side by side.
func (w *write) reindex(list ...*reindexing) error {
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
func (r *reindexing) read(w *write) error {
	rows, err := segmentRows(w.ctx, w.tx, r.site.id)
	if err != nil {
		return err
	}
	segments := w.loader(r.site)
	changed, err := bury(rows, r.removed, segments, r.site)
	if err != nil {
		return err
	}
	added := 0
	if len(r.body) > 0 {
		seg, err := parseSegment(r.body)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, part{segment: seg})
		added = seg.docs
	}
	r.absorbed = toAbsorb(rows, int64(added))
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
func (r *reindexing) merge() (err error) {
	if len(r.absorbed) > 0 && len(r.parts) > 0 {
		r.body, err = mergeSegments(r.parts)
	}
	return err
}

// write writes what was decided and merged, and the site's row.
func (r *reindexing) write(w *write) error {
	for _, row := range r.absorbed {
		if err := w.dropSegment(row.id); err != nil {
			return err
		}
	}
	for _, row := range r.marked {
		if _, err := w.tx.exec(w.ctx, "UPDATE segment SET dead = ?, crc = ? WHERE id = ?", []byte(row.dead), row.sum(r.site.id), row.id); err != nil {
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

func (w *write) putSite(site siteRow) error {
	site.generation = w.generation
	w.note(site, site.sum())
	_, err := w.tx.exec(w.ctx, "UPDATE site SET documents = ?, generation = ?, version = ?, crc = ? WHERE id = ?",
		site.documents, site.generation, site.version, nameChecksum(site.id, site.name), site.id)
	return err
}

// loader returns a function that reads segments of a site, each once, and those
// not at all that are in memory.
func (w *write) loader(site siteRow) func(segmentRow) (*segment, error) {
	known := w.store.indexes.get(site)
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
	}
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

const (
	// smallSegment is the number of documents up to which a segment is
	// rewritten whenever its site changes.
	smallSegment = 64
	// maxMergeBytes bounds what one merge rewrites, and so how long a write
	// can take.
	maxMergeBytes = 32 << 20
	// chunkBytes bounds a row of a segment.
	chunkBytes = 1 << 20
)

// toAbsorb returns the segments that are to be rewritten together with new
// documents: those that are no larger than what is being written anyway, which
// makes each segment at least twice the next smaller one and rewrites a
// document as often as the site doubles; and those of which half is dead.
func toAbsorb(rows []segmentRow, added int64) []segmentRow {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b segmentRow) int { return int(a.living() - b.living()) })
	var list []segmentRow
	var bytes int64
	documents := added
	for _, r := range sorted {
		living := r.living()
		small := living <= max(documents, smallSegment)
		if !small && 2*living > r.documents || living > 0 && bytes+r.bytes > maxMergeBytes {
			continue
		}
		list = append(list, r)
		documents += living
		bytes += r.bytes
	}
	if added == 0 && len(list) == 1 && list[0].living() > 0 && 2*list[0].living() > list[0].documents {
		return nil // it would be written again as it is, for little
	}
	return list
}

func (w *write) addSegment(site int64, body []byte) (id int64, err error) {
	seg, err := parseSegment(body)
	if err != nil {
		return 0, err
	}
	raw := seal(body)
	row := segmentRow{documents: int64(seg.docs), bytes: int64(len(raw)), format: segmentFormat}
	r, err := w.tx.exec(w.ctx, "INSERT INTO segment (site, documents, bytes, format, crc) VALUES (?, ?, ?, ?, ?)",
		site, row.documents, row.bytes, row.format, row.sum(site))
	if err != nil {
		return 0, err
	}
	id, err = r.LastInsertId()
	if err != nil {
		return 0, err
	}
	part := 0
	for chunk := range slices.Chunk(raw, chunkBytes) {
		if _, err := w.tx.exec(w.ctx, "INSERT INTO chunk (segment, part, data) VALUES (?, ?, ?)", id, part, chunk); err != nil {
			return 0, err
		}
		part++
	}
	return id, nil
}

// dropSegments removes the index of a site.
func (w *write) dropSegments(site siteRow) error {
	for _, query := range []string{
		"DELETE FROM chunk WHERE segment IN (SELECT id FROM segment WHERE site = ?)",
		"DELETE FROM segment WHERE site = ?",
	} {
		if _, err := w.tx.exec(w.ctx, query, site.id); err != nil {
			return err
		}
	}
	return nil
}

func (w *write) dropSegment(id int64) error {
	for _, query := range []string{"DELETE FROM chunk WHERE segment = ?", "DELETE FROM segment WHERE id = ?"} {
		if _, err := w.tx.exec(w.ctx, query, id); err != nil {
			return err
		}
	}
	return nil
}
