package main

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

// check asks every question again and looks at the answers: hits of the sites
// asked for and no other, none twice, no more than asked for, and each with the
// object that was put, byte for byte. It returns an error about the first
// answer that is not so, and how many it looked at.
func (b *bench) check(ctx context.Context) (answers int, err error) {
	b.progress("check")
	stored, err := b.objects()
	if err != nil {
		return 0, err
	}
	for _, m := range b.engines {
		c, _, err := startOpen(ctx, m.name, m.dir, true)
		if err != nil {
			return answers, err
		}
		defer c.kill()
		for _, q := range b.questions {
			for _, s := range b.scopes {
				sites := s.sites(q)
				rep, err := c.call(request{Op: opSearch, Text: q.text, Sites: sites, Limit: b.limit, Objects: true})
				if err == nil {
					err = checkHits(rep.Hits, sites, b.limit, stored)
				}
				if err != nil {
					return answers, fmt.Errorf("%s, %s, query %q: %w", m.name, s.name, q.text, err)
				}
				answers++
			}
		}
		if err := c.stop(); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// identity is what names a document.
type identity struct{ site, url string }

// objects returns the hash of every object.
func (b *bench) objects() (map[identity][sha256.Size]byte, error) {
	stored := make(map[identity][sha256.Size]byte, b.corpus.n)
	for i := range b.corpus.n {
		d, err := b.corpus.document(i)
		if err != nil {
			return nil, err
		}
		stored[identity{d.Site, d.URL}] = sha256.Sum256(d.Schema)
	}
	return stored, nil
}

func checkHits(hits []provider.Hit, sites []string, limit int, stored map[identity][sha256.Size]byte) error {
	if len(hits) > limit {
		return fmt.Errorf("%d hits, want at most %d", len(hits), limit)
	}
	if len(hits) == 0 {
		return fmt.Errorf("no hit, want at least the document the words are from")
	}
	allowed := map[string]bool{}
	for _, s := range sites {
		allowed[s] = true
	}
	seen := map[identity]bool{}
	for _, h := range hits {
		id := identity{h.Site, h.URL}
		want, known := stored[id]
		switch {
		case !known:
			return fmt.Errorf("hit %s of site %s was never put", h.URL, h.Site)
		case len(sites) > 0 && !allowed[h.Site]:
			return fmt.Errorf("hit %s is of site %s, want one of %q", h.URL, h.Site, sites)
		case seen[id]:
			return fmt.Errorf("hit %s of site %s comes twice", h.URL, h.Site)
		case sha256.Sum256(h.Schema) != want:
			return fmt.Errorf("the object of %s of site %s is not the one put", h.URL, h.Site)
		}
		seen[id] = true
	}
	return nil
}
