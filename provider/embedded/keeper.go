package embedded

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// keeper does for an open store what must not be done inside calls: it moves
// the log into the file, and merges the segments of sites.
type keeper struct {
	store *Store
	calm  time.Duration // without a write, after which there is time to tidy up
	lease lease
	pokes chan struct{} // of at most one
	wrote atomic.Int64  // when this process last wrote, in nanoseconds since 1970

	logged  bool      // the log may have something that is not in the file, or is not needed
	seen    int64     // the generation at the last look
	tidied  int64     // the generation in which nothing was left to merge
	crowded time.Time // when crowded sites were last looked for
	failed  bool      // and that was logged
	skipped error     // what is wrong with an index that the last plan left out
}

const (
	// keeperCalm is the calm of a store that does not say otherwise.
	keeperCalm = 2 * time.Second
	// keeperRest is the least time between two looks.
	keeperRest = 50 * time.Millisecond
	// keeperIdle is the time between two looks for what other processes wrote.
	keeperIdle = 30 * time.Second
)

func newKeeper(s *Store, calm time.Duration) *keeper {
	if calm == 0 {
		calm = keeperCalm
	}
	return &keeper{store: s, calm: calm, lease: newLease("merge"), pokes: make(chan struct{}, 1), tidied: -1}
}

// poke tells the keeper that this process has written.
func (k *keeper) poke() {
	k.wrote.Store(time.Now().UnixNano())
	select {
	case k.pokes <- struct{}{}:
	default:
	}
}

// quiet returns how long this process has not written.
func (k *keeper) quiet() time.Duration { return time.Since(time.Unix(0, k.wrote.Load())) }

// run works until ctx ends.
func (k *keeper) run(ctx context.Context) {
	for next := k.calm; ; {
		select {
		case <-ctx.Done():
			return
		case <-k.pokes:
			k.logged = true
		case <-time.After(next):
		}
		var err error
		if next, err = k.look(ctx); ctx.Err() != nil {
			return
		}
		if err != nil && !k.failed {
			k.store.log.LogAttrs(ctx, slog.LevelWarn, "the store could not be tidied up; that is tried again from time to time",
				slog.Any("error", failure(ctx, "tidy up", err)))
		}
		k.failed = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(keeperRest):
		}
	}
}

// look does what is due, and returns when to look again if nothing is written.
func (k *keeper) look(ctx context.Context) (next time.Duration, err error) {
	if left := k.calm - k.quiet(); left > 0 {
		if err := k.moveLog(ctx, false); err != nil {
			return keeperIdle, err
		}
		if time.Since(k.crowded) > k.calm {
			k.crowded = time.Now()
			err = k.tidy(ctx, maxCrowd)
		}
		return max(left, keeperRest), err
	}
	generation, err := k.generation(ctx)
	if err != nil {
		return keeperIdle, err
	}
	if generation != k.seen {
		k.seen = generation
		return k.calm, nil // another process may be writing
	}
	var untidy error // which is no reason to leave the log as it is
	if generation != k.tidied {
		untidy = k.tidy(ctx, 1)
	}
	if k.logged {
		err = k.moveLog(ctx, true)
	}
	if err = cmp.Or(untidy, err); err != nil {
		return keeperIdle, err
	}
	if k.logged || k.seen != k.tidied {
		return k.calm, nil
	}
	return keeperIdle, nil
}

// generation returns the generation that the store has.
func (k *keeper) generation(ctx context.Context) (g int64, err error) {
	err = k.store.files.read(ctx, func(tx *session) error {
		own, err := readStoreRow(ctx, tx)
		g = own.generation
		return err
	})
	return g, err
}
