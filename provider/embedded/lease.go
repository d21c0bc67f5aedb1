package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"
)

// leaseTime is how long a lease runs that is not renewed, as when its holder
// died.
const leaseTime = 30 * time.Second

// lease is the right to do something in the background that only one of the
// processes that use a store should do. Nothing that is written rests on it: it
// only saves work that would be done twice.
type lease struct {
	name   string
	holder []byte // nobody else's
}

func newLease(name string) lease {
	holder := make([]byte, 16)
	_, _ = rand.Read(holder) // never fails
	return lease{name, holder}
}

// take takes the lease, or renews it. It reports false where another holds it.
func (l lease) take(ctx context.Context, tx *session) (bool, error) {
	var holder []byte
	var until int64
	err := tx.row(ctx, "SELECT holder, until FROM lease WHERE name = ?", l.name).Scan(&holder, &until)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	// One that ends later than any lease that is taken now is of a clock that
	// was wrong.
	now := time.Now()
	if left := time.UnixMilli(until).Sub(now); err == nil && !bytes.Equal(holder, l.holder) && left > 0 && left <= leaseTime {
		return false, nil
	}
	_, err = tx.exec(ctx, "INSERT INTO lease (name, holder, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until",
		l.name, l.holder, now.Add(leaseTime).UnixMilli())
	return err == nil, err
}

// release gives the lease up, if it is held.
func (l lease) release(ctx context.Context, tx *session) error {
	r, err := tx.exec(ctx, "DELETE FROM lease WHERE name = ? AND holder = ?", l.name, l.holder)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errNothingToDo
	}
	return nil
}
