package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// Plugin is a provider in a process of its own. When that process ends it is
// started again at the next call: Search, Get, List, Sites and Info in flight
// are repeated once, Delete fails with ErrUnavailable, and a Put reports what
// it had sent as Unknown. Every method is safe for concurrent use.
type Plugin struct {
	*supervisor
}

// Open starts the plugin and configures it. Its errors are those of the
// provider's opening, a *StartError, or about the Spec.
func Open(ctx context.Context, spec Spec) (*Plugin, error) {
	spec, err := spec.complete()
	if err != nil {
		return nil, err
	}
	p := &Plugin{newSupervisor(spec)}
	p.tasks.Go(func() {
		if n := sweepSocketDirs(); n > 0 {
			spec.Log.Info("removed socket directories of hosts that were killed", "directories", n)
		}
	})
	if _, err := p.current(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Search implements provider.Provider.
func (p *Plugin) Search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	q, err := q.Check()
	if err != nil {
		return nil, err
	}
	return read(ctx, p, func(ctx context.Context, c *client) (*provider.Result, error) { return c.search(ctx, q) })
}

// Get implements provider.Provider.
func (p *Plugin) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	l, err := l.Check()
	if err != nil {
		return nil, err
	}
	return read(ctx, p, func(ctx context.Context, c *client) ([]provider.Object, error) { return c.get(ctx, l) })
}

// List implements provider.Provider.
func (p *Plugin) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	q, err := q.Check()
	if err != nil {
		return nil, err
	}
	return read(ctx, p, func(ctx context.Context, c *client) ([]provider.Entry, error) { return c.list(ctx, q) })
}

// Sites implements provider.Provider.
func (p *Plugin) Sites(ctx context.Context) ([]provider.Site, error) {
	return read(ctx, p, func(ctx context.Context, c *client) ([]provider.Site, error) { return c.sites(ctx) })
}

// Info implements provider.Provider.
func (p *Plugin) Info(ctx context.Context) (provider.Info, error) {
	return read(ctx, p, func(ctx context.Context, c *client) (provider.Info, error) { return c.info(ctx) })
}

// Put implements provider.Provider. Documents that had been sent when the
// plugin or the context ended are Unknown, with the reason in PutResult.Err:
// they may have been kept.
func (p *Plugin) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	b, err := newBatch(docs)
	if err != nil {
		return nil, err
	}
	results, sent, err := once(ctx, p, func(ctx context.Context, c *client) ([]provider.PutResult, error) { return c.put(ctx, b.sent) })
	switch {
	case err == nil:
		return b.answered(results), nil
	case sent:
		return b.unanswered(err), nil
	}
	return nil, err
}

// Delete implements provider.Provider.
func (p *Plugin) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	sel, err := sel.Check()
	if err != nil {
		return 0, err
	}
	n, _, err := once(ctx, p, func(ctx context.Context, c *client) (int, error) { return c.delete(ctx, sel) })
	return n, err
}

// Close closes the provider and ends its process, in bounded time.
func (p *Plugin) Close() error { return p.close() }

// read makes a call that may be repeated: once, on the next generation.
func read[T any](ctx context.Context, p *Plugin, f func(context.Context, *client) (T, error)) (T, error) {
	v, _, err := call(ctx, p, 2, f)
	return v, err
}

// once makes a call that must not be repeated. When it fails, sent reports
// whether the plugin may have done what was asked without having said so.
func once[T any](ctx context.Context, p *Plugin, f func(context.Context, *client) (T, error)) (v T, sent bool, err error) {
	return call(ctx, p, 1, f)
}

// call makes a call on as many generations, one after the other, as are gone
// before they have answered.
func call[T any](caller context.Context, p *Plugin, generations int, f func(context.Context, *client) (T, error)) (v T, sent bool, err error) {
	if err := caller.Err(); err != nil {
		return v, false, err
	}
	leave, err := p.enter(caller)
	if err != nil {
		return v, false, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(caller, p.spec.Limits.CallTimeout)
	defer cancel()
	var lost *gone
	for range generations {
		v, sent, err = try(ctx, p, f)
		if lost = nil; !errors.As(err, &lost) {
			break
		}
	}
	if lost != nil {
		return v, sent, p.lost(ctx, lost)
	}
	if err == context.DeadlineExceeded && caller.Err() == nil && !sameDeadline(ctx, caller) {
		err = fmt.Errorf("the plugin gave no answer within %v: %w", p.spec.Limits.CallTimeout, context.DeadlineExceeded)
	}
	return v, sent, err
}

// try makes a call on the generation that serves.
func try[T any](ctx context.Context, p *Plugin, f func(context.Context, *client) (T, error)) (v T, sent bool, err error) {
	g, err := p.current(ctx)
	if err != nil {
		return v, false, err
	}
	v, err = f(ctx, g.client)
	switch {
	case wire.Late(err):
		// gRPC may know before the context does.
		g.doubt()
		return v, true, context.DeadlineExceeded
	case err != nil && !wire.Answered(err) && ctx.Err() != nil:
		return v, true, ctx.Err()
	case wire.Gone(err):
		p.retire(g)
		return v, true, &gone{g, err}
	}
	g.answered.Store(true)
	if err != nil {
		return v, !wire.Answered(err), wire.ErrorFromStatus(err)
	}
	return v, false, nil
}

func sameDeadline(a, b context.Context) bool {
	at, hasA := a.Deadline()
	bt, hasB := b.Deadline()
	return hasA == hasB && at.Equal(bt)
}

var _ provider.Provider = (*Plugin)(nil)
