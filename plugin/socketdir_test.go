//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package plugin

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestSweepingTakesOnlyWhatNobodyHolds(t *testing.T) {
	root, err := os.MkdirTemp("", "sp")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	t.Setenv("TMPDIR", root)
	socketIn := func(dir string) {
		l, err := net.Listen("unix", filepath.Join(dir, "plugin1"))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}
	held, err := newSocketDir()
	if err != nil {
		t.Fatal(err)
	}
	socketIn(held.path)
	left, err := newSocketDir()
	if err != nil {
		t.Fatal(err)
	}
	socketIn(left.path)
	left.lock.Close() // as the system does when a process is killed
	documents := filepath.Join(root, socketDirPrefix+"documents")
	for _, dir := range []string{documents, filepath.Join(root, "plugin-dir1")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(documents, "thesis"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(root, socketDirPrefix+"link")); err != nil {
		t.Fatal(err)
	}

	if n := sweepSocketDirs(); n != 1 {
		t.Errorf("swept %d directories, want the one that nobody holds", n)
	}
	for path, want := range map[string]bool{
		left.path: false, filepath.Join(held.path, "plugin1"): true, filepath.Join(documents, "thesis"): true,
		filepath.Join(root, "plugin-dir1"): true, elsewhere: true, filepath.Join(root, socketDirPrefix+"link"): true,
	} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	held.remove()
	if _, err := os.Stat(held.path); !os.IsNotExist(err) {
		t.Errorf("the directory is there after it was removed: %v", err)
	}
}
