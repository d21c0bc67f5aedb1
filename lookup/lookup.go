// Package lookup gets the full objects behind URLs: those of a search's hits
// that came without theirs, and those of URLs a client holds.
//
//	hits, failures := lookup.Enrich(ctx, p, result.Hits)
//
// It asks a provider and keeps nothing; it neither ranks nor filters.
package lookup

import (
	"context"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

// Getter answers lookups. A provider.Provider is one.
type Getter interface {
	// Get returns one object per URL of l, in the order of l.URLs.
	Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error)
}

// Get looks up any number of URLs, where one provider.Lookup takes at most
// provider.MaxURLs. It returns one object per URL, in order; on an error, the
// objects of the URLs before the ones whose lookup failed.
func Get(ctx context.Context, from Getter, urls []string, scope provider.Scope) ([]provider.Object, error) {
	objects := make([]provider.Object, 0, len(urls))
	for len(urls) > 0 {
		n := min(len(urls), provider.MaxURLs)
		got, err := get(ctx, from, provider.Lookup{URLs: urls[:n], Scope: scope})
		if err != nil {
			return objects, err
		}
		objects = append(objects, got...)
		urls = urls[n:]
	}
	return objects, nil
}

// get is from.Get held to its contract, so that no caller indexes past what a
// faulty provider returned.
func get(ctx context.Context, from Getter, l provider.Lookup) ([]provider.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	got, err := from.Get(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", describe(l.URLs), err)
	}
	if len(got) != len(l.URLs) {
		return nil, provider.Errorf(provider.ErrInternal, "look up %s: %d objects came back", describe(l.URLs), len(got))
	}
	return got, nil
}

func describe(urls []string) string {
	if len(urls) == 1 {
		return urls[0]
	}
	return fmt.Sprintf("%d URLs from %s on", len(urls), urls[0])
}
