package embedded

import (
	"context"
	"strconv"
	"time"
)

// SQLite moves what is in the log into the file inside the commit that makes
// the log long enough, which holds up the call that commits, and all others
// that write. The keeper does it instead, beside them; a log that grows all the
// same is held down by the commits (see dataSource).

// The lengths of the log, in pages, from which the keeper moves it: beside
// those who read and write; and, where they never leave it a moment in which
// the log could begin anew, with writers held up for a moment.
const (
	moveLogFrom = 1_000
	stopLogAt   = 6_000
	// stopTime is how long writers are held up at most.
	stopTime = 100 * time.Millisecond
)

// moveLog moves the log into the file. calm says that nobody is writing: then
// all of it is moved, and the log's file emptied, in which there would still be
// what has been deleted since.
func (k *keeper) moveLog(ctx context.Context, calm bool) error {
	return k.store.files.keep(ctx, func(s *session) error {
		length, moved, err := s.checkpoint(ctx, "NOOP", 0)
		if err != nil || !calm && length-moved < moveLogFrom {
			return err
		}
		if length > moved {
			if length, moved, err = s.checkpoint(ctx, "PASSIVE", 0); err != nil {
				return err
			}
		}
		switch {
		case calm:
			if length, _, err = s.checkpoint(ctx, "TRUNCATE", 0); err == nil && length == 0 {
				k.logged = false
			}
		case length >= stopLogAt && moved < length:
			leave, waitErr := k.store.files.room.enter(ctx)
			if waitErr != nil {
				return waitErr
			}
			defer leave()
			_, _, err = s.checkpoint(ctx, "RESTART", stopTime)
		}
		return err
	})
}

// checkpoint moves the log into the file, in one of SQLite's ways, and returns
// the length of the log and how much of it is moved, in pages. What others hold
// it waits for as long as patience is.
func (s *session) checkpoint(ctx context.Context, way string, patience time.Duration) (length, moved int, err error) {
	if _, err := s.exec(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(patience.Milliseconds(), 10)); err != nil {
		return 0, 0, err
	}
	var busy int
	err = s.row(ctx, "PRAGMA wal_checkpoint("+way+")").Scan(&busy, &length, &moved)
	if isBusy(err) {
		return 1, 0, nil // another process is at it
	}
	return length, moved, err
}

// keep runs do on a connection of its own, outside of any transaction.
func (c *connections) keep(ctx context.Context, do func(*session) error) error {
	return c.with(ctx, c.keepers, keeping, do)
}
