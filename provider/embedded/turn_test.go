package embedded

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A writer that begins a transaction as soon as its last one has ended would
// have SQLite's lock nearly always. Two stores that are open on one file are to
// each other what two processes are.
func TestWhoWaitsToWriteIsNextAfterWhoIsWriting(t *testing.T) {
	switch runtime.GOOS {
	case "aix", "solaris", "illumos":
		t.Skip("there is no waiting room without file locks")
	}
	dir := t.TempDir()
	bulk, single := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	var written atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for {
			err := bulk.files.write(ctx, func(*session) error {
				time.Sleep(3 * time.Millisecond)
				written.Add(1)
				return nil
			})
			if err != nil {
				done <- err
				return
			}
		}
	}()
	var passed []int64 // transactions that came between asking and writing
	for range 31 {
		for at := written.Load(); written.Load() < at+2; {
			time.Sleep(time.Millisecond)
		}
		before := written.Load()
		err := single.files.write(t.Context(), func(*session) error {
			passed = append(passed, written.Load()-before)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the other writer ended with %v", err)
	}
	slices.Sort(passed)
	// It may have been writing, and have had its next turn before the seat
	// was taken.
	if median := passed[len(passed)/2]; median > 2 {
		t.Errorf("the other writer had %d turns in between, in the middle of %v; want at most 2", median, passed)
	}
	t.Logf("turns in between: %v", passed)
}

func TestTheSeatOfTheWaitingRoomIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	if f, err := openSeat(dir); err != nil {
		t.Skip("there is no waiting room here: ", err)
	} else {
		f.Close()
	}
	a, b := waitingRoom{dir: dir}, waitingRoom{dir: dir}
	leave, err := a.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gave := make(chan error, 1)
	go func() {
		_, err := b.enter(ctx)
		gave <- err
	}()
	time.Sleep(5 * time.Millisecond)
	cancel()
	if err := <-gave; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a seat that is taken, given up: %v, want %v", err, context.Canceled)
	}
	leave()
	leave, err = b.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
