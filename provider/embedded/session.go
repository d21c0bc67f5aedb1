package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busyWait is how long a call without a deadline waits for another process to
// finish writing.
const busyWait = 30 * time.Second

// connections are the open connections to a store's file: one that writes and
// a few that read. Each is used by one call at a time.
type connections struct {
	db      *sql.DB
	path    string
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
	if err == nil {
		if err = checkFile(ctx, path, first); err != nil {
			first.discard()
		}
	}
	if err != nil {
		db.Close()
		return nil, failure(ctx, "open store "+path, err)
	}
	c.writer <- first
	return c, nil
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

func (c *connections) open(ctx context.Context, cache int) (*session, error) {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, stmts: make(map[string]*sql.Stmt)}
	if _, err := conn.ExecContext(ctx, "PRAGMA cache_size = -"+strconv.Itoa(cache)); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// read runs do in a read transaction: all that do reads is one state of the
// store, whatever is written meanwhile.
func (c *connections) read(ctx context.Context, do func(*session) error) error {
	return c.with(ctx, c.readers, readerCache, "BEGIN", "ROLLBACK", do)
}

// write runs do in a transaction that writes. Where do or the commit fails,
// nothing of it is kept; errNothingToDo is no failure.
func (c *connections) write(ctx context.Context, do func(*session) error) error {
	err := c.with(ctx, c.writer, writerCache, "BEGIN IMMEDIATE", "COMMIT", do)
	if errors.Is(err, errNothingToDo) {
		return nil
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
