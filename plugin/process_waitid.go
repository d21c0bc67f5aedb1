//go:build linux || darwin

package plugin

import (
	"os"
	"syscall"
	"unsafe"
)

// waitForExit blocks until p has ended and leaves it to be waited for. It
// returns false where that cannot be watched.
func waitForExit(p *os.Process) bool {
	const byPid = 1     // P_PID of waitid(2), on both systems
	var info [16]uint64 // a siginfo_t, which has at most 128 bytes
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(p.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
