package embedded

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbageBytes is how much garbage LimitGarbage lets lie beside a large index.
const garbageBytes = 32 << 20

// LimitGarbage has the garbage collector start, from now on, when there are about
// 32 MiB of garbage, instead of as much as there is in use, which is what it
// usually waits for. Indexes in memory are large and of no work to it, so that
// collecting often costs little and a process with an index of 300 MB stays
// near that. Only the process as a whole has such a setting; it is for programs
// that do little else than hold stores. The variable GOGC, where it is set, is
// the better judge, and then the program should leave this alone. What it
// returns ends it.
func LimitGarbage() (stop func()) {
	usual := debug.SetGCPercent(100)
	w := &garbageWatch{percent: 100}
	w.again()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stopped = true
		debug.SetGCPercent(usual)
	}
}

// garbageWatch sets, after each collection, when the next one is to be.
type garbageWatch struct {
	mu      sync.Mutex
	percent int
	stopped bool
}

// again has adjust called after the next collection, which finds what is left
// here without use.
func (w *garbageWatch) again() {
	runtime.AddCleanup(new([4]*garbageWatch), (*garbageWatch).adjust, w)
}

func (w *garbageWatch) adjust() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := garbagePercent(live[0].Value.Uint64()); percent != w.percent {
		w.percent = percent
		debug.SetGCPercent(percent)
	}
	w.again()
}

// garbagePercent returns the share of the bytes in use that garbage may have.
func garbagePercent(live uint64) int {
	return int(min(100, max(5, 100*garbageBytes/max(live, 1))))
}
