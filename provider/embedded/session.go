package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
)

// session is a connection with the statements prepared on it.
type session struct {
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	file   os.FileInfo // what it has open
	number int64       // of the file; see storeFile
}

// begin starts what needs a lock. SQLite's own wait for a lock ends with ctx or
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
