package embedded

import (
	"context"
	"database/sql"
)

// siteIndex is the index of a site, as of one generation of it. It never
// changes.
type siteIndex struct {
	site  siteRow
	parts []indexPart
	stats statistics
	bytes int64
}

// indexPart is a segment as a row holds it.
type indexPart struct {
	id int64
	part
}

// statistics are what a ranking needs to know of the documents it ranks.
type statistics struct {
	documents            int64
	nameWords, textWords int64
	languages            [languages]int64 // documents in each
}

func (s *statistics) add(o *statistics) {
	s.documents += o.documents
	s.nameWords += o.nameWords
	s.textWords += o.textWords
	for l, n := range o.languages {
		s.languages[l] += n
	}
}

// statistics counts the living documents of p.
func (p *part) statistics() statistics {
	var s statistics
	for doc := range p.docs {
		if p.dead.has(doc) {
			continue
		}
		s.documents++
		s.nameWords += int64(lengthOf[p.nameLengths[doc]])
		s.textWords += int64(lengthOf[p.textLengths[doc]])
		if l := p.languages[doc]; l < byte(languages) {
			s.languages[l]++
		}
	}
	return s
}

// loadIndexes returns the indexes of sites, which are of the state that the transaction
// of tx sees, in their order; known has the newest of each that is in memory, nil
// for none, and rows the segments of each.
func loadIndexes(ctx context.Context, tx *session, sites []siteRow, known []*siteIndex, rows map[int64][]segmentRow) ([]*siteIndex, error) {
	fresh := make([]*siteIndex, len(sites))
	var missing []segmentRow
	for i, site := range sites {
		for _, r := range rows[site.id] {
			if known[i].segment(r.id) == nil {
				missing = append(missing, r)
			}
		}
	}
	raw, err := readSegments(ctx, tx, missing, nil)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(sites))
	inParallel(len(sites), func(i int) {
		fresh[i], errs[i] = newSiteIndex(sites[i], known[i], rows[sites[i].id], raw)
	})
	for i, err := range errs {
		if err != nil {
			return nil, damagedIndex(sites[i], err)
		}
	}
	return fresh, nil
}

// newSiteIndex makes the index of a site of its segments: those in known, and
// those of which raw has the bytes.
func newSiteIndex(site siteRow, known *siteIndex, rows []segmentRow, raw map[int64][]byte) (*siteIndex, error) {
	x := &siteIndex{site: site}
	for _, r := range rows {
		p := indexPart{id: r.id, part: part{segment: known.segment(r.id), dead: r.dead}}
		if p.segment == nil {
			var err error
			if p.segment, err = r.open(raw[r.id]); err != nil {
				return nil, err
			}
		}
		stats := p.statistics()
		x.stats.add(&stats)
		x.bytes += int64(p.size + len(p.dead))
		x.parts = append(x.parts, p)
	}
	return x, site.agrees(&x.stats)
}

// agrees returns an error where the segments of a site, of which stats tells,
// have not as many documents as the site.
func (r siteRow) agrees(stats *statistics) error {
	if stats.documents != r.documents {
		return damaged("the index of site %q has %d documents, and the site %d", r.name, stats.documents, r.documents)
	}
	return nil
}

// segment returns the segment with a number, if it is in memory.
func (x *siteIndex) segment(id int64) *segment {
	if x != nil {
		for _, p := range x.parts {
			if p.id == id {
				return p.segment
			}
		}
	}
	return nil
}

// segmentRow is what there is to know of a segment without reading it.
type segmentRow struct {
	id, documents, bytes int64
	format               int64 // of its bytes, see segmentFormat
	dead                 bitmap
}

func (r segmentRow) living() int64 { return r.documents - int64(r.dead.count()) }

// segmentRows returns the segments of a site, none of whose rows is damaged.
func segmentRows(ctx context.Context, tx *session, site int64) ([]segmentRow, error) {
	list, damage, err := readSegmentRows(ctx, tx, site)
	if err == nil {
		err = damage
	}
	return list, err
}

const segmentColumns = "id, documents, bytes, format, dead, crc"

// readSegmentRows returns the segments of a site, and what is wrong with the row
// of one, if anything is.
func readSegmentRows(ctx context.Context, tx *session, site int64) (list []segmentRow, damage, err error) {
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var r segmentRow
		wrong, err := r.scan(rows, &site)
		if err != nil {
			return err
		}
		if _, outdated := wrong.(outdatedIndex); wrong != nil && (damage == nil || !outdated) {
			damage = wrong
		}
		list = append(list, r)
		return nil
	}, "SELECT "+segmentColumns+" FROM segment WHERE site = ? ORDER BY id", site)
	return list, damage, err
}

