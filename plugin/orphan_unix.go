//go:build unix

package plugin

import (
	"os"
	"time"
)

// waitForOrphaned returns true when the parent of this process has died. It
// stands behind the lease on standard input, which a host may not give, or may
// leak to another process. Under a parent that is the first process of the
// system there is nothing to see, and it returns false.
func waitForOrphaned() bool {
	parent := os.Getppid()
	if parent <= 1 {
		return false
	}
	for os.Getppid() == parent {
		time.Sleep(500 * time.Millisecond)
	}
	return true
}
