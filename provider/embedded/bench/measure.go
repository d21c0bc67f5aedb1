package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// bench is a run: every phase goes through the engines in turn, document by
// batch and query by query, so that whatever else the machine does hits all of
// them alike.
type bench struct {
	corpus      *corpus
	questions   []question
	scopes      []scope
	siteCount   int
	biggest     string // site
	biggestSize int
	batch       int // documents of a put
	opens       int // fresh processes per engine and kind of first query
	limit       int // hits of a query
	dir         string
	progress    func(format string, args ...any)

	engines []*measured
	raw     int64 // bytes of the documents' URLs and objects
}

// measured is what was found out about one engine.
type measured struct {
	contender
	dir string

	batches   []time.Duration // of each put
	ingest    time.Duration   // of all puts, and of closing
	ingestCPU time.Duration   // of the ingesting process, with reading its input
	ingester  process
	disk      int64

	open     []time.Duration // of a store that is there, in a fresh process
	firstOne []time.Duration // first query of a fresh process, on the biggest site
	firstAll []time.Duration // the same, on all sites

	scopes []measuredScope // in the order of bench.scopes

	one      process // that answered all queries
	two      int64   // proportional bytes of it and of a second one together
	noSecond error   // why there was no second one
}

// measuredScope is what one engine did in one scope.
type measuredScope struct {
	took     []time.Duration
	hits     int
	overlap  int // of the first ten hits, how many our engine has there too
	compared int
}

// run goes through all phases.
func (b *bench) run(ctx context.Context) error {
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"ingest", b.ingest},
		{"open, first query", b.openings},
		{"queries", b.queries},
	} {
		b.progress("%s", phase.name)
		if err := phase.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}

// rotated returns the engines, beginning with another one in each round.
func (b *bench) rotated(round int) []int {
	order := make([]int, len(b.engines))
	for i := range order {
		order[i] = (round + i) % len(order)
	}
	return order
}

// ingest gives every engine the same batches, one engine after the other. An
// engine whose turn it is not is stopped, so that its work in the background
// is done in its own time.
func (b *bench) ingest(ctx context.Context) error {
	children := make([]*child, len(b.engines))
	defer killAll(children)
	for i, m := range b.engines {
		m.dir = filepath.Join(b.dir, m.name)
		if err := os.Mkdir(m.dir, 0o700); err != nil {
			return err
		}
		var err error
		if children[i], _, err = startOpen(ctx, m.name, m.dir); err != nil {
			return err
		}
		if err := children[i].pause(); err != nil {
			return err
		}
	}
	for from := 0; from < b.corpus.n; from += b.batch {
		docs, err := b.corpus.documents(from, min(from+b.batch, b.corpus.n))
		if err != nil {
			return err
		}
		for i := range docs {
			b.raw += int64(len(docs[i].URL) + len(docs[i].Schema))
		}
		for _, i := range b.rotated(from / b.batch) {
			rep, err := inTurn(children[i], request{Op: opPut, Documents: docs})
			if err != nil {
				return err
			}
			b.engines[i].batches = append(b.engines[i].batches, rep.Took)
			b.engines[i].ingest += rep.Took
		}
		if batches := from/b.batch + 1; batches%20 == 0 {
			b.progress("  %d documents", batches*b.batch)
		}
	}
	for i, m := range b.engines {
		if err := b.finishIngest(m, children[i]); err != nil {
			return err
		}
		children[i] = nil
	}
	return nil
}

func (b *bench) finishIngest(m *measured, c *child) error {
	if err := c.resume(); err != nil {
		return err
	}
	rep, err := c.call(request{Op: opCount})
	if err != nil {
		return err
	}
	if rep.Count != int64(b.corpus.n) {
		return fmt.Errorf("%s holds %d documents, want %d", m.name, rep.Count, b.corpus.n)
	}
	rep, err = c.call(request{Op: opClose})
	if err != nil {
		return err
	}
	m.ingest += rep.Took
	if rep, err = c.call(request{Op: opUsage}); err != nil {
		return err
	}
	m.ingester = rep.Process
	if m.ingestCPU, err = c.end(); err != nil {
		return err
	}
	m.disk, err = bytesUnder(m.dir)
	return err
}

// inTurn resumes a child for one request.
func inTurn(c *child, req request) (reply, error) {
	if err := c.resume(); err != nil {
		return reply{}, err
	}
	rep, err := c.call(req)
	if err != nil {
		return rep, err
	}
	return rep, c.pause()
}

