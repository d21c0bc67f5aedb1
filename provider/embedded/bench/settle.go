package main

import "time"

// settling is what an engine goes on doing in the background when it was given
// nothing more to do.
type settling struct {
	took time.Duration // until it was last at work
	cpu  time.Duration
}

// An engine is at work where it uses more than a twentieth of one core, or
// writes more than a little, in an interval of settleLook. After settleLimit
// it is not waited for any longer.
const (
	settleLook  = 50 * time.Millisecond
	settleBytes = 64 << 10
	settleLimit = 3 * time.Minute
)

// settle waits until this process has not been at work for as long as quiet.
func settle(quiet time.Duration) settling {
	start := time.Now()
	lastBusy, cpuBefore := start, processorTime()
	cpu, written := cpuBefore, bytesWritten()
	for time.Since(lastBusy) < quiet && time.Since(start) < settleLimit {
		time.Sleep(settleLook)
		cpuNow, writtenNow := processorTime(), bytesWritten()
		if cpuNow-cpu > settleLook/20 || writtenNow-written > settleBytes {
			lastBusy = time.Now()
		}
		cpu, written = cpuNow, writtenNow
	}
	return settling{took: lastBusy.Sub(start), cpu: cpu - cpuBefore}
}
