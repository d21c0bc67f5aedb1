package provider

import "context"

// Provider searches and keeps Schema.org documents.
//
// Every method is safe for concurrent use, honours its context and returns
// promptly once the context is done. Arguments over a limit, blank where a
// value is required, or not valid UTF-8 give an error that matches
// [ErrInvalid] and names the argument; nothing has been done then. Errors of
// all methods match one of the sentinels of this package or a context error.
type Provider interface {
	// Search returns the documents that match q, best first. A blank query
	// gives an empty result. Problems inside an answer are reported in
	// Result.Statuses; the error is for the case that there is no answer.
	Search(ctx context.Context, q Query) (*Result, error)

	// Get returns one object per URL of l, in the order of l.URLs. A URL
	// that no allowed site holds gives an Object with Found false.
	Get(ctx context.Context, l Lookup) ([]Object, error)

	// List returns one page of a site's documents in ascending byte order
	// of their URLs. A page shorter than the limit asked for is the last.
	List(ctx context.Context, q ListQuery) ([]Entry, error)

	// Sites returns every site that holds a document, sorted by name.
	Sites(ctx context.Context) ([]Site, error)

	// Put stores documents, replacing those with the same (site, URL). It
	// returns one result per document, in order. The error is non-nil only
	// if nothing was attempted; a document that fails fails alone.
	Put(ctx context.Context, docs []Document) ([]PutResult, error)

	// Delete removes documents and returns how many there were. Deleting
	// what is not there is no error.
	Delete(ctx context.Context, sel Selector) (int, error)

	// Info describes the provider. It is cheap enough for a health check.
	Info(ctx context.Context) (Info, error)

	// Close releases what the provider holds. Calls made afterwards fail
	// with an error that matches ErrUnavailable. Closing twice is no error.
	Close() error
}

// Capability names something a provider can do that another may not.
type Capability string

// The capabilities of this version of the contract.
const (
	CanFilter Capability = "filter" // Query.Filter, at least for some paths
	CanList   Capability = "list"   // List
	CanWrite  Capability = "write"  // Put and Delete
	CanAnswer Capability = "answer" // Result.Answer, from a language model
)

// Info describes a provider.
type Info struct {
	Name         string       // of the program that serves it, such as "siteprovider"
	Version      string       // of that program
	Backend      string       // such as "embedded"
	Capabilities []Capability // sorted
	Documents    int64        // how many it holds; -1 when that is not known cheaply
}

// Site is a site and the number of documents it holds.
type Site struct {
	Site      string
	Documents int64
}
