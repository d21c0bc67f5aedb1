package goodmem

import (
	"context"
	"errors"
	"sync"
)

// flight finds something out once, however many ask for it at the same time.
// What failed is found out again by whoever asks next. The zero flight is ready.
type flight[T any] struct {
	mu      sync.Mutex
	known   bool
	value   T
	current *finding[T]
}

type finding[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get returns what find found. Those that wait share its error, except that the
// first one giving up does not fail the others: the next of them goes on.
func (f *flight[T]) get(ctx context.Context, find func(context.Context) (T, error)) (T, error) {
	var none T
	for {
		f.mu.Lock()
		if f.known {
			defer f.mu.Unlock()
			return f.value, nil
		}
		now := f.current
		if now == nil {
			now = &finding[T]{done: make(chan struct{})}
			f.current = now
			f.mu.Unlock()
			return f.run(ctx, now, find)
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return none, ctx.Err()
		case <-now.done:
		}
		if !errors.Is(now.err, context.Canceled) && !errors.Is(now.err, context.DeadlineExceeded) {
			return now.value, now.err
		}
	}
}

func (f *flight[T]) run(ctx context.Context, now *finding[T], find func(context.Context) (T, error)) (T, error) {
	now.err = errors.New("the search for it did not end") // should find panic
	defer func() {
		f.mu.Lock()
		if now.err == nil {
			f.known, f.value = true, now.value
		}
		f.current = nil
		f.mu.Unlock()
		close(now.done)
	}()
	now.value, now.err = find(ctx)
	return now.value, now.err
}

// forget has what is known found out again, unless that happened already: it
// is what stale says of it.
func (f *flight[T]) forget(stale func(T) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known && stale(f.value) {
		var none T
		f.known, f.value = false, none
	}
}
