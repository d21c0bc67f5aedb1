//go:build unix

package main

import (
	"syscall"
	"time"
)

// pause stops a child until resume, so that what it does in the background
// takes its own time and nobody else's.
func (c *child) pause() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *child) resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }

// processorTime is what this process has used of the processors so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
