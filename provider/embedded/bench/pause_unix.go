//go:build unix

package main

import "syscall"

// pause stops a child until resume, so that what it does in the background
// takes its own time and nobody else's.
func (c *child) pause() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *child) resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }
