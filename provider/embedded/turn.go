package embedded

import (
	"cmp"
	"context"
	"os"
	"sync/atomic"
	"time"
)

// SQLite lets one connection write at a time, and whoever asks at the right
// moment is next: a process that writes one transaction after the other asks
// again at once, and the others, which look now and then, may wait for ever. So
// a process that wants to write enters a waiting room first. It has one seat,
// an operating system's lock, which is kept only until SQLite's own is had: the
// one who wrote last cannot ask for that before the one who sits there has it.
// The lock of a process that is killed is let go of by the system.
//
// Nothing rests on this but fairness. Where the lock cannot be had, SQLite's is
// waited for without.

// waitingRoom is the waiting room of the store in a directory.
type waitingRoom struct {
	dir    string
	closed atomic.Pointer[time.Time] // until then it is passed by; nil: it is open
}

const (
	// seatWait is how long the seat is waited for. It is longer than many
	// turns take, and ends the wait for a process that sits there and was
	// stopped, or for one that has locked the directory for reasons of its
	// own, as flock(1) does. Such a one may be there for long, and the next
	// writes do not wait for it: the room is passed by for passBy.
	seatWait = 5 * time.Second
	passBy   = time.Minute
	// The wait between two looks at a lock grows from shortLook to longLook.
	shortLook = 200 * time.Microsecond
	longLook  = 3 * time.Millisecond
)

// enter waits for the seat. leave gives it up.
func (r *waitingRoom) enter(ctx context.Context) (leave func(), err error) {
	none := func() {}
	if until := r.closed.Load(); until != nil && time.Now().Before(*until) {
		return none, nil
	}
	f, err := openSeat(r.dir)
	if err != nil {
		return none, nil
	}
	for looks := newLooks(seatWait); ; {
		taken, err := takeSeat(f)
		switch {
		case taken:
			return func() { f.Close() }, nil
		case err != nil || !looks.another(ctx):
			f.Close()
			if err == nil && ctx.Err() == nil {
				until := time.Now().Add(passBy)
				r.closed.Store(&until)
			}
			return none, ctx.Err()
		}
	}
}

// seat is a file that is locked as a whole. Closing it lets go of the lock.
type seat = *os.File

// looks are the times at which a lock is looked at until it is free.
type looks struct {
	next  time.Duration
	until time.Time
}

func newLooks(patience time.Duration) *looks {
	return &looks{shortLook, time.Now().Add(patience)}
}

// another waits for the next look. It reports false where ctx has ended, or the
// patience.
func (l *looks) another(ctx context.Context) bool {
	if ctx.Err() != nil || time.Now().After(l.until) {
		return false
	}
	timer := time.NewTimer(l.next)
	defer timer.Stop()
	l.next = min(l.next*5/4, longLook)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// beginWriting begins a transaction that writes, when it is this connection's
// turn. A call with a deadline waits until then, another for busyWait.
func (c *connections) beginWriting(ctx context.Context, s *session) error {
	leave, err := c.room.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	patience := busyWait
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline) + busyWait // ctx ends it
	}
	for looks := newLooks(patience); ; {
		// No look lasts; giving one up half-way would cost the connection.
		_, err := s.exec(context.WithoutCancel(ctx), writing.begin)
		if err == nil || !isBusy(err) {
			return err
		}
		if !looks.another(ctx) {
			return cmp.Or(ctx.Err(), err)
		}
	}
}
