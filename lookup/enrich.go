package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/siteprovider/siteprovider/provider"
)

// MaxInFlight is how many lookups Enrich has going at any moment; it is what
// NLWeb's own host allows itself against an object store.
const MaxInFlight = 20

// ErrNotFound is the failure of a hit that its own site does not hold any
// more, such as one deleted between the search and the lookup.
var ErrNotFound = errors.New("no longer stored")

// Failure is a hit whose object could not be got.
type Failure struct {
	Index int // of the hit in the list given to Enrich
	URL   string
	Site  string
	Err   error
}

// Enrich returns hits with the full object in the place of every Schema that
// is empty or cut off (no longer JSON). Order and identity of the hits stay,
// and hits itself is not changed. A hit whose lookup fails stays as it was and
// is reported, in the order of the hits; when ctx ends, the hits not looked up
// by then are.
//
// Every hit is looked up within its own site, so that an object of another
// site that has the same URL never takes its place. Each lookup asks for one
// URL: hits come without their object because together they are too large for
// one reply, and asking for them together would be again.
func Enrich(ctx context.Context, from Getter, hits []provider.Hit) ([]provider.Hit, []Failure) {
	out := slices.Clone(hits)
	type identity struct{ site, url string }
	wanted := make(map[identity][]int)
	var order []identity
	for i, h := range hits {
		if len(h.Schema) > 0 && json.Valid(h.Schema) {
			continue
		}
		id := identity{h.Site, h.URL}
		if wanted[id] == nil {
			order = append(order, id)
		}
		wanted[id] = append(wanted[id], i)
	}

	var mu sync.Mutex
	var failures []Failure
	fill := func(id identity) {
		schema, err := object(ctx, from, id.site, id.url)
		mu.Lock()
		defer mu.Unlock()
		for _, i := range wanted[id] {
			if err != nil {
				failures = append(failures, Failure{Index: i, URL: id.url, Site: id.site, Err: err})
				continue
			}
			out[i].Schema = schema
		}
	}

	next := make(chan identity)
	var workers sync.WaitGroup
	for range min(MaxInFlight, len(order)) {
		workers.Go(func() {
			for id := range next {
				fill(id)
			}
		})
	}
	for _, id := range order {
		next <- id
	}
	close(next)
	workers.Wait()

	slices.SortFunc(failures, func(a, b Failure) int { return a.Index - b.Index })
	return out, failures
}

func object(ctx context.Context, from Getter, site, url string) ([]byte, error) {
	got, err := get(ctx, from, provider.Lookup{URLs: []string{url}, Scope: provider.InSites(site)})
	switch {
	case err != nil:
		return nil, err
	case !got[0].Found:
		return nil, ErrNotFound
	case got[0].Site != site:
		return nil, provider.Errorf(provider.ErrInternal, "look up %s in %s: an object of the site %q came back", url, site, got[0].Site)
	case len(got[0].Schema) == 0:
		return nil, provider.Errorf(provider.ErrInternal, "look up %s: it came back without its object", url)
	}
	return got[0].Schema, nil
}
