// Package lookup gets the full objects behind URLs: those of a search's hits
// that came without theirs, and those of URLs a client holds.
//
//	hits, failures := lookup.Enrich(ctx, p, result.Hits)
//
// It asks a provider and keeps nothing; it neither ranks nor filters.
package lookup

import (
	"context"

	"github.com/siteprovider/siteprovider/provider"
)

// MaxInFlight is how many lookups Enrich has going at any moment.
const MaxInFlight = 20

// Getter answers lookups. A provider.Provider is one.
type Getter interface {
	Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error)
}

// Failure is a hit whose object could not be got.
type Failure struct {
	Index int // of the hit in the list given to Enrich
	URL   string
	Site  string
	Err   error
}
