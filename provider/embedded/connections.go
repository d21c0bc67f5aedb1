package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/siteprovider/siteprovider/provider"
)

// busyWait is how long a call without a deadline waits for another process to
// finish writing.
const busyWait = 30 * time.Second

// connections are the open connections to a store's file: one that writes and
// a few that read. Each is used by one call at a time.
type connections struct {
	db      *sql.DB
	path    string
	fixed   bool // the file can only be read; see dataSourceFixed
	room    waitingRoom
	checked atomic.Value // fileInfo of the file that was found to be a store

	numbering sync.Mutex
	numbered  os.FileInfo // the file that has the number
	number    int64

	writer  chan *session // holds the writer while nobody uses it; nil: to be opened
	readers chan *session // as many as may be open
	keepers chan *session // the one of the keeper
	written func()        // called when something may have been written
}

// connect opens the file at path, checks that it is a store, and keeps that
// first connection as the writer.
func connect(ctx context.Context, path string, maxPages int) (*connections, error) {
	db, err := sql.Open("sqlite", dataSource(path, maxPages))
	if err != nil {
		return nil, failure(ctx, "open store "+path, err)
	}
	// Sessions are pooled here, with their statements; a connection handed
	// back to database/sql is one that is not to be used again.
	db.SetMaxIdleConns(0)
	c := &connections{
		db:      db,
		path:    path,
		room:    waitingRoom{dir: filepath.Dir(path)},
		writer:  make(chan *session, 1),
		readers: make(chan *session, max(4, 2*runtime.GOMAXPROCS(0))),
		keepers: make(chan *session, 1),
		written: func() {},
	}
	c.keepers <- nil
	for range cap(c.readers) {
		c.readers <- nil
	}
	first, err := c.open(ctx, writing)
	if err != nil && c.fix(err) {
		first, err = c.open(ctx, writing)
	}
	if err != nil {
		c.db.Close()
		return nil, failure(ctx, "open store "+path, withoutAccess(path, err))
	}
	c.writer <- first
	return c, nil
}

// fix turns to reading the file as one that nobody changes, where err says that
// it cannot be opened otherwise: on a medium that cannot be written, SQLite has
// no place for what it keeps beside the file.
func (c *connections) fix(err error) bool {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
	default:
		return false
	}
	if size(c.path+"-wal") > 0 {
		return false
	}
	db, err := sql.Open("sqlite", dataSourceFixed(c.path))
	if err != nil {
		return false
	}
	db.SetMaxIdleConns(0)
	c.db.Close()
	c.db, c.fixed = db, true
	return true
}

// close closes every connection. No call may be in progress.
func (c *connections) close() error {
	for range cap(c.readers) {
		(<-c.readers).discard()
	}
	(<-c.keepers).discard()
	(<-c.writer).discard()
	return c.db.Close()
}

// use is what a connection is for.
type use struct {
	begin, end string
	cache      int           // of pages, in KiB
	patience   time.Duration // with which SQLite waits for a lock by itself
}

// A writer keeps the inner pages of the indexes. It waits for its turn by
// other means than SQLite's (see beginWriting).
var (
	reading = use{"BEGIN", "ROLLBACK", 2_000, busyWait}
	writing = use{"BEGIN IMMEDIATE", "COMMIT", 32_000, 0}
	keeping = use{"", "", 500, 0}
)

// open opens the file that is at the path now, and checks that it is a store.
func (c *connections) open(ctx context.Context, u use) (*session, error) {
	for range 10 {
		file, err := c.file()
		if err != nil {
			return nil, err
		}
		s, err := c.openFile(ctx, u, file)
		if err != nil {
			return nil, err
		}
		if now, err := c.file(); err == nil && c.same(file, now) {
			return s, nil
		}
		s.discard() // who knows which of the two it has open
	}
	return nil, provider.Errorf(provider.ErrUnavailable, "the file %s is being replaced again and again", c.path)
}

func (c *connections) openFile(ctx context.Context, u use, file os.FileInfo) (*session, error) {
	known, _ := c.checked.Load().(fileInfo)
	fresh := known.FileInfo == nil || !c.same(known, file)
	if fresh && !c.fixed {
		if err := checkLog(ctx, c.path); err != nil {
			return nil, err
		}
	}
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, stmts: make(map[string]*sql.Stmt), file: file, number: c.numberOf(file)}
	_, err = conn.ExecContext(ctx, "PRAGMA cache_size = -"+strconv.Itoa(u.cache))
	if err == nil && fresh {
		err = c.bringUpToDate(ctx, s)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(u.patience.Milliseconds(), 10))
	}
	if err == nil && u == writing {
		// What is deleted is overwritten. Of what goes, nearly all lies in
		// pages that are written anyway.
		_, err = conn.ExecContext(ctx, "PRAGMA secure_delete = ON")
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	c.checked.Store(fileInfo{file})
	return s, nil
}

