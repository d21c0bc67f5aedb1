//go:build !unix

package main

import "time"

// pause and resume do nothing where a process cannot be stopped: there, what an
// engine does in the background takes some of the others' time.
func (c *child) pause() error { return nil }

func (c *child) resume() error { return nil }

// processorTime is not known here, so no engine is ever seen to be at work in
// the background.
func processorTime() time.Duration { return 0 }
