package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// guard stands between gRPC and the provider: errors become gRPC's, a panic
// becomes an error, and calls are bounded in number and in time.
type guard struct {
	log      *slog.Logger
	maxCalls int           // of the contract at once
	maxTime  time.Duration // of one call

	mu       sync.Mutex
	inFlight int // of the contract
	others   int // Configure and Close, which are always let in
	draining bool
	idle     chan struct{} // closed when draining and nothing is in flight
}

func newGuard(log *slog.Logger, opt ServeOptions) *guard {
	g := &guard{log: log, maxCalls: opt.MaxCalls, maxTime: opt.MaxCallTime}
	if g.maxCalls <= 0 {
		g.maxCalls = DefaultMaxCalls
	}
	if g.maxTime <= 0 {
		g.maxTime = DefaultMaxCallTime
	}
	return g
}

func (g *guard) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	leave, err := g.enter(info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer leave()
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, wire.ErrorToStatus(g.panicked(info.FullMethod, v))
		}
	}()
	capped, cancel := context.WithTimeout(ctx, g.maxTime)
	defer cancel()
	if reply, err = next(capped, req); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && capped.Err() != nil {
			err = fmt.Errorf("the plugin lets no call take longer than %v: %w", g.maxTime, context.DeadlineExceeded)
		}
		return nil, wire.ErrorToStatus(err)
	}
	return reply, nil
}

// panicked logs a panic and returns what the caller is told. What was thrown
// may hold the text of a document, so it is logged only where it is a message
// of the Go runtime, or for debugging.
func (g *guard) panicked(method string, v any) error {
	id := fmt.Sprintf("%012x", rand.Uint64N(1<<48))
	what := fmt.Sprintf("%T", v)
	if e, ok := v.(runtime.Error); ok {
		what = e.Error()
	}
	g.log.Error("the provider panicked", "request", id, "method", method, "panic", what, "stack", string(debug.Stack()))
	g.log.Debug("the value of a panic", "request", id, "value", fmt.Sprint(v))
	return provider.Errorf(provider.ErrInternal, "the provider panicked; its log tells more under request %s", id)
}

// enter lets a call in, to be left when it is done, or returns what gRPC is to
// answer it with.
func (g *guard) enter(method string) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return nil, wire.GoneStatus("the plugin is stopping")
	}
	count := &g.inFlight
	switch method {
	case pb.Provider_Configure_FullMethodName, pb.Provider_Close_FullMethodName:
		count = &g.others
	default:
		if g.inFlight >= g.maxCalls {
			return nil, wire.ErrorToStatus(provider.Errorf(provider.ErrUnavailable,
				"%d calls are in flight, the most that the plugin takes at once; try again when one has ended", g.inFlight))
		}
	}
	*count++
	return func() { g.leave(count) }, nil
}

func (g *guard) leave(count *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*count--
	if g.draining && g.inFlight+g.others == 0 {
		close(g.idle)
	}
}

// drain refuses further calls and waits for those in flight, at most atMost.
func (g *guard) drain(atMost time.Duration) {
	g.mu.Lock()
	g.draining, g.idle = true, make(chan struct{})
	if g.inFlight+g.others == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	select {
	case <-g.idle:
	case <-time.After(atMost):
	}
}
