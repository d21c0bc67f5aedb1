//go:build !linux && !darwin

package plugin

import "os"

// waitForExit returns false: here a process cannot be watched without reaping
// it, and what it started is not ended with it unless it is killed.
func waitForExit(*os.Process) bool { return false }
