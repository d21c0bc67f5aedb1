package embedded

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
)

// Writes that come at the same time share a transaction, because what takes
// longest is to wait for the disk. A call puts what it wants written into a
// queue and waits for the one connection that writes; the call that gets it
// first writes for those that wait behind it, too. Each has an outcome of its
// own: where a shared transaction fails, all of it is undone, and each is
// written again by itself.

// submission is what a call wants written.
type submission struct {
	ctx       context.Context
	documents int
	bytes     int
	site      string   // of whole and urls
	whole     bool     // all of the site is concerned
	urls      []string // otherwise these, and those of changes
	changes   []*change

	// apply does what is wanted in a transaction. It may be called again
	// where that transaction came to nothing.
	apply func(*write) error

	missed error      // why it has no part in the transaction that it was to share
	done   chan error // gets the outcome
	over   func()     // ends the wait for the connection
}

// queue holds submissions that nobody writes yet, in the order they came.
type queue struct {
	mu   sync.Mutex
	list []*submission
}

func (q *queue) add(sub *submission) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, sub)
}

// remove takes out a submission. It reports false where somebody has.
func (q *queue) remove(sub *submission) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.list, sub)
	if i >= 0 {
		q.list = slices.Delete(q.list, i, i+1)
	}
	return i >= 0
}

// take takes out those that share the next transaction: the first, and of the
// others as many as one Put may have documents and bytes. Of two that concern
// one document the later stays, so that each sees what the other did.
func (q *queue) take() []*submission {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) < 2 {
		group := q.list
		q.list = nil
		return group
	}
	var group, rest []*submission
	var taken concerns
	documents, bytes := 0, 0
	for i, sub := range q.list {
		documents, bytes = documents+sub.documents, bytes+sub.bytes
		if i > 0 && (documents > provider.MaxBatchDocuments || bytes > provider.MaxBatchBytes) {
			rest = append(rest, q.list[i:]...)
			break
		}
		if taken.add(sub) {
			group = append(group, sub)
		} else {
			rest = append(rest, sub)
		}
	}
	q.list = rest
	return group
}

// concerns are the documents and sites that submissions concern.
type concerns struct {
	wholes    map[string]bool // site
	sites     map[string]bool
	documents map[documentID]bool
}

type documentID struct{ site, url string }

// add reports whether sub concerns nothing that others before it do.
func (c *concerns) add(sub *submission) bool {
	if c.sites == nil {
		c.wholes, c.sites, c.documents = make(map[string]bool), make(map[string]bool), make(map[documentID]bool)
	}
	alone := true
	note := func(id documentID) {
		if c.wholes[id.site] || c.documents[id] {
			alone = false
		}
		c.sites[id.site], c.documents[id] = true, true
	}
	if sub.whole {
		alone = !c.sites[sub.site]
		c.wholes[sub.site], c.sites[sub.site] = true, true
	}
	for _, url := range sub.urls {
		note(documentID{sub.site, url})
	}
	for _, ch := range sub.changes {
		note(documentID{ch.doc.Site, ch.doc.URL})
	}
	return alone
}

// has reports whether nobody has taken out sub.
func (q *queue) has(sub *submission) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.list, sub)
}

// submit has sub written, and returns once that is durable or has failed. When
// ctx ends while the transaction is under way that sub shares with others, it
// waits for the outcome.
func (s *Store) submit(ctx context.Context, sub *submission) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	sub.ctx, sub.done, sub.over = ctx, make(chan error, 1), stop
	s.queue.add(sub)
	for {
		var group []*submission
		err := s.files.turn(waiting, func(tx *session) error {
			group = s.queue.take()
			return s.writeGroup(tx, group)
		})
		s.conclude(group, err)
		s.files.written()
		switch {
		case len(group) > 0 && s.queue.has(sub):
			// Those that were before it filled the transaction.
		case s.queue.remove(sub):
			return err // its turn never came
		default:
			return <-sub.done
		}
	}
}

// conclude tells the members of a group what became of the transaction that
// they shared, or writes each by itself where it failed.
func (s *Store) conclude(group []*submission, err error) {
	for _, sub := range group {
		outcome := cmp.Or(err, sub.missed)
		if err != nil && len(group) > 1 {
			outcome = s.files.turn(sub.ctx, func(tx *session) error { return s.writeGroup(tx, []*submission{sub}) })
			outcome = cmp.Or(outcome, sub.missed)
		}
		sub.done <- outcome
		sub.over()
	}
}

// writeGroup does in a transaction what the members of a group want.
func (s *Store) writeGroup(tx *session, group []*submission) error {
	if len(group) == 0 {
		return errNothingToDo
	}
	ctx, done := shared(group)
	defer done()
	c, err := s.sites.load(ctx, tx)
	if err != nil {
		return err
	}
	w := newWrite(ctx, tx, s, c)
	for _, sub := range group {
		if sub.missed = sub.ctx.Err(); sub.missed != nil {
			continue
		}
		if err := sub.apply(w); err != nil {
			return err
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	return ctx.Err()
}

// shared returns a context that ends when all those of a group have.
func shared(group []*submission) (ctx context.Context, done func()) {
	if len(group) == 1 {
		return group[0].ctx, func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(group)))
	stops := make([]func() bool, len(group))
	for i, sub := range group {
		stops[i] = context.AfterFunc(sub.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
