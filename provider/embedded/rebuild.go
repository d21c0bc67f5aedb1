package embedded

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/siteprovider/siteprovider/provider"
)

// indexDamage is a failure of a site's index, which its documents can make good.
type indexDamage struct {
	site siteRow
	err  error
	// recount has the index made of the documents that there are, and the
	// site's number of them corrected. Else fewer than there should be, or
	// damaged ones, are more than a damaged index.
	recount bool
	// insist has others that write wait while the index is made, who else
	// might change the site each time before it is done.
	insist bool
}

func (d *indexDamage) Error() string { return d.err.Error() }
func (d *indexDamage) Unwrap() error { return d.err }

// outdatedIndex is the error for an index whose format is another than this
// program's. The documents make that good as well.
type outdatedIndex struct{ error }

func (o outdatedIndex) Unwrap() error { return o.error }

// damagedIndex wraps err, which says that the index of a site is damaged.
// Other errors stay as they are.
func damagedIndex(site siteRow, err error) error {
	if errors.Is(err, provider.ErrCorrupt) {
		return &indexDamage{site: site, err: err}
	}
	return err
}

// damagedList is the error for a list of sites that is not as it was written.
type damagedList struct{ error }

func (d damagedList) Unwrap() error { return d.error }

// mending runs do, and where it fails because of the index of a site, writes
// that index anew from the site's documents and runs do again; where it fails
// because of the list of sites, counts anew.
func (s *Store) mending(ctx context.Context, do func() error) error {
	const tries = 3 // others may change the site in between
	mended := make(map[int64]int)
	const list = 0 // no site has that number
	for {
		err := do()
		var index *indexDamage
		var sites damagedList
		switch {
		case errors.As(err, &index) && mended[index.site.id] < tries:
			mended[index.site.id]++
			damage := *index
			damage.insist = mended[index.site.id] == tries
			if err := s.rebuild(ctx, &damage); err != nil {
				return err
			}
		case errors.As(err, &sites) && mended[list] < tries:
			mended[list]++
			if recounted, failed := s.recount(ctx, sites); failed != nil {
				return failed
			} else if !recounted {
				return err
			}
		default:
			return err
		}
	}
}

// recount mends the list of sites, if that can be done.
func (s *Store) recount(ctx context.Context, damage error) (done bool, err error) {
	err = s.files.write(ctx, func(tx *session) error {
		if done, err = recount(ctx, tx); err == nil && !done {
			err = errNothingToDo
		}
		return err
	})
	if done && err == nil {
		s.log.Warn("counted the documents of all sites anew", "damage", damage)
	}
	return done, err
}

// rebuilds are the indexes that are being rebuilt, each once for all calls that
// need it.
type rebuilds struct {
	mu      sync.Mutex
	running map[rebuildKey]*rebuildCall
}

// rebuildKey tells those that insist from the others, which may come to nothing.
type rebuildKey struct {
	siteKey
	insist bool
}

type rebuildCall struct {
	done   chan struct{}
	err    error       // once done
	urgent atomic.Bool // whether a call waits for it
}

// rebuild writes the index of a site anew. That goes on when the caller gives
// up, so that a call that has less time than a large site takes need only be
// made again.
func (s *Store) rebuild(ctx context.Context, damage *indexDamage) error {
	return s.startRebuild(ctx, damage, nil)
}

// startRebuild is rebuild for work in the background, unless pause is nil: pause
// is called between pieces of the work until a call waits for it.
func (s *Store) startRebuild(ctx context.Context, damage *indexDamage, pause func(context.Context) error) error {
	key := rebuildKey{damage.site.key(), damage.insist}
	s.rebuilds.mu.Lock()
	call := s.rebuilds.running[key]
	if call == nil {
		call = &rebuildCall{done: make(chan struct{})}
		if s.rebuilds.running == nil {
			s.rebuilds.running = make(map[rebuildKey]*rebuildCall)
		}
		s.rebuilds.running[key] = call
		s.calls.Go(func() { // the call that waits for it is one, so Close has not gone on
			call.err = s.rebuildNow(s.open, damage, func(ctx context.Context) error {
				if call.urgent.Load() || pause == nil {
					return ctx.Err()
				}
				return pause(ctx)
			})
			s.rebuilds.mu.Lock()
			delete(s.rebuilds.running, key)
			s.rebuilds.mu.Unlock()
			close(call.done)
		})
	}
	s.rebuilds.mu.Unlock()
	if pause == nil {
		call.urgent.Store(true)
	}
	select {
	case <-call.done:
		return call.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rebuildNow rebuilds the index of a site unless somebody has changed the site
// since, perhaps mended it. Others may use the store meanwhile: documents are
// read and indexed outside of any transaction that writes, and what is written
// at once is at most maxMergeBytes. One that insists does all of it in one
// transaction.
func (s *Store) rebuildNow(ctx context.Context, damage *indexDamage, pause func(context.Context) error) error {
	b := &indexRebuilder{ctx: ctx, store: s, site: damage.site, pause: pause, lenient: damage.recount}
	read := func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		site, ok := c.site(b.site.name)
		if !ok || site.key() != b.site.key() || site.generation != b.site.generation && !damage.insist {
			return errNothingToDo
		}
		b.site = site
		if err := b.readDocuments(tx); err != nil {
			return err
		}
		if b.documents != site.documents && !damage.recount {
			return damaged("site %q has %d documents, of which %d can be found", site.name, site.documents, b.documents)
		}
		return nil
	}
	swapped := false
	swap := func(tx *session) (err error) {
		swapped, err = b.swap(tx)
		return err
	}
	var err error
	if damage.insist {
		err = s.files.write(ctx, func(tx *session) error {
			b.tx = tx
			if err := read(tx); err != nil {
				return err
			}
			return swap(tx)
		})
	} else if err = s.files.read(ctx, read); err == nil {
		err = s.files.write(ctx, swap)
	}
	if errors.Is(err, errNothingToDo) {
		return nil
	}
	if err != nil || !swapped {
		return err
	}
	var outdated outdatedIndex
	if errors.As(damage.err, &outdated) {
		s.log.Info("brought the index of a site up to date", "site", b.site.name, "documents", b.documents)
	} else {
		s.log.Warn("rebuilt a damaged index from the documents of its site", "site", b.site.name, "documents", b.documents, "damage", damage.err)
	}
	return nil
}
