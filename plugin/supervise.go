package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	// maxFailures generations in a row that answered no call are a crash
	// loop: calls fail at once, and one start is tried per coolDown.
	maxFailures = 5
	coolDown    = 30 * time.Second
	// firstBackoff is the wait before the start after one such generation;
	// each further one doubles it.
	firstBackoff = 100 * time.Millisecond
)

// pulse says how a plugin that hangs is found out: it is asked every so often
// and killed after a number of answers that did not come in time.
type pulse struct {
	every, timeout time.Duration
	misses         int
}

var usualPulse = pulse{every: 10 * time.Second, timeout: 2 * time.Second, misses: 3}

// supervisor keeps one generation of a plugin at hand. A generation that has
// ended is replaced when the next call asks for one; all callers share one
// start.
type supervisor struct {
	spec  Spec
	pulse pulse

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

	closeOnce sync.Once
	closeErr  error
}

// start is one attempt to start a generation.
type start struct {
	done       chan struct{} // closed when the rest is set
	generation *generation
	err        error
}

func newSupervisor(spec Spec, pulse pulse) *supervisor {
	s := &supervisor{spec: spec, pulse: pulse}
	s.life, s.endLife = context.WithCancel(context.Background())
	return s
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
	case s.failures < maxFailures:
		return max(0, firstBackoff<<(s.failures-1)-since), nil
	case since >= coolDown:
		return 0, nil
	case !errors.Is(s.failure, provider.ErrUnavailable):
		return 0, s.failure
	}
	e := &StartError{
		Path: s.spec.name, Kind: provider.ErrUnavailable, Cause: ErrCrashLoop,
		Reason: fmt.Sprintf("%v (%d times in a row); the next start is tried in %v",
			ErrCrashLoop, s.failures, (coolDown - since).Round(time.Second)),
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
	select {
	case <-time.After(delay):
		ctx, cancel := context.WithTimeoutCause(s.life, s.spec.StartTimeout,
			fmt.Errorf("it was not ready within %v: %w", s.spec.StartTimeout, context.DeadlineExceeded))
		defer cancel()
		g, err = launch(ctx, s.spec)
	case <-s.life.Done():
	}
	switch {
	case g != nil:
		s.spec.Log.Info("the plugin started", "plugin", s.spec.name, "pid", g.process.ID())
	case s.life.Err() == nil:
		s.spec.Log.Warn("the plugin did not start", "plugin", s.spec.name, "error", err)
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
		s.failures, s.failed, s.failure = s.failures+1, time.Now(), err
		st.err = err
	default:
		s.serving, st.generation = g, g
		s.tasks.Go(func() { s.watch(g) })
	}
	close(st.done)
}

// watch sees g to its end: it notices when the process ends, and ends one that
// no longer answers.
func (s *supervisor) watch(g *generation) {
	ticker := time.NewTicker(s.pulse.every)
	defer ticker.Stop()
	for missed := 0; ; {
		select {
		case <-g.process.exited:
			s.retire(g)
			return
		case <-ticker.C:
		}
		if g.healthy(s.pulse.timeout) {
			missed = 0
			continue
		}
		if missed++; missed >= s.pulse.misses {
			s.spec.Log.Error("the plugin does not answer and is killed", "plugin", s.spec.name, "pid", g.process.ID(), "missed", missed)
			g.process.kill()
		}
	}
}

// lost takes g, which did not answer a call, out of service and returns the
// error of that call.
func (s *supervisor) lost(g *generation, err error) error {
	how := g.process.endedWithin(100 * time.Millisecond)
	if how == "" {
		how = err.Error()
	}
	s.retire(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	return fmt.Errorf("%w: %w: %s", provider.ErrUnavailable, errGone, how)
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
		s.spec.Log.Warn("the plugin ended; the next call starts it again", "plugin", s.spec.name,
			"pid", g.process.ID(), "how", how, "last_words", telling(g.log.lastWords()))
		g.stop()
	})
	if g.answered.Load() {
		s.failures = 0
		return
	}
	s.failures++
	s.failed = time.Now()
	s.failure = &StartError{
		Path: s.spec.name, Kind: provider.ErrUnavailable, LastWords: g.log.lastWords(),
		Reason: "it ended without having answered a call",
	}
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
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(askTime + exitTime + killTime):
		}
	})
	return s.closeErr
}

// healthy asks the service that every go-plugin process has for its health.
func (g *generation) healthy(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, err := healthpb.NewHealthClient(g.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	return err == nil
}
