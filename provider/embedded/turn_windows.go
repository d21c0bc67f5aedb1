package embedded

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// openSeat opens a file of its own: a directory cannot be locked.
func openSeat(dir string) (seat, error) {
	return os.OpenFile(filepath.Join(dir, FileName+"-turn"), os.O_RDWR|os.O_CREATE, 0o600)
}

// takeSeat reports whether it has locked f, and an error where that cannot be.
func takeSeat(f seat) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
