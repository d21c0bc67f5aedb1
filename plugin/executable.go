package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// executable is the file that one process is started from. It is looked at
// before the start and after it, so that what runs is what was looked at.
type executable struct {
	spec   Spec
	info   os.FileInfo
	file   *os.File // open where its checksum was asked for
	direct bool     // the open file itself is executed
}

// openExecutable looks the file of a complete spec up and checks its sum, if
// one is required.
func openExecutable(spec Spec) (_ *executable, err error) {
	e := &executable{spec: spec}
	if spec.SHA256 == "" {
		if e.info, err = os.Stat(spec.Path); err != nil {
			return nil, e.unreadable(err)
		}
		return e, nil
	}
	if e.file, err = os.Open(spec.Path); err != nil {
		return nil, e.unreadable(err)
	}
	if e.info, err = e.file.Stat(); err != nil {
		e.close()
		return nil, e.unreadable(err)
	}
	if err := e.checkSum(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *executable) unreadable(err error) error {
	return &StartError{Path: e.spec.name, Kind: provider.ErrInvalid, Cause: err, Reason: plainReason(err)}
}

func (e *executable) checkSum() error {
	sum := sha256.New()
	if _, err := io.Copy(sum, e.file); err != nil {
		return &StartError{Path: e.spec.name, Kind: provider.ErrUnavailable, Cause: err, Reason: plainReason(err)}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, e.spec.SHA256) {
		return &StartError{
			Path: e.spec.name, Kind: provider.ErrInvalid, Cause: ErrChecksum,
			Reason: fmt.Sprintf("its SHA-256 is %s, the one required is %s", got, strings.ToLower(e.spec.SHA256)),
		}
	}
	return nil
}

// command starts the very file whose sum was checked, where the system can do
// it: another may be at its path by now. A script is started by its path,
// because its interpreter opens that again.
func (e *executable) command() *exec.Cmd {
	path := e.spec.Path
	if e.file != nil {
		head := make([]byte, 2)
		if n, _ := e.file.ReadAt(head, 0); n < 2 || string(head) != "#!" {
			path, e.direct = openPath(e.file, path)
		}
	}
	cmd := exec.Command(path, e.spec.Args...)
	cmd.Args[0] = e.spec.name
	return cmd
}

// confirm returns an error if the file has been replaced, or written to, since
// it was looked at: then nobody knows which of the two runs.
func (e *executable) confirm() error {
	look := func() (os.FileInfo, error) { return os.Stat(e.spec.Path) }
	if e.direct {
		look = e.file.Stat
	}
	if now, err := look(); err == nil && sameVersion(e.info, now) {
		return nil
	}
	return &StartError{
		Path: e.spec.name, Kind: provider.ErrUnavailable, Cause: ErrReplaced,
		Reason: "its file was replaced or written to while it was being started",
	}
}

// replaced reports whether the file at the path that people know is another
// one than was started.
func (e *executable) replaced() bool {
	now, err := os.Stat(e.spec.name)
	return err != nil || !sameVersion(e.info, now)
}

func (e *executable) close() {
	if e.file != nil {
		e.file.Close()
		e.file = nil
	}
}

func sameVersion(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
