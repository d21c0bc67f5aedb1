package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/siteprovider/siteprovider/provider"
)

// failure gives err, met while doing op, its class in the contract. ctx is the
// call's: what fails because the call was given up is reported as that.
func failure(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	var known *provider.Error
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		if errors.As(context.Cause(ctx), &known) {
			return known
		}
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", op, err)
	}
	return provider.Errorf(failureKind(err), "%s: %s", op, failureWords(err))
}

func failureKind(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return provider.ErrPermission
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, driver.ErrBadConn), isPathError(err):
		return provider.ErrUnavailable
	case isForeign(err):
		return provider.ErrCorrupt
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return provider.ErrUnavailable
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return provider.ErrPermission
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return provider.ErrCorrupt
	}
	return provider.ErrInternal
}

// failureWords adds to SQLite's words what they leave open: what it means here
// and what to do.
func failureWords(err error) string {
	const full = "disk full: nothing of this call was kept, all that was stored before is intact (%v)"
	switch {
	case errors.Is(err, syscall.ENOSPC), sqliteCode(err) == sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Sprintf(full, err)
	case isForeign(err):
		return fmt.Sprintf("%v; %s", err, whatToDo)
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Sprintf(full, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Sprintf("busy: another process is writing to the store; try again (%v)", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Sprintf("the store can only be read, not written (%v)", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Sprintf("%v; %s", err, whatToDo)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Sprintf("the file is not a store of siteprovider (%v); %s", err, whatToDo)
	}
	return err.Error()
}

const whatToDo = "restore it from a backup (empty its directory first, so that no -wal or -shm file is left), or move it away and ingest again"

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isForeign reports whether err can only come of a file whose tables or rows are
// not as this package makes them: every statement is one that works on those,
// and no row that it writes can be there already.
func isForeign(err error) bool {
	var sqliteErr *sqlite.Error
	if errors.As(err, &sqliteErr) {
		switch sqliteErr.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT:
			return true
		case sqlite3.SQLITE_ERROR:
			return strings.Contains(sqliteErr.Error(), "no such ") || strings.Contains(sqliteErr.Error(), "has no column")
		}
		return false
	}
	return errors.Is(err, sql.ErrNoRows) || strings.HasPrefix(err.Error(), "sql: Scan error")
}

func isBusy(err error) bool {
	code := sqliteCode(err) & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

func isPathError(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

// damaged is the error for a part of the store that is not as it was written.
func damaged(format string, args ...any) error {
	return provider.Errorf(provider.ErrCorrupt, "%s; %s", fmt.Sprintf(format, args...), whatToDo)
}
