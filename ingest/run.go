package ingest

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/siteprovider/siteprovider/provider"
)

// Run ingests what opts names and reports what became of it.
//
// The error is nil when the run came to its end, however much failed on the
// way: that is in the report. It matches provider.ErrInvalid, with a nil
// report, when opts is wrong and nothing was read. Otherwise the report so far
// comes with it: a context error when ctx ended, or the store's own error when
// the store cannot go on (ErrUnavailable after several attempts, ErrCorrupt,
// ErrUnauthenticated, ErrPermission, ErrUnsupported, ErrInternal many times in
// a row).
//
// When ctx ends while Stdin has nothing to read, one goroutine stays behind
// until Stdin is closed or has something.
func Run(ctx context.Context, opts Options) (*Report, error) {
	parser, err := opts.check()
	if err != nil {
		return nil, err
	}
	tally := newTally(opts)
	inputs, failures, notices := expand(opts.Sources)
	for _, n := range notices {
		tally.notice(n)
	}
	for _, f := range failures {
		tally.fail(f)
	}
	parser.single = len(inputs) == 1 && len(failures) == 0

	ledger := newLedger(opts.TempDir)
	defer func() { ledger.Close() }()
	r := run{
		opts:   opts,
		parser: parser,
		tally:  tally,
		reader: &reader{inputs: inputs, stdin: opts.Stdin},
		total:  totalSize(inputs),
	}
	r.collector = &collector{
		store: opts.Store, ledger: ledger, tally: tally, inputs: inputs,
	}
	err = r.do(ctx)
	if err != nil {
		err = fmt.Errorf("ingest: %w", err)
	}
	return &tally.report, err
}

// check checks opts before anything is read.
func (o Options) check() (*parser, error) {
	if o.Store == nil {
		return nil, provider.Invalidf("Options.Store", "is missing")
	}
	if len(o.Sources) == 0 {
		return nil, provider.Invalidf("Options.Sources", "is empty")
	}
	p := &parser{base: o.Base}
	var err error
	if o.Site != nil {
		if p.site, err = provider.CheckSite("Options.Site", *o.Site); err != nil {
			return nil, err
		}
	}
	if o.Base != "" {
		if p.baseURL, err = checkBase(o.Base); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// run is a pipeline: one goroutine reads, several parse, the one that called
// Run collects in the order of the sources, and one sends. What waits between
// them is bounded, so the slowest sets the pace.
type run struct {
	opts      Options
	parser    *parser
	tally     *tally
	reader    *reader
	collector *collector
	total     int64 // bytes of all inputs, or -1
}

// job is a chunk on its way through the parsers.
type job struct {
	chunk
	parsed chan []parsed // of each unit; has room for the one answer
}

func (r *run) do(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	parsers := min(runtime.GOMAXPROCS(0), 4)
	jobs := make(chan job)
	order := make(chan job, parsers) // the same, in the order of the sources
	go r.read(ctx, jobs, order)
	for range parsers {
		go r.parse(ctx, jobs)
	}

	batches := make(chan []candidate)
	var sending sync.WaitGroup
	sending.Go(func() {
		s := sender{store: r.opts.Store, tally: r.tally}
		for b := range batches {
			if err := s.send(ctx, b); err != nil {
				stop(err)
				return
			}
		}
	})
	r.collector.hand = func(b []candidate) error {
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}

	err := r.collect(ctx, order)
	close(batches)
	if err != nil {
		stop(err)
	}
	sending.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	r.progress()
	return err
}

// read reads the inputs into jobs, and into order for whoever collects.
func (r *run) read(ctx context.Context, jobs, order chan<- job) {
	defer close(jobs)
	defer close(order)
	r.reader.hand = func(c chunk) error {
		j := job{c, make(chan []parsed, 1)}
		for _, to := range []chan<- job{order, jobs} {
			select {
			case to <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	r.reader.readAll(ctx) // an error is ctx's, which the collector sees too
}

func (r *run) parse(ctx context.Context, jobs <-chan job) {
	for {
		select {
		case j, ok := <-jobs:
			if !ok {
				return
			}
			out := make([]parsed, len(j.units))
			for i, u := range j.units {
				out[i] = r.parser.parse(r.reader.inputs[j.input].name, u)
			}
			j.parsed <- out
		case <-ctx.Done():
			return
		}
	}
}

// collect takes what was parsed until there is no more.
func (r *run) collect(ctx context.Context, order <-chan job) error {
	for {
		var j job
		var ok bool
		select {
		case j, ok = <-order:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !ok {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return r.collector.flush()
		}
		select {
		case all := <-j.parsed:
			for _, p := range all {
				if err := r.collector.take(ctx, j.input, p); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		r.progress()
	}
}

func (r *run) progress() {
	r.tally.progress(r.opts.Progress, r.reader.bytes.Load(), r.total)
}

// totalSize is the bytes of all inputs; -1 when one's is not known.
func totalSize(inputs []input) int64 {
	total := int64(0)
	for _, in := range inputs {
		if in.size < 0 {
			return -1
		}
		total += in.size
	}
	return total
}
