package embedded

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
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

// index returns the index of site, which is of the state that the transaction
// of tx sees.
func (s *Store) index(ctx context.Context, tx *session, site siteRow) (*siteIndex, error) {
	x, err := s.loadIndex(ctx, tx, site)
	return x, damagedIndex(site, err)
}

func (s *Store) loadIndex(ctx context.Context, tx *session, site siteRow) (*siteIndex, error) {
	known := s.indexes.get(site)
	if known != nil && known.site.generation == site.generation {
		return known, nil
	}
	rows, err := segmentRows(ctx, tx, site.id)
	if err != nil {
		return nil, err
	}
	fresh := &siteIndex{site: site}
	for _, r := range rows {
		p := indexPart{id: r.id, part: part{segment: known.segment(r.id), dead: r.dead}}
		if p.segment == nil {
			if p.segment, err = loadSegment(ctx, tx, r); err != nil {
				return nil, err
			}
		}
		stats := p.statistics()
		fresh.stats.add(&stats)
		fresh.bytes += int64(p.size + len(p.dead))
		fresh.parts = append(fresh.parts, p)
	}
	if fresh.stats.documents != site.documents {
		return nil, damaged("the index of site %q has %d documents, and the site %d", site.name, fresh.stats.documents, site.documents)
	}
	if known == nil || known.site.generation < site.generation {
		s.indexes.put(fresh)
	}
	return fresh, nil
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

// readSegmentRows returns the segments of a site, and what is wrong with the row
// of one, if anything is.
func readSegmentRows(ctx context.Context, tx *session, site int64) (list []segmentRow, damage, err error) {
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var r segmentRow
		var crc int64
		if err := rows.Scan(&r.id, &r.documents, &r.bytes, &r.format, (*[]byte)(&r.dead), &crc); err != nil {
			return err
		}
		switch {
		case crc != r.sum(site):
			damage = damaged("the row of index segment %d is not as it was written (wrong checksum)", r.id)
		case damage == nil && r.format != segmentFormat:
			damage = outdatedIndex{damaged("index segment %d has the format %d, and this program reads the format %d", r.id, r.format, segmentFormat)}
		}
		list = append(list, r)
		return nil
	}, "SELECT id, documents, bytes, format, dead, crc FROM segment WHERE site = ? ORDER BY id", site)
	return list, damage, err
}

// maxSegmentBytes bounds what one segment may have, so that a damaged number
// cannot ask for all the memory there is.
const maxSegmentBytes = 1 << 31

func loadSegment(ctx context.Context, tx *session, r segmentRow) (*segment, error) {
	if r.bytes < 0 || r.bytes > maxSegmentBytes {
		return nil, damaged("an index segment is said to have %d bytes", r.bytes)
	}
	raw := make([]byte, 0, r.bytes)
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		if int64(len(raw)+len(data)) > r.bytes {
			return damaged("an index segment has more than its %d bytes", r.bytes)
		}
		raw = append(raw, data...)
		return nil
	}, "SELECT data FROM chunk WHERE segment = ? ORDER BY part", r.id)
	if err != nil {
		return nil, err
	}
	seg, err := openSegment(raw)
	if err != nil {
		return nil, err
	}
	if int64(seg.docs) != r.documents {
		return nil, damaged("an index segment has %d documents, and its row says %d", seg.docs, r.documents)
	}
	return seg, nil
}

// indexCache keeps the indexes of sites in memory, those used last, within a
// bound of bytes.
type indexCache struct {
	mu    sync.Mutex
	limit int64
	bytes int64
	sites map[siteKey]*list.Element // of *siteIndex
	used  *list.List                // the one used last in front
}

// siteKey tells a site from every other site of any store.
type siteKey struct {
	store storeID
	site  int64
}

func (r siteRow) key() siteKey { return siteKey{r.store, r.id} }

func newIndexCache(limit int64) *indexCache {
	return &indexCache{limit: limit, sites: make(map[siteKey]*list.Element), used: list.New()}
}

// get returns what is kept of a site, of whatever generation; nil if nothing.
func (c *indexCache) get(site siteRow) *siteIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.sites[site.key()]
	if !ok {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*siteIndex)
}

// put keeps x unless it has a newer one of the site.
func (c *indexCache) put(x *siteIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.sites[x.site.key()]; ok {
		if e.Value.(*siteIndex).site.generation >= x.site.generation {
			return
		}
		c.remove(e)
	}
	c.sites[x.site.key()] = c.used.PushFront(x)
	c.bytes += x.bytes
	for c.bytes > c.limit && c.used.Len() > 0 {
		c.remove(c.used.Back())
	}
}

func (c *indexCache) remove(e *list.Element) {
	x := c.used.Remove(e).(*siteIndex)
	delete(c.sites, x.site.key())
	c.bytes -= x.bytes
}
