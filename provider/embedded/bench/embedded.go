package main

import (
	"context"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

// embeddedEngine is this project's engine, as any Go program uses it. Beyond
// what the rivals are asked for it validates every object, keeps a hash of it,
// and cuts the best passage out of every hit.
type embeddedEngine struct{ store *embedded.Store }

func openEmbedded(ctx context.Context, dir string, _ bool) (engine, error) {
	embedded.LimitGarbage() // as the plugin does
	store, err := embedded.Open(ctx, embedded.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	return &embeddedEngine{store}, nil
}

func (e *embeddedEngine) put(ctx context.Context, docs []provider.Document) error {
	results, err := e.store.Put(ctx, docs)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Outcome != provider.Stored {
			return fmt.Errorf("put %s: %s: %w", r.URL, r.Outcome, r.Err)
		}
	}
	return nil
}

func (e *embeddedEngine) search(ctx context.Context, text string, sites []string, limit int) ([]provider.Hit, error) {
	scope := provider.AllSites()
	if len(sites) > 0 {
		scope = provider.InSites(sites...)
	}
	result, err := e.store.Search(ctx, provider.Query{Text: text, Scope: scope, Limit: limit})
	if err != nil {
		return nil, err
	}
	return result.Hits, nil
}

func (e *embeddedEngine) count(ctx context.Context) (int64, error) {
	info, err := e.store.Info(ctx)
	return info.Documents, err
}

func (e *embeddedEngine) close() error { return e.store.Close() }
