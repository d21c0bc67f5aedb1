package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"runtime"
	"strconv"
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
	fixed   bool          // the file can only be read; see dataSourceFixed
	checked atomic.Value  // fileInfo of the file that was found to be a store
	writer  chan *session // holds the writer while nobody uses it; nil: to be opened
	readers chan *session // as many as may be open
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
		writer:  make(chan *session, 1),
		readers: make(chan *session, max(4, 2*runtime.GOMAXPROCS(0))),
	}
	for range cap(c.readers) {
		c.readers <- nil
	}
	first, err := c.open(ctx, writerCache)
	if err != nil && c.fix(err) {
		first, err = c.open(ctx, writerCache)
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
	(<-c.writer).discard()
	return c.db.Close()
}

// The page caches, in KiB. What readers need is mapped into memory; the writer
// keeps the inner pages of the indexes.
const (
	readerCache = 2_000
	writerCache = 32_000
)

// open opens the file that is at the path now, and checks that it is a store.
func (c *connections) open(ctx context.Context, cache int) (*session, error) {
	for range 10 {
		file, err := c.file()
		if err != nil {
			return nil, err
		}
		s, err := c.openFile(ctx, cache, file)
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

func (c *connections) openFile(ctx context.Context, cache int, file os.FileInfo) (*session, error) {
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
	s := &session{conn: conn, stmts: make(map[string]*sql.Stmt), file: file}
	_, err = conn.ExecContext(ctx, "PRAGMA cache_size = -"+strconv.Itoa(cache))
	if err == nil && fresh {
		err = c.bringUpToDate(ctx, s)
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	c.checked.Store(fileInfo{file})
	return s, nil
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
	return c.with(ctx, c.readers, readerCache, "BEGIN", "ROLLBACK", do)
}

// write runs do in a transaction that writes. Where do or the commit fails,
// nothing of it is kept; errNothingToDo is no failure.
func (c *connections) write(ctx context.Context, do func(*session) error) error {
	if c.fixed {
		return provider.Errorf(provider.ErrPermission, "the store can only be read: %s or its directory cannot be written", c.path)
	}
	var file os.FileInfo
	err := c.with(ctx, c.writer, writerCache, "BEGIN IMMEDIATE", "COMMIT", func(s *session) error {
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

func (c *connections) with(ctx context.Context, pool chan *session, cache int, begin, end string, do func(*session) error) (err error) {
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
		if s, err = c.open(ctx, cache); err != nil {
			return err
		}
	}
	if err := s.begin(ctx, begin); err != nil {
		return err
	}
	// Ending a transaction is not given up half-way, so that a call whose
	// context ends there still knows what became of its work.
	finish := context.WithoutCancel(ctx)
	if err := do(s); err != nil {
		_, _ = s.exec(finish, "ROLLBACK")
		return err
	}
	if err := ctx.Err(); err != nil {
		_, _ = s.exec(finish, "ROLLBACK")
		return err
	}
	if _, err := s.exec(finish, end); err != nil {
		_, _ = s.exec(finish, "ROLLBACK")
		return err
	}
	return nil
}

// session is a connection with the statements prepared on it.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	file  os.FileInfo // what it has open
}

// begin starts a transaction. SQLite's own wait for a lock ends with ctx or
// after busyWait; a caller whose deadline is later wants to wait longer.
func (s *session) begin(ctx context.Context, stmt string) error {
	for {
		_, err := s.exec(ctx, stmt)
		if err == nil || !isBusy(err) || ctx.Err() != nil {
			return err
		}
		if _, ok := ctx.Deadline(); !ok {
			return err
		}
	}
}

func (s *session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = stmt
	return stmt, nil
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

func (s *session) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// each calls row for every row of query.
func (s *session) each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := s.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// row runs a query that gives at most one row.
func (s *session) row(ctx context.Context, query string, args ...any) scanner {
	rows, err := s.query(ctx, query, args...)
	return scanner{rows, err}
}

// scanner holds the one row of a query, or why there is none.
type scanner struct {
	rows *sql.Rows
	err  error
}

// Scan copies the row's columns. Its error is sql.ErrNoRows where there is no
// row.
func (r scanner) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Err()
}

// discard closes the connection for good.
func (s *session) discard() {
	if s == nil {
		return
	}
	for _, stmt := range s.stmts {
		_ = stmt.Close()
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	if err := s.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return
	}
}
