//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package plugin

import (
	"fmt"
	"os"
)

// socketDir is the private directory of one plugin's socket. This system has
// no locks by which another host could tell that it is in use, so one that a
// killed host leaves stays; on Windows nothing is ever in it.
type socketDir struct{ path string }

func newSocketDir() (*socketDir, error) {
	path, err := os.MkdirTemp("", "spsock-")
	if err == nil && len(path) > maxSocketDir {
		os.Remove(path)
		err = fmt.Errorf("the socket directory %s is %d bytes long, more than %d: set TMPDIR to a shorter path", path, len(path), maxSocketDir)
	}
	return &socketDir{path: path}, err
}

func (d *socketDir) remove() { os.RemoveAll(d.path) }

func sweepSocketDirs() int { return 0 }