// numberOf counts the files that it is asked for one after another.
func (c *connections) numberOf(file os.FileInfo) int64 {
	c.numbering.Lock()
	defer c.numbering.Unlock()
	if c.numbered == nil || !c.same(c.numbered, file) {
		c.numbered = file
		c.number++
	}
	return c.number
}

// fileInfo has one type whatever the file system, for an atomic.Value.
type fileInfo struct{ os.FileInfo }

// file returns the file that is at the path now.
func (c *connections) file() (os.FileInfo, error) {
	info, err := fileAt(c.path)
	if err == nil && c.fixed && size(c.path+"-wal") > 0 {
		err = provider.Errorf(provider.ErrUnavailable,
			"the file %s, which this process may only read, is being written to by another; open the store again later", c.path)
	}
	return info, err
}

// same reports whether a file is still there as it was.
func (c *connections) same(a, b os.FileInfo) bool {
	if c.fixed && (a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime())) {
		return false
	}
	return os.SameFile(plain(a), plain(b))
}

// plain undoes fileInfo, which os.SameFile does not know.
func plain(f os.FileInfo) os.FileInfo {
	if f, ok := f.(fileInfo); ok {
		return f.FileInfo
	}
	return f
}

// read runs do in a read transaction: all that do reads is one state of the
// store, whatever is written meanwhile.
func (c *connections) read(ctx context.Context, do func(*session) error) error {
	return c.with(ctx, c.readers, reading, func(s *session) error {
		return cmp.Or(do(s), ctx.Err())
	})
}

// write runs do in a transaction that writes. Where do or the commit fails, or
// ctx ends before the commit, nothing of it is kept; errNothingToDo is no
// failure.
func (c *connections) write(ctx context.Context, do func(*session) error) error {
	err := c.turn(ctx, func(s *session) error {
		return cmp.Or(do(s), ctx.Err())
	})
	c.written()
	return err
}

// turn is write whose ctx is only for the wait until do may begin, and that does
// not call written.
func (c *connections) turn(ctx context.Context, do func(*session) error) error {
	if c.fixed {
		return provider.Errorf(provider.ErrPermission, "the store can only be read: %s or its directory cannot be written", c.path)
	}
	var file os.FileInfo
	err := c.with(ctx, c.writer, writing, func(s *session) error {
		file = s.file
		if err := c.stillAt(file); err != nil {
			return err // it was replaced while this waited for another writer
		}
		return do(s)
	})
	if errors.Is(err, errNothingToDo) {
		return nil
	}
	if err == nil {
		// What went into a file that has no name any more is lost.
		err = c.stillAt(file)
	}
	return err
}

func (c *connections) stillAt(file os.FileInfo) error {
	now, err := c.file()
	if err == nil && !c.same(file, now) {
		err = provider.Errorf(provider.ErrUnavailable, "the file %s was replaced by another during the call; try again", c.path)
	}
	return err
}

// errNothingToDo ends a transaction that turned out to have nothing to write.
var errNothingToDo = errors.New("nothing to do")

// with runs do in a transaction, on a connection of a pool. ctx is for the wait
// until do may begin.
func (c *connections) with(ctx context.Context, pool chan *session, u use, do func(*session) error) (err error) {
	var s *session
	select {
	case s = <-pool:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		// After a failure the state of the connection is anyone's guess;
		// opening another takes a millisecond.
		if err != nil && !errors.Is(err, errNothingToDo) {
			s.discard()
			s = nil
		}
		pool <- s
	}()
	if s != nil {
		// A file that was removed or replaced can still be read and
		// written to, though nobody else ever sees it again.
		file, err := c.file()
		if err != nil {
			return err
		}
		if !c.same(s.file, file) {
			s.discard()
			s = nil
		}
	}
	if s == nil {
		if s, err = c.open(ctx, u); err != nil {
			return err
		}
	}
	switch u {
	case keeping:
		return do(s)
	case writing:
		err = c.beginWriting(ctx, s)
	default:
		err = s.begin(ctx, u.begin)
	}
	if err != nil {
		return err
	}
	// Ending a transaction is not given up half-way, so that a call whose
	// context ends there still knows what became of its work.
	finish := context.WithoutCancel(ctx)
	if err = do(s); err == nil {
		_, err = s.exec(finish, u.end)
	}
	if err != nil {
		_, _ = s.exec(finish, "ROLLBACK")
	}
	return err
}
