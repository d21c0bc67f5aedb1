package main

import (
	"runtime"
	"testing"
	"time"
)

func TestSettlingLastsAsLongAsThereIsWorkInTheBackground(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the processor time of a process is known on Unix only")
	}
	const work = 300 * time.Millisecond
	over := make(chan struct{})
	go func() {
		defer close(over)
		for end := processorTime() + work; processorTime() < end; {
		}
	}()
	s := settle(500 * time.Millisecond)
	<-over
	if s.took < work/2 || s.cpu < work/2 {
		t.Errorf("settled after %v with %v of processor time, want about %v", s.took, s.cpu, work)
	}
}
