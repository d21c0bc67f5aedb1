package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

// collector decides, in the order of the sources, which documents are sent, and
// gathers those in batches.
type collector struct {
	store  Store
	ledger *ledger
	tally  *tally
	inputs []input
	hand   func([]candidate) error // an error ends the run

	site  string // the last one listed
	batch []candidate
	size  int
}

// take counts what a unit of the input held and gathers its documents.
func (c *collector) take(ctx context.Context, input int, p parsed) error {
	for _, f := range p.failures {
		c.tally.fail(f)
	}
	for _, reason := range p.skipped {
		c.tally.skip(reason)
	}
	for _, n := range p.notices {
		c.tally.notice(n)
	}
	c.tally.add(p.repairs, 0)
	for _, d := range p.documents {
		if err := c.document(ctx, input, d); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) document(ctx context.Context, input int, d candidate) error {
	if err := c.list(ctx, d.Site); err != nil {
		return err
	}
	var before record
	err := c.ledger.update(d.identity, func(r *record) {
		before = *r
		if !r.inRun {
			r.inRun, r.seen = true, d.content
			r.source, r.line = uint32(input), uint32(d.place.Line)
		}
	})
	switch {
	case err != nil:
		return err
	case before.inRun && before.seen == d.content:
		c.tally.skip(sameAgain)
		return nil
	case before.inRun:
		c.tally.skip(urlTaken)
		first := Place{Source: c.inputs[before.source].name, Line: int(before.line)}
		c.tally.notice(Notice{d.place, fmt.Sprintf("left out: another object has this URL, and the first one counts (%v)", first)})
		return nil
	case before.inStore && before.known == d.content:
		c.tally.count(func(r *Report) *int { return &r.Unchanged })
		return nil
	}
	return c.add(d)
}

func (c *collector) add(d candidate) error {
	size := d.Size()
	if len(c.batch) == provider.MaxBatchDocuments || c.size+size > provider.MaxBatchBytes {
		if err := c.flush(); err != nil {
			return err
		}
	}
	d.Schema = bytes.Clone(d.Schema) // it may be a part of something much larger
	c.batch = append(c.batch, d)
	c.size += size
	return nil
}

// flush hands on the batch there is.
func (c *collector) flush() error {
	if len(c.batch) == 0 {
		return nil
	}
	b := c.batch
	c.batch, c.size = nil, 0
	return c.hand(b)
}

// list records what the store holds of a site, the first time it is met.
func (c *collector) list(ctx context.Context, site string) error {
	if site == c.site {
		return nil
	}
	// A site is remembered where documents are, as the one without a URL:
	// a run may come across any number of sites.
	listed := false
	err := c.ledger.update(identityOf(site, ""), func(r *record) { listed, r.inRun = r.inRun, true })
	if err != nil {
		return err
	}
	c.site = site
	if listed {
		return nil
	}
	q := provider.ListQuery{Site: site, Limit: provider.MaxLimit}
	for {
		page, err := c.page(ctx, q)
		switch {
		case errors.Is(err, provider.ErrUnsupported):
			return nil
		case err != nil:
			return fmt.Errorf("list the site %q: %w", site, err)
		}
		for _, e := range page {
			known := digestOfHex(e.Hash)
			if !e.Indexed || known == (digest{}) {
				continue
			}
			if err := c.ledger.update(identityOf(site, e.URL), func(r *record) { r.inStore, r.known = true, known }); err != nil {
				return err
			}
		}
		if len(page) < q.Limit {
			return nil
		}
		last := page[len(page)-1].URL
		if last <= q.After {
			return provider.Errorf(provider.ErrInternal, "list the site %q: the store does not get past %s", site, last)
		}
		q.After = last
	}
}

func (c *collector) page(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	for n := 1; ; n++ {
		page, err := c.store.List(ctx, q)
		if err == nil || !errors.Is(err, provider.ErrUnavailable) || n == attempts || pause(ctx, n) != nil {
			return page, err
		}
	}
}
