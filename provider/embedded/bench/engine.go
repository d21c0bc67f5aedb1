package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// engine is what is compared: an index of documents on disk.
type engine interface {
	// put keeps documents, replacing those of the same site and URL. When it
	// returns they are durable and found by searches.
	put(ctx context.Context, docs []provider.Document) error
	// search returns the best hits with their objects. No sites: every site.
	search(ctx context.Context, text string, sites []string, limit int) ([]provider.Hit, error)
	// count returns the number of documents.
	count(ctx context.Context) (int64, error)
	close() error
}

// contender is an engine by name.
type contender struct {
	name   string
	module string // whose version the table shows; empty for ours
	// open opens the engine's files in dir and creates them where there are
	// none. searching says that nothing will be put.
	open func(ctx context.Context, dir string, searching bool) (engine, error)
}

// contenders lists every engine, ours first.
func contenders() []contender {
	return []contender{
		{name: "embedded", open: openEmbedded},
		{name: "fts5", module: "modernc.org/sqlite", open: openFTS5},
		{name: "bleve", module: "github.com/blevesearch/bleve/v2", open: openBleve},
	}
}

// chosen returns the contenders that names, joined by commas, lists.
func chosen(names string) ([]contender, error) {
	var list []contender
	for _, name := range strings.Split(names, ",") {
		c, err := contenderNamed(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		for _, before := range list {
			if before.name == c.name {
				return nil, fmt.Errorf("engine %q is named twice", c.name)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

func contenderNamed(name string) (contender, error) {
	for _, c := range contenders() {
		if c.name == name {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("no engine is called %q; there are embedded, fts5 and bleve", name)
}

// filled returns docs with their names and texts taken from their objects, on
// all cores. The embedded engine does the same inside its Put; the rivals call
// this inside theirs, so that every engine starts from the same objects.
func filled(docs []provider.Document) []provider.Document {
	out := make([]provider.Document, len(docs))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(docs)); i = next.Add(1) - 1 {
				out[i] = schemaorg.Fill(docs[i])
			}
		})
	}
	workers.Wait()
	return out
}
