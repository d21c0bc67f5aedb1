package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// A program whose rules of reading and indexing are newer than those by which
// a store's documents were indexed brings these up to date by itself, while it
// serves the store: slowly, and only one of the processes that use the store.

const (
	// catchUpFirst is how long after the opening of a store the first look is.
	catchUpFirst = 2 * time.Second
	// catchUpLook is the time between two looks for what is outdated, as when
	// a program of another version writes as well.
	catchUpLook = 10 * time.Minute
	// catchUpDocuments is how many documents one transaction changes.
	catchUpDocuments = 100
	// catchUpRest is the least time between two transactions.
	catchUpRest = 20 * time.Millisecond
	// releaseTime is how long a lease is tried to be given up while the store
	// is being closed: it runs out by itself.
	releaseTime = time.Second
	// catchUpTold is the time between two lines in the log.
	catchUpTold = time.Minute
)

// catchUp brings outdated documents and indexes up to date, until ctx ends.
type catchUp struct {
	store *Store
	lease lease

	waiting int64 // the newest segment that waited at the last look (see waitingSite)

	report  ReindexReport
	began   time.Time // the last piece of work
	told    time.Time
	renewed time.Time
}

func newCatchUp(s *Store) *catchUp { return &catchUp{store: s, lease: newLease("reindex")} }

// run works from the first look on, which is in a while: a process that does one
// thing and ends is not to begin with this.
func (c *catchUp) run(ctx context.Context, first time.Duration) {
	for next, failed := first, false; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(next):
		}
		next = catchUpLook
		err := cmp.Or(c.sweep(ctx), c.all(ctx))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errLeaseTaken):
			next = leaseTime
		case err != nil && !failed:
			c.store.log.LogAttrs(ctx, slog.LevelWarn, "documents could not be brought up to date; that is tried again from time to time",
				slog.Any("error", failure(ctx, "reindex", err)))
		}
		failed = err != nil
	}
}

// sweep removes segments that have waited for others since the last look: their
// writer has died.
func (c *catchUp) sweep(ctx context.Context) error {
	var newest int64
	err := c.store.files.read(ctx, func(tx *session) error {
		return tx.row(ctx, "SELECT coalesce(max(id), 0) FROM segment WHERE site < 0").Scan(&newest)
	})
	before := c.waiting
	c.waiting = newest
	if err != nil || newest == 0 || newest != before {
		return err
	}
	return c.store.files.write(ctx, func(tx *session) error { return sweepWaiting(ctx, tx, 0) })
}

// errLeaseTaken says that another process does the work.
var errLeaseTaken = errors.New("another process does that")

// all brings up to date what is outdated now.
func (c *catchUp) all(ctx context.Context) (err error) {
	sites, err := c.outdated(ctx)
	if err != nil || len(sites) == 0 {
		return err
	}
	if err := c.hold(ctx); err != nil {
		return err
	}
	defer func() {
		finish := ctx
		if ctx.Err() != nil { // Close waits for this
			var stop context.CancelFunc
			finish, stop = context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
			defer stop()
		}
		released := c.store.files.write(finish, func(tx *session) error { return c.lease.release(finish, tx) })
		if err == nil {
			err = released
		}
	}()
	c.report, c.told = ReindexReport{}, time.Now()
	c.store.log.Info("bringing documents up to date in the background", "sites", len(sites))
	r := &reindex{store: c.store, ctx: ctx, report: &c.report, batch: catchUpDocuments, pause: c.pause, trusting: true}
	for _, name := range sites {
		c.began = time.Now()
		if err := c.index(ctx, name); err != nil {
			return err
		}
		if err := r.site(name); err != nil {
			return err
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
	c.store.log.Info("brought documents up to date", "sites", len(sites), "documents", c.report.Documents, "indexes", c.report.Rebuilt)
	return nil
}

// outdated returns the names of the sites that are to be brought up to date.
func (c *catchUp) outdated(ctx context.Context) (names []string, err error) {
	err = c.store.files.read(ctx, func(tx *session) error {
		all, err := c.store.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		formats := make(map[int64]bool)
		err = tx.each(ctx, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			formats[id] = true
			return err
		}, "SELECT DISTINCT site FROM segment WHERE format <> ?", segmentFormat)
		for _, site := range all.sites {
			if site.version != documentVersion || formats[site.id] {
				names = append(names, site.name)
			}
		}
		return err
	})
	return names, err
}

// index rebuilds the index of a site if it is of another format.
func (c *catchUp) index(ctx context.Context, name string) error {
	var damage *indexDamage
	err := c.store.files.read(ctx, func(tx *session) error {
		all, err := c.store.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		site, ok := all.site(name)
		if !ok {
			return nil
		}
		_, err = segmentRows(ctx, tx, site.id)
		if errors.As(damagedIndex(site, err), &damage) {
			err = nil
		}
		return err
	})
	if err != nil || damage == nil {
		return err
	}
	c.report.Rebuilt++
	return c.store.startRebuild(ctx, damage, func(context.Context) error { return c.pause(ctx) })
}

// hold takes the lease, or renews it.
func (c *catchUp) hold(ctx context.Context) error {
	mine := false
	err := c.store.files.write(ctx, func(tx *session) (err error) {
		mine, err = c.lease.take(ctx, tx)
		if err == nil && !mine {
			err = errNothingToDo
		}
		return err
	})
	if err == nil && !mine {
		err = errLeaseTaken
	}
	c.renewed = time.Now()
	return err
}

// pause rests for as long as was worked before, and longer while calls are in
// progress. It keeps the lease, and the log up to date.
func (c *catchUp) pause(ctx context.Context) error {
	rest := max(time.Since(c.began), catchUpRest)
	for until := time.Now().Add(rest); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
		if c.store.busy.Load() == 0 || time.Since(until) > time.Second {
			break
		}
		rest = catchUpRest
	}
	if time.Since(c.renewed) > leaseTime/3 {
		if err := c.hold(ctx); err != nil {
			return err
		}
	}
	if time.Since(c.told) > catchUpTold {
		c.told = time.Now()
		c.store.log.Info("still bringing documents up to date", "documents", c.report.Documents)
	}
	c.began = time.Now()
	return nil
}
