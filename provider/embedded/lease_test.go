package embedded

import (
	"testing"
	"time"
)

// A lease is nobody's when it has run out, and when it ends later than any that
// could be taken: then the clock of its holder was wrong, or ours was.
func TestALeaseOfAClockThatWasWrongIsTaken(t *testing.T) {
	s := open(t, Options{})
	other, mine := newLease("merge"), newLease("merge")
	for _, c := range []struct {
		name string
		left time.Duration
		want bool
	}{
		{"one that runs", leaseTime / 2, false},
		{"one that has run out", -time.Second, true},
		{"one of a clock that was ahead", 24 * time.Hour, true},
		{"one of a clock that was behind", -24 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got bool
			err := s.files.write(t.Context(), func(tx *session) (err error) {
				if _, err := tx.exec(t.Context(), "DELETE FROM lease"); err != nil {
					return err
				}
				if _, err := other.take(t.Context(), tx); err != nil {
					return err
				}
				until := time.Now().Add(c.left).UnixMilli()
				if _, err := tx.exec(t.Context(), "UPDATE lease SET until = ?", until); err != nil {
					return err
				}
				got, err = mine.take(t.Context(), tx)
				return err
			})
			if err != nil || got != c.want {
				t.Errorf("it is taken: %t, %v; want %t", got, err, c.want)
			}
		})
	}
}
