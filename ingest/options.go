package ingest

import (
	"context"
	"io"

	"github.com/siteprovider/siteprovider/provider"
)

// Store is where documents go. A provider.Provider is one.
type Store interface {
	// Put stores documents, one outcome each, in order.
	Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error)
	// List says what a site holds, which is how Run knows what it need not
	// send. A store that answers ErrUnsupported is sent everything.
	List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error)
}

// Options says what to ingest and where to. Store and Sources are required.
type Options struct {
	Store Store

	// Sources are files, directories (read recursively, names that begin
	// with a dot left out), glob patterns, and "-" for Stdin. They are read
	// in the order of their absolute paths, each file once, Stdin last, so
	// that a run's result does not depend on the order they are given in.
	Sources []string
	Stdin   io.Reader // read for "-"

	// Site is the site of every document. Nil means that each document's
	// own is taken: its wrapper's, else the host of its URL.
	Site *string

	// Base is an absolute http or https URL against which relative URLs are
	// resolved. When there is only one input it is also the URL of a page
	// that does not name its own.
	Base string

	// OnFailure, OnNotice and Progress are called while Run goes on, one
	// call at a time, and hold it up while they run. Each may be nil.
	OnFailure func(Failure)
	OnNotice  func(Notice)
	Progress  func(Progress)

	// TempDir is where a run keeps what it remembers once that is too much
	// for memory; empty means os.TempDir. The file is gone when Run returns.
	TempDir string
}

// Progress is how far a run has come.
type Progress struct {
	Documents int   // with an outcome so far: Report.Read
	Failed    int   // Report.Failed
	Bytes     int64 // read from the inputs, before decompression
	Total     int64 // of all inputs; -1 when it is not known
}