// openings opens each store in fresh processes and asks each one question. The
// operating system may have the files in memory.
func (b *bench) openings(ctx context.Context) error {
	var ofBiggest []question
	for _, q := range b.questions {
		if q.site == b.biggest {
			ofBiggest = append(ofBiggest, q)
		}
	}
	for round := range b.opens {
		for _, i := range b.rotated(round) {
			m := b.engines[i]
			q := b.questions[round%len(b.questions)]
			if len(ofBiggest) > 0 {
				q = ofBiggest[round%len(ofBiggest)]
			}
			if err := b.firstQuery(ctx, m, q.text, []string{b.biggest}, &m.firstOne); err != nil {
				return err
			}
			if err := b.firstQuery(ctx, m, q.text, nil, &m.firstAll); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) firstQuery(ctx context.Context, m *measured, text string, sites []string, took *[]time.Duration) error {
	c, opening, err := startOpen(ctx, m.name, m.dir)
	if err != nil {
		return err
	}
	defer c.kill()
	rep, err := c.call(request{Op: opSearch, Text: text, Sites: sites, Limit: b.limit})
	if err != nil {
		return err
	}
	m.open = append(m.open, opening)
	*took = append(*took, rep.Took)
	return c.stop()
}

// warmUps is how many queries of each scope come before those that count.
const warmUps = 20

// queries puts every question to every scope of every engine, then looks at
// the memory of the processes that answered.
func (b *bench) queries(ctx context.Context) error {
	children := make([]*child, len(b.engines))
	defer killAll(children)
	for i, m := range b.engines {
		var err error
		if children[i], _, err = startOpen(ctx, m.name, m.dir); err != nil {
			return err
		}
		if err := b.askSome(children[i], warmUps); err != nil {
			return err
		}
		m.scopes = make([]measuredScope, len(b.scopes))
	}
	for number, q := range b.questions {
		for s := range b.scopes {
			if err := b.askAll(children, number, q, s); err != nil {
				return err
			}
		}
		if (number+1)%100 == 0 {
			b.progress("  %d queries", number+1)
		}
	}
	for i, m := range b.engines {
		if err := b.memory(ctx, m, children[i]); err != nil {
			return err
		}
		if err := children[i].stop(); err != nil {
			return err
		}
		children[i] = nil
	}
	return nil
}

// askAll puts one question to every engine.
func (b *bench) askAll(children []*child, number int, q question, s int) error {
	replies := make([]reply, len(children))
	for _, i := range b.rotated(number) {
		var err error
		replies[i], err = children[i].call(request{Op: opSearch, Text: q.text, Sites: b.scopes[s].sites(q), Limit: b.limit})
		if err != nil {
			return err
		}
	}
	ours := firstTen(replies[0])
	for i := range replies {
		scope := &b.engines[i].scopes[s]
		scope.took = append(scope.took, replies[i].Took)
		scope.hits += len(replies[i].Hits)
		theirs := firstTen(replies[i])
		for _, hit := range theirs {
			if slices.Contains(ours, hit) {
				scope.overlap++
			}
		}
		scope.compared += len(theirs)
	}
	return nil
}

// firstTen identifies the first hits of an answer.
func firstTen(rep reply) []string {
	var list []string
	for _, h := range rep.Hits[:min(10, len(rep.Hits))] {
		list = append(list, h.Site+"\t"+h.URL)
	}
	return list
}

// askSome puts up to n questions to every scope of one engine.
func (b *bench) askSome(c *child, n int) error {
	for _, s := range b.scopes {
		for _, q := range b.questions[:min(n, len(b.questions))] {
			if _, err := c.call(request{Op: opSearch, Text: q.text, Sites: s.sites(q), Limit: b.limit}); err != nil {
				return err
			}
		}
	}
	return nil
}

// memory looks at the process that answered the queries, alone and beside a
// second one on the same files.
func (b *bench) memory(ctx context.Context, m *measured, first *child) error {
	rep, err := first.call(request{Op: opUsage})
	if err != nil {
		return err
	}
	m.one = rep.Process
	second, _, err := startOpen(ctx, m.name, m.dir)
	if err != nil {
		m.noSecond = err
		return nil
	}
	defer second.kill()
	if err := b.askSome(second, 5*warmUps); err != nil {
		return err
	}
	for _, c := range []*child{first, second} {
		if rep, err = c.call(request{Op: opUsage}); err != nil {
			return err
		}
		m.two += rep.Process.Proportional
	}
	return nil
}

func killAll(children []*child) {
	for _, c := range children {
		if c != nil {
			c.kill()
		}
	}
}
