package embedded

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/siteprovider/siteprovider/provider"
)

// BackupOptions says where a backup goes.
type BackupOptions struct {
	// Path is the file to write, in a directory that is there.
	Path string
	// Replace lets the backup take the place of a file at Path, once it is
	// complete. Without it such a file is an error that matches ErrInvalid.
	Replace bool
}

// BackupReport says what is in a backup.
type BackupReport struct {
	Sites, Documents int64
	Bytes            int64 // of the file
}

// Backup writes a copy of the store, as it is at one moment, into one file of
// mode 0600, while others read and write. The file appears under its name once
// it is complete and on disk. It holds nothing that was deleted. A copy of it
// named FileName, in a directory of its own, is a store again.
func (s *Store) Backup(ctx context.Context, o BackupOptions) (*BackupReport, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	path, err := filepath.Abs(o.Path)
	if o.Path == "" || err != nil {
		return nil, provider.Invalidf("BackupOptions.Path", "%q is no path of a file", o.Path)
	}
	if err := s.checkTarget(path, o.Replace); err != nil {
		return nil, failure(ctx, "back up", err)
	}
	report, err := s.backup(ctx, path, o.Replace)
	if err != nil {
		return nil, failure(ctx, "back up", err)
	}
	return report, nil
}

// checkTarget looks for what would be wrong with path after all the work.
func (s *Store) checkTarget(path string, replace bool) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return provider.Invalidf("BackupOptions.Path", "%s is not in a directory that is there", path)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, own := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		if mine, err := os.Stat(own); err == nil && os.SameFile(info, mine) {
			return provider.Invalidf("BackupOptions.Path", "%s is the store itself", path)
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return provider.Invalidf("BackupOptions.Path", "%s is not a regular file", path)
	case !replace:
		return errThere(path)
	}
	return nil
}

func errThere(path string) error {
	return provider.Invalidf("BackupOptions.Path", "%s is there already", path)
}

func (s *Store) backup(ctx context.Context, path string, replace bool) (*BackupReport, error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".tmp-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer f.Close()
	temp := f.Name()
	defer func() {
		for _, name := range []string{temp, temp + "-journal", temp + "-wal", temp + "-shm"} {
			os.Remove(name)
		}
	}()
	if err := s.copyInto(ctx, temp); err != nil {
		return nil, err
	}
	report, err := finishCopy(ctx, temp)
	if err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil {
		report.Bytes = info.Size()
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := giveName(temp, path, replace); err != nil {
		return nil, err
	}
	syncDir(dir)
	return report, nil
}

// copyInto writes the store into the empty file at path.
func (s *Store) copyInto(ctx context.Context, path string) error {
	tx, err := s.files.open(ctx, reading)
	if err != nil {
		return err
	}
	defer tx.discard()
	_, err = tx.exec(ctx, "VACUUM INTO ?", path)
	return err
}

// finishCopy gives a copy the write-ahead mode, which SQLite does not copy, and
// says what is in it.
func finishCopy(ctx context.Context, path string) (*BackupReport, error) {
	db, err := sql.Open("sqlite", dataSource(path, 0))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// It is a store of its own, which goes its own way from here.
	if _, err := db.ExecContext(ctx, "UPDATE store SET mark = randomblob(16) || substr(mark, 17)"); err != nil {
		return nil, err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return nil, err
	}
	r := new(BackupReport)
	if err := db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(documents), 0) FROM site").Scan(&r.Sites, &r.Documents); err != nil {
		return nil, err
	}
	return r, db.Close()
}

// giveName makes temp the file at path. Without replace a file that appeared
// there meanwhile is kept.
func giveName(temp, path string, replace bool) error {
	if !replace {
		err := os.Link(temp, path)
		if err == nil {
			return nil
		}
		// Not every file system has links.
		if _, there := os.Lstat(path); there == nil || errors.Is(err, fs.ErrExist) {
			return errThere(path)
		}
	}
	return os.Rename(temp, path)
}