// scan reads segmentColumns, and what is behind them into more. damage is what is
// wrong with the row.
func (r *segmentRow) scan(rows *sql.Rows, site *int64, more ...any) (damage, err error) {
	var crc int64
	if err := rows.Scan(append([]any{&r.id, &r.documents, &r.bytes, &r.format, (*[]byte)(&r.dead), &crc}, more...)...); err != nil {
		return nil, err
	}
	switch {
	case crc != r.sum(*site):
		damage = damaged("the row of index segment %d is not as it was written (wrong checksum)", r.id)
	case r.format != segmentFormat:
		damage = outdatedIndex{damaged("index segment %d has the format %d, and this program reads the format %d", r.id, r.format, segmentFormat)}
	}
	return damage, nil
}

// segmentsOf returns the segments of many sites.
func segmentsOf(ctx context.Context, tx *session, sites []siteRow) (map[int64][]segmentRow, error) {
	ids := make([]int64, len(sites))
	of := make(map[int64]siteRow, len(sites))
	for i, site := range sites {
		ids[i], of[site.id] = site.id, site
	}
	list := make(map[int64][]segmentRow, len(sites))
	err := eachQuickly(ctx, tx, func(rows *sql.Rows) error {
		var r segmentRow
		var site int64
		damage, err := r.scan(rows, &site, &site)
		if err == nil && damage != nil {
			err = damagedIndex(of[site], damage)
		}
		list[site] = append(list[site], r)
		return err
	}, "SELECT "+segmentColumns+", site FROM segment WHERE site IN (SELECT value FROM json_each(?)) ORDER BY id", idList(ids))
	return list, err
}

// eachQuickly is tx.each for rows that take no time. Between them it looks at ctx,
// which SQLite's driver would have watched by a goroutine for each, at a greater
// cost than that of the rows.
func eachQuickly(ctx context.Context, tx *session, row func(*sql.Rows) error, query string, args ...any) error {
	return tx.each(context.WithoutCancel(ctx), func(rows *sql.Rows) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return row(rows)
	}, query, args...)
}

// maxSegmentBytes bounds what one segment may have, so that a damaged number
// cannot ask for all the memory there is.
const maxSegmentBytes = 1 << 31

// readSegments returns the bytes of segments, by their numbers. It may use the
// memory of reuse for them.
func readSegments(ctx context.Context, tx *session, list []segmentRow, reuse []byte) (map[int64][]byte, error) {
	ids := make([]int64, len(list))
	raw := make(map[int64][]byte, len(list))
	parts := make(map[int64]int64, len(list)) // read so far
	for i, r := range list {
		if r.bytes < 0 || r.bytes > maxSegmentBytes {
			return nil, damaged("an index segment is said to have %d bytes", r.bytes)
		}
		ids[i] = r.id
		if int64(cap(reuse)) < r.bytes {
			reuse = make([]byte, r.bytes)
		}
		raw[r.id], reuse = reuse[:0:r.bytes], nil
	}
	if len(list) == 0 {
		return raw, nil
	}
	// The join goes through the list in its order, and for each through its
	// chunks by the index on them.
	err := eachQuickly(ctx, tx, func(rows *sql.Rows) error {
		var id, part int64
		var data sql.RawBytes
		if err := rows.Scan(&id, &part, &data); err != nil {
			return err
		}
		have := raw[id]
		if part != parts[id] || len(have)+len(data) > cap(have) {
			return nil // too few bytes are left then
		}
		raw[id] = append(have, data...)
		parts[id]++
		return nil
	}, "SELECT c.segment, c.part, c.data FROM json_each(?) AS j CROSS JOIN chunk AS c ON c.segment = j.value", idList(ids))
	return raw, err
}

// open opens the segment of a row, of which raw is the bytes.
func (r segmentRow) open(raw []byte) (*segment, error) {
	seg, err := openSegment(raw)
	switch {
	case err != nil:
		return nil, err
	case int64(len(raw)) != r.bytes:
		return nil, damaged("an index segment has %d bytes, and its row says %d", len(raw), r.bytes)
	case int64(seg.docs) != r.documents:
		return nil, damaged("an index segment has %d documents, and its row says %d", seg.docs, r.documents)
	}
	return seg, nil
}

func loadSegment(ctx context.Context, tx *session, r segmentRow) (*segment, error) {
	raw, err := readSegments(ctx, tx, []segmentRow{r}, nil)
	if err != nil {
		return nil, err
	}
	return r.open(raw[r.id])
}
