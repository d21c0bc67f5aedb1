package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// firstBackoff is the wait before the start after a generation that answered
// no call; each further one in a row doubles it.
const firstBackoff = 100 * time.Millisecond

// supervisor keeps one generation of a plugin at hand. A generation that has
// ended is replaced when the next call asks for one; all callers share one
// start.
type supervisor struct {
	spec   Spec
	events *events
	slots  chan struct{} // holds one for each call in flight

	life    context.Context // ends with close
	endLife context.CancelFunc
	tasks   sync.WaitGroup // goroutines that see a generation to its end

	mu       sync.Mutex
	serving  *generation // nil when there is none
	starting *start      // nil when none is under way
	failures int         // generations in a row that answered no call
	failed   time.Time   // when the last of them ended
	failure  error       // and how
	closed   bool

	generations int         // started so far
	last        *executable // of the last that served

	closeOnce sync.Once
	closeErr  error
}

// start is one attempt to start a generation.
type start struct {
	done       chan struct{} // closed when the rest is set
	generation *generation
	err        error
}

func newSupervisor(spec Spec) *supervisor {
	s := &supervisor{spec: spec, events: newEvents(spec), slots: make(chan struct{}, spec.Limits.MaxCalls)}
	s.life, s.endLife = context.WithCancel(context.Background())
	return s
}

// enter waits until a call may be made, and returns what ends it.
func (s *supervisor) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.slots <- struct{}{}:
	default:
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.life.Done():
			return nil, errClosed
		}
	}
	return func() { <-s.slots }, nil
}

// current returns the generation that serves, starting one if there is none.
func (s *supervisor) current(ctx context.Context) (*generation, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if g := s.serving; g != nil {
		s.mu.Unlock()
		return g, nil
	}
	if s.starting == nil {
		delay, err := s.backoff()
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		s.starting = &start{done: make(chan struct{})}
		st := s.starting
		s.tasks.Go(func() { s.start(st, delay) })
	}
	st := s.starting
	s.mu.Unlock()

	select {
	case <-st.done:
		return st.generation, st.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// backoff returns how long to wait before the next start, or the error that
// there is to be none for now. The caller holds mu.
func (s *supervisor) backoff() (time.Duration, error) {
	since := time.Since(s.failed)
	switch {
	case s.failures == 0:
		return 0, nil
	case s.failures < s.spec.Limits.MaxFailures:
		return max(0, firstBackoff<<(s.failures-1)-since), nil
	case since >= s.spec.Limits.CoolDown:
		return 0, nil
	case !errors.Is(s.failure, provider.ErrUnavailable):
		return 0, s.failure
	}
	e := &StartError{
		Path: s.spec.name, Kind: provider.ErrUnavailable, Cause: ErrCrashLoop,
		Reason: fmt.Sprintf("%v (%d times in a row); the next start is tried in %v",
			ErrCrashLoop, s.failures, (s.spec.Limits.CoolDown - since).Round(time.Second)),
	}
	var last *StartError
	if errors.As(s.failure, &last) {
		e.Reason += "; the last time: " + last.Reason
		e.LastWords = last.LastWords
	}
	return 0, e
}

// start starts a generation after a delay. It is not bound to the context of
// any caller, because all of them share it.
func (s *supervisor) start(st *start, delay time.Duration) {
	var g *generation
	var err error
	s.mu.Lock()
	s.generations++
	number := s.generations
	s.mu.Unlock()
	select {
	case <-time.After(delay):
		g, err = s.launch(number)
	case <-s.life.Done():
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = nil
	switch {
	case s.closed:
		if g != nil {
			s.tasks.Go(func() { g.stop() })
		}
		st.err = errClosed
	case err != nil:
		s.events.tell(Event{Kind: StartFailed, Generation: number, Err: err})
		s.fail(number, err)
		st.err = err
	default:
		upgraded := s.last != nil && !sameVersion(s.last.info, g.from.info)
		s.events.tell(Event{Kind: Serving, Generation: number, PID: g.process.pid(), Upgraded: upgraded})
		s.serving, s.last, st.generation = g, g.from, g
		s.tasks.Go(func() { s.watch(g) })
	}
	close(st.done)
}

// launch starts a generation, and once more if the executable was being
// replaced.
func (s *supervisor) launch(number int) (g *generation, err error) {
	limit := s.spec.Limits.StartTimeout
	ctx, cancel := context.WithTimeoutCause(s.life, limit,
		fmt.Errorf("it was not ready within %v: %w", limit, context.DeadlineExceeded))
	defer cancel()
	s.events.tell(Event{Kind: Starting, Generation: number})
	for range 2 {
		if g, err = launch(ctx, s.spec); !errors.Is(err, ErrReplaced) {
			break
		}
	}
	if g != nil {
		g.number = number
	}
	return g, err
}

// fail counts a generation that answered no call. The caller holds mu.
func (s *supervisor) fail(number int, err error) {
	s.failures, s.failed, s.failure = s.failures+1, time.Now(), err
	if s.failures == s.spec.Limits.MaxFailures {
		s.events.tell(Event{Kind: CrashLoop, Generation: number, Err: err},
			slog.Int("failures", s.failures), slog.Duration("next_try_in", s.spec.Limits.CoolDown))
	}
}

// gone is the error of a call whose plugin ended before it had answered.
type gone struct {
	generation *generation
	err        error // gRPC's
}

func (e *gone) Error() string { return e.err.Error() }

// lost says how the plugin of a call ended. That takes a moment to be known,
// which a call that is repeated elsewhere does not wait for.
func (s *supervisor) lost(ctx context.Context, e *gone) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	select {
	case <-e.generation.process.exited:
	case <-ctx.Done():
	case <-time.After(500 * time.Millisecond):
	}
	how := e.generation.process.endedWithin(0)
	if how == "" {
		how = e.err.Error()
	}
	return provider.Errorf(provider.ErrUnavailable, "the plugin ended during the call: %s", how)
}

// retire takes g out of service, once, and ends what is left of it.
func (s *supervisor) retire(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving != g {
		return
	}
	s.serving = nil
	s.tasks.Go(func() {
		// A plugin that was told to end still finishes calls.
		how := g.process.endedWithin(drainTime)
		if how == "" {
			how = "it no longer answers"
		}
		s.events.tell(Event{Kind: Ended, Generation: g.number, PID: g.process.pid(), Err: s.ended(g, how)})
		g.stop()
	})
	if g.answered.Load() {
		s.failures = 0
		return
	}
	s.fail(g.number, s.ended(g, "it ended without having answered a call"))
}

func (s *supervisor) ended(g *generation, how string) error {
	return &StartError{Path: s.spec.name, Kind: provider.ErrUnavailable, Reason: how, LastWords: g.log.lastWords()}
}

// close ends the plugin for good.
func (s *supervisor) close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		g := s.serving
		s.serving = nil
		s.mu.Unlock()
		s.endLife()
		if g != nil {
			s.closeErr = g.stop()
		}
		ended := make(chan struct{})
		go func() {
			s.tasks.Wait()
			s.events.tell(Event{Kind: Closed, Generation: s.generations})
			s.events.wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(askTime + exitTime + killTime):
		}
	})
	return s.closeErr
}
