//go:build !unix

package main

// pause and resume do nothing where a process cannot be stopped: there, what an
// engine does in the background takes some of the others' time.
func (c *child) pause() error { return nil }

func (c *child) resume() error { return nil }
