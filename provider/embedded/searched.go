package embedded

import (
	"context"
)

// searched is the indexes of the sites of a search. They are held in memory
// while it runs; where they are more than the cache may hold, segments that are
// not in it are read again each time the search goes through them, one at a
// time.
type searched struct {
	store   *Store
	tx      *session
	stats   statistics
	indexes []*siteIndex // of each site; nil: its segments are read
	held    []*rankedPart

	streamed []streamedSite // nil: all are held
	memory   []byte         // for the streamed segment at hand
}

// streamedSite is a site and its segments, unless its index is held.
type streamedSite struct {
	site *siteRow
	rows []segmentRow
}

// searched finds or loads the indexes of sites, which are of the state that the
// transaction of tx sees.
func (s *Store) searched(ctx context.Context, tx *session, sites []siteRow) (*searched, error) {
	x := &searched{store: s, tx: tx, indexes: make([]*siteIndex, len(sites))}
	for {
		missing, bytes := x.take(s.indexes.of(sites), sites)
		if len(missing) == 0 {
			x.hold()
			return x, nil
		}
		rows, err := segmentsOf(ctx, tx, missing)
		if err != nil {
			return nil, err
		}
		for _, list := range rows {
			bytes += bytesOf(list)
		}
		if bytes > s.indexes.limit {
			return x, x.stream(ctx, sites, rows)
		}
		var mine []siteRow
		var others <-chan struct{}
		for _, site := range missing {
			if own, done := s.indexes.begin(site); own {
				mine = append(mine, site)
			} else {
				others = done
			}
		}
		if len(mine) > 0 {
			if err := x.load(ctx, sites, mine, rows); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-others:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// index returns the index of one site, held in memory however large it is.
func (s *Store) index(ctx context.Context, tx *session, site siteRow) (*siteIndex, error) {
	x, err := s.searched(ctx, tx, []siteRow{site})
	if err != nil {
		return nil, err
	}
	if x.streamed != nil && x.indexes[0] == nil {
		rows := map[int64][]segmentRow{site.id: x.streamed[0].rows}
		if x.indexes, err = loadIndexes(ctx, tx, []siteRow{site}, x.indexes, rows); err != nil {
			return nil, err
		}
	}
	return x.indexes[0], nil
}

// take takes the indexes that are of the state of sites, and returns the sites
// that are missing, and the bytes of those that are not.
func (x *searched) take(known []*siteIndex, sites []siteRow) (missing []siteRow, bytes int64) {
	for i, site := range sites {
		if x.indexes[i] == nil && known[i] != nil && known[i].site.generation == site.generation {
			x.indexes[i] = known[i]
		}
		if x.indexes[i] == nil {
			missing = append(missing, site)
		} else {
			bytes += x.indexes[i].bytes
		}
	}
	return missing, bytes
}

func bytesOf(rows []segmentRow) (n int64) {
	for _, r := range rows {
		n += r.bytes + int64(len(r.dead))
	}
	return n
}

// load loads the indexes of some of all sites, which no other search does
// meanwhile, for this search and into the cache. The cache may have newer ones by
// now, of which this search, which sees an older state, must not make use.
func (x *searched) load(ctx context.Context, all, sites []siteRow, rows map[int64][]segmentRow) error {
	cache := x.store.indexes
	defer func() {
		for _, site := range sites {
			cache.end(site)
		}
	}()
	fresh, err := loadIndexes(ctx, x.tx, sites, cache.of(sites), rows)
	if err != nil {
		return err
	}
	loaded := make(map[int64]*siteIndex, len(fresh))
	for _, index := range fresh {
		cache.put(index)
		loaded[index.site.id] = index
	}
	for i, site := range all {
		if index := loaded[site.id]; index != nil {
			x.indexes[i] = index
		}
	}
	return nil
}

// hold takes all parts of all indexes, which are in memory.
func (x *searched) hold() {
	n := 0
	for _, index := range x.indexes {
		n += len(index.parts)
	}
	parts := make([]rankedPart, 0, n)
	x.held = make([]*rankedPart, 0, n)
	for _, index := range x.indexes {
		x.stats.add(&index.stats)
		for i := range index.parts {
			parts = append(parts, rankedPart{part: index.parts[i].part, site: &index.site})
			x.held = append(x.held, &parts[len(parts)-1])
		}
	}
}

// stream prepares to read what is not in the cache again and again, but for what
// there is still room for.
func (x *searched) stream(ctx context.Context, sites []siteRow, rows map[int64][]segmentRow) error {
	x.streamed = make([]streamedSite, len(sites))
	most := int64(0)
	for _, list := range rows {
		for _, r := range list {
			most = max(most, r.bytes)
		}
	}
	x.memory = make([]byte, min(most, maxSegmentBytes))
	for i := range sites {
		s := &x.streamed[i]
		s.site, s.rows = &sites[i], rows[sites[i].id]
		if index := x.indexes[i]; index != nil {
			x.stats.add(&index.stats)
			continue
		}
		if room := x.store.indexes.room(); bytesOf(s.rows) <= room {
			fresh, err := loadIndexes(ctx, x.tx, sites[i:i+1], []*siteIndex{nil}, rows)
			if err != nil {
				return err
			}
			x.store.indexes.put(fresh[0])
			x.indexes[i] = fresh[0]
			x.stats.add(&fresh[0].stats)
			continue
		}
		var stats statistics
		err := x.eachOf(ctx, i, func(p *rankedPart) error {
			one := p.statistics()
			stats.add(&one)
			return nil
		})
		if err == nil {
			err = damagedIndex(*s.site, s.site.agrees(&stats))
		}
		if err != nil {
			return err
		}
		x.stats.add(&stats)
	}
	return nil
}

// each calls do for every part. Unless they are held, a part must not be used
// when do has returned.
func (x *searched) each(ctx context.Context, do func(*rankedPart) error) error {
	if x.streamed == nil {
		for _, p := range x.held {
			if err := do(p); err != nil {
				return damagedIndex(*p.site, err)
			}
		}
		return nil
	}
	for i := range x.streamed {
		if err := x.eachOf(ctx, i, do); err != nil {
			return err
		}
	}
	return nil
}

// eachOf is each for one streamed site.
func (x *searched) eachOf(ctx context.Context, i int, do func(*rankedPart) error) error {
	s := &x.streamed[i]
	if index := x.indexes[i]; index != nil {
		for _, p := range index.parts {
			if err := do(&rankedPart{part: p.part, site: s.site}); err != nil {
				return damagedIndex(*s.site, err)
			}
		}
		return nil
	}
	for _, r := range s.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := func() error {
			raw, err := readSegments(ctx, x.tx, []segmentRow{r}, x.memory)
			if err != nil {
				return err
			}
			seg, err := r.open(raw[r.id])
			if err != nil {
				return err
			}
			return do(&rankedPart{part: part{seg, r.dead}, site: s.site})
		}()
		if err != nil {
			return damagedIndex(*s.site, err)
		}
	}
	return nil
}

// rank returns the best candidates behind after, which may be nil, at most limit
// of them, in order.
func (x *searched) rank(ctx context.Context, sc *scratch, w *wanted, limit int, after *candidate) ([]candidate, error) {
	if !w.weighed {
		sc.found, sc.ends = sc.found[:0], sc.ends[:0]
		err := x.each(ctx, func(p *rankedPart) error {
			if x.streamed != nil {
				sc.found = sc.found[:0]
			}
			before := len(sc.found)
			if err := sc.find(w, &p.part); err != nil {
				return err
			}
			sc.ends = append(sc.ends, len(sc.found))
			return sc.count(w, &p.part, sc.found[before:])
		})
		if err != nil {
			return nil, err
		}
		w.weigh()
	}
	sc.norms.set(&w.stats)
	r := &ranking{best: best{limit: limit, after: after}, faint: best{limit: limit, after: after}}
	n, start := 0, 0
	err := x.each(ctx, func(p *rankedPart) error {
		if x.streamed == nil {
			found := sc.found[start:sc.ends[n]]
			start = sc.ends[n]
			n++
			return sc.score(ctx, w, p, found, r)
		}
		sc.found = sc.found[:0]
		if err := sc.find(w, &p.part); err != nil || len(sc.found) == 0 {
			return err
		}
		if err := sc.score(ctx, w, p, sc.found, r); err != nil {
			return err
		}
		r.letGo(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.sorted(), nil
}
