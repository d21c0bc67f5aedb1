package embedded

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestABackupIsAStoreOfOneMoment(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	stop := writerProcess(t, dir)
	path := filepath.Join(target, "backup.db")
	before := stats(t, s)
	r, err := s.Backup(t.Context(), BackupOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
		t.Errorf("the backup: %v, %v; want mode 0600 and %d bytes", info, err, r.Bytes)
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) != 1 {
		t.Errorf("beside the backup is left %v, %v", entries, err)
	}

	restored := t.TempDir()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(restored, FileName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Dir: restored, MustExist: true})
	after := checked(t, b)
	if after.Documents != r.Documents || after.Sites != r.Sites || r.Documents < before.Documents-1 {
		t.Errorf("the backup has %+v, was said to have %+v, and the store had %+v", after, r, before)
	}
	wantFound(t, b, "number9", provider.InSites("shop.example"), "https://shop.example/09")
	var mode string
	if err := b.files.read(t.Context(), func(tx *session) error { return tx.row(t.Context(), "PRAGMA journal_mode").Scan(&mode) }); err != nil || mode != "wal" {
		t.Errorf("the backup has the journal mode %q, %v; want wal", mode, err)
	}
	put(t, b, doc("c.example", "https://c.example/", "", "later"))
	wantAcknowledged(t, s, stop())
	checked(t, s)
}

func TestABackupHoldsNothingThatWasDeleted(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	put(t, s, doc("shop.example", "https://shop.example/zyzzyvamarker", "", "tea"))
	remove(t, s, provider.Selector{Site: "shop.example", URLs: []string{"https://shop.example/zyzzyvamarker"}})
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), BackupOptions{Path: filepath.Join(target, "b")}); err != nil {
		t.Fatal(err)
	}
	if names := filesWith(t, target, "zyzzyvamarker"); len(names) > 0 {
		t.Errorf("what was deleted is in %q", names)
	}
}

func TestABackupNeverTakesTheWrongFilesPlace(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	there := filepath.Join(target, "there")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		o    BackupOptions
		word string
	}{
		{"no path", BackupOptions{}, "no path"},
		{"a file that is there", BackupOptions{Path: there}, "is there already"},
		{"a directory", BackupOptions{Path: target, Replace: true}, "not a regular file"},
		{"no directory", BackupOptions{Path: filepath.Join(target, "no", "b")}, "not in a directory"},
		{"below a file", BackupOptions{Path: filepath.Join(there, "b")}, "not in a directory"},
		{"the store", BackupOptions{Path: filepath.Join(dir, FileName), Replace: true}, "the store itself"},
		{"the store's log", BackupOptions{Path: filepath.Join(dir, FileName+"-wal"), Replace: true}, "the store itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.Backup(t.Context(), c.o)
			wantError(t, err, provider.ErrInvalid, c.word)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Backup(ctx, BackupOptions{Path: filepath.Join(target, "b")}); err == nil {
		t.Error("a backup that was given up succeeds")
	}
	if raw, err := os.ReadFile(there); err != nil || string(raw) != "mine" {
		t.Errorf("the file that was there has %q, %v", raw, err)
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v; want only the file that was there", entries, err)
	}
	checked(t, s)
	if _, err := s.Backup(t.Context(), BackupOptions{Path: there, Replace: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(there); err != nil || len(filesWith(t, target, "Kettle")) != 1 {
		t.Errorf("the file that was to be replaced was not (%v)", err)
	}
}
