package embedded

import (
	"context"
	"os"
)

// Stats is the size of a store and of its parts. Bytes are as they are stored.
type Stats struct {
	Path             string
	Version          int // of the file's layout, see StoreVersion
	Sites, Documents int64
	Outdated         int64 // documents that are indexed under other rules than this version's
	Segments         int64 // pieces that the index is in
	Tombstones       int64 // entries of the index whose documents are no more
	IndexBytes       int64
	ObjectBytes      int64 // of the objects alone, packed
	FreeBytes        int64 // of the file that nothing uses
	FileBytes        int64
	LogBytes         int64 // of the write-ahead log
}

// Stats counts what is in the store, in one state of it. It reads through the
// table of documents, though not their objects.
func (s *Store) Stats(ctx context.Context) (*Stats, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	st := &Stats{Path: s.path}
	err = s.files.read(ctx, func(tx *session) error { return st.count(ctx, tx) })
	if err != nil {
		return nil, failure(ctx, "count", err)
	}
	st.FileBytes, st.LogBytes = size(s.path), size(s.path+"-wal")
	return st, nil
}

func (st *Stats) count(ctx context.Context, tx *session) error {
	if err := tx.row(ctx, "PRAGMA user_version").Scan(&st.Version); err != nil {
		return err
	}
	if err := tx.row(ctx, "SELECT f.freelist_count * p.page_size FROM pragma_freelist_count AS f, pragma_page_size AS p").Scan(&st.FreeBytes); err != nil {
		return err
	}
	err := tx.row(ctx, `SELECT count(*), coalesce(sum(version <> ? OR site IN (SELECT site FROM segment WHERE format <> ?)), 0), coalesce(sum(length(schema)), 0)
		FROM document`, documentVersion, segmentFormat).
		Scan(&st.Documents, &st.Outdated, &st.ObjectBytes)
	if err != nil {
		return err
	}
	c, err := new(catalogueCache).load(ctx, tx)
	if err != nil {
		return err
	}
	st.Sites = int64(len(c.sites))
	for _, site := range c.sites {
		rows, _, err := readSegmentRows(ctx, tx, site.id)
		if err != nil {
			return err
		}
		for _, r := range rows {
			st.Segments++
			st.IndexBytes += r.bytes
			st.Tombstones += int64(r.dead.count())
		}
	}
	return nil
}

// fileBytes returns the size of a store's file and its log.
func fileBytes(path string) int64 { return size(path) + size(path+"-wal") }

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
