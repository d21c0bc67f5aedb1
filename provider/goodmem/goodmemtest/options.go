package goodmemtest

import (
	"time"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// Options says what kind of server to be. The zero value is one of the line
// v1.0.32x that indexes at once and accepts any API key.
type Options struct {
	// APIKey is the value that x-api-key must have; empty accepts every key
	// but no missing one. GET /v1/system/info needs none.
	APIKey string
	// Dialect says how filter expressions quote. Servers of the line v1.0.32x
	// use filter.Backslash, the zero value; the documentation says
	// filter.Doubled.
	Dialect filter.Dialect
	// Version is what GET /v1/system/info tells; empty is
	// "server-v1.0.323".
	Version string

	// IndexDelay is how long a memory is PENDING (the first half) and
	// PROCESSING before it is COMPLETED and found. With zero a create still
	// answers PENDING, and whatever is asked next finds it COMPLETED. Less
	// than zero leaves every memory PENDING until CompleteIndexing or
	// FailIndexing is called.
	IndexDelay time.Duration
	// Index, when set, decides for each memory instead of IndexDelay. It is
	// called during the create, concurrently, and must not call the server.
	Index func(Memory) Indexing

	// NameFilter is how the nameFilter of a listing of spaces is read, on
	// which sources disagree.
	NameFilter NameFilter
	// ChronologicalResort is the default of the post-processor's option
	// chronological_resort: one page of the documentation says true, the
	// reference of the Python SDK 0.1.43 says false.
	ChronologicalResort bool
	// MatchesOnly leaves out what shares no word with the query. A vector
	// search, and so this server without the option, fills up to the
	// requested size with what is least unlike the query.
	MatchesOnly bool
	// HTTPItemCodes makes error.code of a failed batch item an HTTP status
	// (404, 409) instead of a gRPC code (5, 6): which one the server uses was
	// never seen.
	HTTPItemCodes bool

	// MaxURI is how many bytes a path with its query may have; a longer one
	// is answered with 414. 0 is no limit. A server's is not known; that of
	// Java's web servers is 8 KiB for all headers by default.
	MaxURI int

	// Discard keeps no record of requests, for loads that would fill the
	// memory.
	Discard bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Indexing is what becomes of a new memory.
type Indexing struct {
	// Delay is as Options.IndexDelay; less than zero holds the memory
	// PENDING.
	Delay time.Duration
	// Fail, when not empty, makes it FAILED after Delay, for this reason.
	Fail string
}

// NameFilter is a reading of nameFilter.
type NameFilter int

const (
	// NameGlob takes * and ? as wildcards, as documented.
	NameGlob NameFilter = iota
	// NameSubstring finds every name that contains the filter.
	NameSubstring
	// NameExact finds the one name.
	NameExact
)
