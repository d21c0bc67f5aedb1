package embedded

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CompactReport says what Compact did.
type CompactReport struct {
	Before, After int64 // bytes of the file and its log
	Merged        int   // index segments that were written anew, as fewer or without what was dead
	// LogInUse is set when another process went on reading a state from
	// before. What was deleted may then still be in the log or the file;
	// it is gone after the next Compact without such a reader.
	LogInUse bool
}

// Compact makes the store as small as it can be: the segments of each site
// become one, or as few as maxMergeBytes allows; then SQLite writes the whole
// file anew, without gaps. Nothing that was deleted or replaced before is left
// in the file or its log afterwards.
//
// It may be called while others use the store. Merging is done in many short
// transactions. Writing the file anew is one, and takes some 20 seconds for a
// gigabyte: searches and lookups go on, and writers wait for it; those whose
// patience ends before get an error that matches ErrUnavailable, and may try
// again. It takes as much free space beside the file as the compact file has,
// and as much again where SQLite keeps temporary files (the environment
// variable SQLITE_TMPDIR, else TMPDIR, else /var/tmp or /tmp). If space runs
// out or the process dies, the store is what it was.
func (s *Store) Compact(ctx context.Context) (*CompactReport, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	report := new(CompactReport)
	report.Before = fileBytes(s.path)
	if report.Merged, err = s.mergeAll(ctx); err == nil {
		report.LogInUse, err = s.rewrite(ctx)
	}
	if err != nil {
		return nil, failure(ctx, "compact", err)
	}
	report.After = fileBytes(s.path)
	return report, nil
}

// mergeAll merges the segments of all sites and returns how many it wrote anew.
func (s *Store) mergeAll(ctx context.Context) (merged int, err error) {
	after := ""
	for more := true; more; {
		var next string
		n := 0
		err := s.mending(ctx, func() error {
			return s.files.write(ctx, func(tx *session) (err error) {
				n, next, more, err = s.mergeSome(ctx, tx, after)
				if err == nil && n == 0 {
					err = errNothingToDo
				}
				return err
			})
		})
		if err != nil {
			return merged, err
		}
		merged += n
		after = next
	}
	return merged, nil
}

// mergeSome merges segments of sites whose name is not less than from, as many
// as one transaction should rewrite. next is where to go on, if there is more.
func (s *Store) mergeSome(ctx context.Context, tx *session, from string) (merged int, next string, more bool, err error) {
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return 0, "", false, err
	}
	w := newWrite(ctx, tx, s, c)
	var bytes int64
	first, _ := slices.BinarySearchFunc(c.sites, from, func(r siteRow, name string) int { return strings.Compare(r.name, name) })
	for _, site := range c.sites[first:] {
		rows, err := segmentRows(ctx, tx, site.id)
		if err != nil {
			return 0, "", false, damagedIndex(site, err)
		}
		for _, group := range worthMerging(rows) {
			if bytes >= maxMergeBytes {
				return merged, site.name, true, w.finish(false) // the rest of the site is next
			}
			if err := w.mergeGroup(site, group); err != nil {
				return 0, "", false, damagedIndex(site, err)
			}
			merged += len(group)
			for _, r := range group {
				bytes += r.bytes
			}
		}
	}
	return merged, "", false, w.finish(false)
}

// worthMerging returns the groups of a site's segments that are better one
// segment each: as large as maxMergeBytes allows, and without dead documents.
func worthMerging(rows []segmentRow) (groups [][]segmentRow) {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b segmentRow) int { return cmp.Compare(a.bytes, b.bytes) })
	var group []segmentRow
	var bytes int64
	flush := func() {
		if len(group) > 1 || len(group) == 1 && group[0].dead.count() > 0 {
			groups = append(groups, group)
		}
		group, bytes = nil, 0
	}
	for _, r := range sorted {
		if len(group) > 0 && bytes+r.bytes > maxMergeBytes {
			flush()
		}
		group = append(group, r)
		bytes += r.bytes
	}
	flush()
	return groups
}

// mergeGroup makes one segment of some of a site, or none where all their
// documents are dead.
func (w *write) mergeGroup(site siteRow, group []segmentRow) error {
	r := &siteWrite{site: site, absorbed: group}
	for _, row := range group {
		if row.living() == 0 {
			continue
		}
		seg, err := loadSegment(w.ctx, w.tx, row)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, part{seg, row.dead})
	}
	if err := r.merge(); err != nil {
		return err
	}
	return r.write(w)
}

// rewrite has SQLite write the file anew, and empties its log.
func (s *Store) rewrite(ctx context.Context) (logInUse bool, err error) {
	err = s.files.alone(ctx, func(tx *session) error {
		// All other temporary data is small and stays in memory; this is
		// as large as the store.
		if _, err := tx.exec(ctx, "PRAGMA temp_store = FILE"); err != nil {
			return err
		}
		if err := tx.begin(ctx, "VACUUM"); err != nil {
			return err
		}
		// Waiting for readers holds up writers.
		if _, err := tx.exec(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(logWait.Milliseconds(), 10)); err != nil {
			return err
		}
		var busy, frames, moved int
		if err := tx.row(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			if isBusy(err) {
				logInUse = true
				return nil
			}
			return err
		}
		logInUse = busy != 0
		return nil
	})
	return logInUse, err
}

// logWait is how long Compact waits for those who read a state from before.
const logWait = 2 * time.Second

// alone runs do with a connection of its own, outside of any transaction. No
// other call of this store writes meanwhile.
func (c *connections) alone(ctx context.Context, do func(*session) error) error {
	select {
	case w := <-c.writer:
		defer func() { c.writer <- w }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s, err := c.open(ctx, reading)
	if err != nil {
		return err
	}
	defer s.discard()
	return do(s)
}
