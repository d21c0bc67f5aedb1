package goodmem

import (
	"context"
	"net/http"
	"net/url"

	"github.com/siteprovider/siteprovider/provider"
)

// Each probe is a text to one dialect and no expression at all to the other,
// also to a reader that passes over a quote that it cannot pair: in the wrong
// dialect a bare number stands between two texts.
const (
	backslashProbe = `CAST(val('$.site') AS TEXT) = '\' 1 \''`
	doublingProbe  = `CAST(val('$.site') AS TEXT) = '''1'''`
)

// filterText writes e for the server. It asks the server for its dialect, once,
// where that makes a difference to e; space is one that can be listed. A server
// that speaks neither dialect gets no such filter.
func (c *Client) filterText(ctx context.Context, space string, e Expr) (string, error) {
	if e.kind == broken || !e.needsDialect() {
		return e.render(AnyDialect)
	}
	d, err := c.dialect.get(ctx, func(ctx context.Context) (Dialect, error) { return c.findDialect(ctx, space) })
	if err != nil {
		return "", err
	}
	return e.render(d)
}

func (c *Client) findDialect(ctx context.Context, space string) (Dialect, error) {
	for _, p := range []struct {
		dialect Dialect
		filter  string
	}{{Backslash, backslashProbe}, {Doubling, doublingProbe}} {
		ok, err := c.takes(ctx, space, p.filter)
		if err != nil {
			return AnyDialect, err
		}
		if ok {
			return p.dialect, nil
		}
	}
	return AnyDialect, provider.Errorf(provider.ErrUnsupported, "the server reads neither way of writing a quote in a filter; texts with ' or \\ cannot be filtered by")
}

// takes reports whether the server accepts a filter.
func (c *Client) takes(ctx context.Context, space, filter string) (bool, error) {
	space, err := checkID("space_id", space)
	if err != nil {
		return false, err
	}
	err = c.do(ctx, call{
		op:     "find out how the server reads filters",
		method: http.MethodGet,
		path:   []string{"v1", "spaces", space, "memories"},
		query:  url.Values{"maxResults": {"1"}, "filter": {filter}},
	}, nil)
	if hasStatus(err, http.StatusBadRequest) || hasStatus(err, http.StatusUnprocessableEntity) {
		return false, nil
	}
	return err == nil, err
}
