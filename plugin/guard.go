package plugin

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// guard stands between gRPC and the provider: errors become gRPC's, a panic
// becomes an error, and calls in flight are counted.
type guard struct {
	log *slog.Logger

	mu       sync.Mutex
	inFlight int
	draining bool
	idle     chan struct{} // closed when draining and nothing is in flight
}

func (g *guard) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	if !g.enter() {
		return nil, wire.GoneStatus("the plugin is stopping")
	}
	defer g.leave()
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, wire.ErrorToStatus(g.panicked(info.FullMethod, v))
		}
	}()
	if reply, err = next(ctx, req); err != nil {
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

func (g *guard) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return false
	}
	g.inFlight++
	return true
}

func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if g.draining && g.inFlight == 0 {
		close(g.idle)
	}
}

// drain refuses further calls and waits for those in flight, at most atMost.
func (g *guard) drain(atMost time.Duration) {
	g.mu.Lock()
	g.draining, g.idle = true, make(chan struct{})
	if g.inFlight == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	select {
	case <-g.idle:
	case <-time.After(atMost):
	}
}
