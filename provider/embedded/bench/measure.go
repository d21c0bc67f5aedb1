package main

import (
	"context"
	"fmt"
	"time"
)

// bench is a run: every phase goes through the engines in turn, a few batches
// or one query each, so that whatever else the machine does hits all of them
// alike.
type bench struct {
	corpus      *corpus
	questions   []question
	scopes      []scope
	siteCount   int
	biggest     string // site
	biggestSize int
	batch       int           // documents of a put
	opens       int           // fresh processes per engine and kind of first query
	limit       int           // hits of a query
	quiet       time.Duration // without work in the background, until an engine has settled
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
	settle    settling        // after the last put
	ingestCPU time.Duration   // of the ingesting process, with reading its input
	ingester  process
	disk      int64

	warm, cold firsts // with the files in the system's cache and without

	scopes []measuredScope // in the order of bench.scopes
	peak   int64           // most resident while answering all queries

	one      process // that answered some queries
	two      process // it and a second one together
	noSecond error   // why there was no second one
}

// firsts is what fresh processes took to open a store and for their first query.
type firsts struct {
	open     []time.Duration
	one, all []time.Duration // of the biggest site, of all sites
}

// measuredScope is what one engine did in one scope.
type measuredScope struct {
	took     []time.Duration
	hits     int
	overlap  int // of the first ten hits, how many our engine has there too
	compared int
}

// newBench makes the documents and draws the queries of a configuration.
func newBench(s *settings, c configuration) (*bench, error) {
	corpus, err := newCorpus(s.originals, c.documents, c.sites, s.seed)
	if err != nil {
		return nil, err
	}
	b := &bench{corpus: corpus, batch: s.batch, opens: s.opens, limit: s.limit, quiet: s.quiet, progress: s.progress}
	sizes := corpus.siteSizes()
	b.siteCount = len(sizes)
	for site, size := range sizes {
		if size > b.biggestSize || size == b.biggestSize && site < b.biggest {
			b.biggest, b.biggestSize = site, size
		}
	}
	b.scopes = scopes(len(sizes))
	if b.questions, err = corpus.questions(c.queries, len(sizes)); err != nil {
		return nil, err
	}
	for i, e := range s.engines {
		if i == 0 || !c.alone {
			b.engines = append(b.engines, &measured{contender: e})
		}
	}
	return b, nil
}

// run goes through all phases.
func (b *bench) run(ctx context.Context) error {
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"ingest", b.ingest},
		{"open, first query", b.openings},
		{"queries", b.answer},
		{"memory", b.memory},
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

func killAll(children []*child) {
	for _, c := range children {
		if c != nil {
			c.kill()
		}
	}
}
