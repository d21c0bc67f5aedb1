//go:build !unix

package plugin

// waitForOrphaned returns false: this system tells nothing about a parent that
// has died. The lease on standard input does.
func waitForOrphaned() bool { return false }
