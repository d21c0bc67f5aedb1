package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

const (
	// attempts is how often something is tried while the store is not
	// available, with pauses of firstPause, twice that and so on between:
	// long enough for a plugin that crashed to be started again.
	attempts   = 6
	firstPause = 250 * time.Millisecond
	// maxDefects is after how many documents in a row that met an internal
	// error of the store the store counts as broken, rather than they.
	maxDefects = 100
	// grace is how long a batch that has been sent may still be answered
	// once the run is to end: to know what became of it beats to guess.
	grace = 3 * time.Second
)

// sender puts batches into the store and counts what becomes of them.
type sender struct {
	store    Store
	tally    *tally
	accepted int // documents that are in the store
	defects  int // documents in a row that met an internal error
}

// unsettled is a document without an outcome, and why.
type unsettled struct {
	candidate
	err error
}

// send puts a batch. It returns an error when it is no use to send any more:
// ctx has ended, or the store cannot go on.
func (s *sender) send(ctx context.Context, batch []candidate) error {
	left, before := batch, s.accepted
	for n := 1; ; n++ {
		again, err := s.put(ctx, left)
		if len(again) == 0 {
			return err
		}
		if err == nil && n < attempts && pause(ctx, n) == nil {
			left = left[:0:0]
			for _, u := range again {
				left = append(left, u.candidate)
			}
			continue
		}
		if ctx.Err() != nil {
			s.tally.notice(Notice{Text: fmt.Sprintf("%d documents were sent when the run was ended, and the store did not say what became of them: ingest them again", len(again))})
			return ctx.Err()
		}
		for _, u := range again {
			s.fail(u.candidate, u.err)
		}
		switch {
		case err != nil:
			return err
		case s.accepted == before:
			return fmt.Errorf("put %d documents: %w", len(batch), again[0].err)
		}
		return nil
	}
}

// put makes one attempt. It returns the documents to try again; with an error
// there is no use in that.
func (s *sender) put(ctx context.Context, batch []candidate) ([]unsettled, error) {
	docs := make([]provider.Document, len(batch))
	for i, c := range batch {
		docs[i] = c.Document
	}
	answered, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, giveUp) })()
	results, err := s.store.Put(answered, docs)
	switch {
	case err == nil:
		return s.settle(batch, results)
	case ctx.Err() != nil:
		return unsettle(batch, err), ctx.Err()
	case errors.Is(err, provider.ErrUnavailable):
		return unsettle(batch, err), nil
	case isFinal(err):
		return unsettle(batch, err), fmt.Errorf("put %d documents: %w", len(batch), err)
	case len(batch) > 1:
		// The batch was refused for something in it: look for that, and
		// let the rest through.
		first, err := s.put(ctx, batch[:len(batch)/2])
		if err != nil {
			return append(first, unsettle(batch[len(batch)/2:], err)...), err
		}
		second, err := s.put(ctx, batch[len(batch)/2:])
		return append(first, second...), err
	}
	s.fail(batch[0], err)
	if errors.Is(err, provider.ErrInvalid) {
		return nil, nil
	}
	if s.defects++; s.defects >= maxDefects {
		return nil, fmt.Errorf("put documents: %d in a row failed: %w", s.defects, err)
	}
	return nil, nil
}

// settle counts the outcomes of a batch and returns the documents without one.
func (s *sender) settle(batch []candidate, results []provider.PutResult) ([]unsettled, error) {
	var again []unsettled
	var final error
	finals := 0
	for i, c := range batch {
		r := provider.PutResult{Outcome: provider.Failed}
		if i < len(results) {
			r = results[i]
		}
		if (r.Outcome == provider.Failed || r.Outcome == provider.Unknown) && r.Err == nil {
			r.Err = provider.Errorf(provider.ErrInternal, "the store did not say what became of the document")
		}
		switch r.Outcome {
		case provider.Stored:
			s.done(c, func(r *Report) *int { return &r.Stored })
		case provider.Unchanged:
			s.done(c, func(r *Report) *int { return &r.Unchanged })
		case provider.Pending:
			s.done(c, func(r *Report) *int { return &r.Pending })
		case provider.Superseded:
			s.done(c, func(r *Report) *int { return &r.Superseded })
		case provider.Unknown:
			again = append(again, unsettled{c, r.Err})
		case provider.Failed:
			if errors.Is(r.Err, provider.ErrUnavailable) {
				again = append(again, unsettled{c, r.Err})
				continue
			}
			s.fail(c, r.Err)
			if isFinal(r.Err) {
				final = r.Err
				finals++
			}
		default:
			s.fail(c, provider.Errorf(provider.ErrInternal, "the store gave the outcome %q, which this version does not know", r.Outcome))
		}
	}
	if finals == len(batch) {
		return nil, fmt.Errorf("put %d documents: %w", len(batch), final)
	}
	return again, nil
}

func (s *sender) done(c candidate, which func(*Report) *int) {
	s.accepted++
	s.defects = 0
	s.tally.count(which)
	if !schemaorg.Readable(c.Schema) {
		s.tally.add(0, 1)
	}
}

func (s *sender) fail(c candidate, err error) { s.tally.fail(Failure{c.place, err}) }

func unsettle(batch []candidate, err error) []unsettled {
	out := make([]unsettled, len(batch))
	for i, c := range batch {
		out[i] = unsettled{c, err}
	}
	return out
}

// isFinal reports whether an error of the store will be the answer to every
// further call too.
func isFinal(err error) bool {
	for _, kind := range []error{provider.ErrCorrupt, provider.ErrUnauthenticated, provider.ErrPermission, provider.ErrUnsupported} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// pause waits before the attempt that follows the n-th.
func pause(ctx context.Context, n int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(firstPause << (n - 1)):
		return nil
	}
}
