//go:build unix

package embedded

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkPrepare checks and prepares documents for the index, on one
// processor, and reports how many it does in a second of its time.
func BenchmarkPrepare(b *testing.B) {
	docs := DebianDocuments(b)
	a := newAnalyser(newLexicon())
	b.ResetTimer()
	start := cpuTime(b)
	for range b.N {
		for _, d := range docs {
			checked, err := d.Check("document")
			if err != nil {
				b.Fatal(err)
			}
			c := change{doc: checked}
			c.prepare(a)
		}
	}
	b.ReportMetric(float64(len(docs)*b.N)/(cpuTime(b)-start).Seconds(), "docs/cpu-s")
}

// cpuTime returns the time that processors spent on this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
