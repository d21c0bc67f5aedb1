//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// socketDir is the private directory of one plugin's socket. The host holds a
// lock on it for as long as it lives, and longer than any record of its number
// could be trusted.
type socketDir struct {
	path string
	lock *os.File
}

// socketDirPrefix begins the names of these directories.
const socketDirPrefix = "spsock-"

// newSocketDir makes a directory among the temporary files, mode 0700.
func newSocketDir() (*socketDir, error) {
	for range 3 {
		path, err := os.MkdirTemp("", socketDirPrefix)
		if err != nil {
			return nil, err
		}
		if len(path) > maxSocketDir {
			os.Remove(path)
			return nil, fmt.Errorf("the socket directory %s is %d bytes long, more than the %d that leave room for a socket: set TMPDIR to a shorter path",
				path, len(path), maxSocketDir)
		}
		// Another host may sweep it away between the making and the lock.
		lock, err := lockDir(path)
		if err == nil {
			return &socketDir{path: path, lock: lock}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
			os.Remove(path)
			return nil, fmt.Errorf("lock the socket directory: %w", err)
		}
	}
	return nil, errors.New("make a socket directory: others remove it at once")
}

// lockDir locks the directory that is at path, and is still there then.
func lockDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
	locked, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(locked, there) {
			err = &os.PathError{Op: "lock", Path: path, Err: fs.ErrNotExist}
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove removes the directory and what is in it.
func (d *socketDir) remove() {
	os.RemoveAll(d.path)
	d.lock.Close()
}

// sweepSocketDirs removes what hosts of this user left behind that were killed:
// directories that nobody holds the lock of, and that hold nothing but sockets.
// It returns how many there were.
func sweepSocketDirs() int {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), socketDirPrefix+"*"))
	swept := 0
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			continue
		}
		lock, err := lockDir(path)
		if err != nil {
			continue
		}
		if removeSockets(path) == nil {
			swept++
		}
		lock.Close()
	}
	return swept
}
