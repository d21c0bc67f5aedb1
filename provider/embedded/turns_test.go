package embedded

import (
	"slices"
	"testing"
	"time"
)

// A single document is put in time beside a process that puts as fast as it can.
func TestASinglePutBesideAFullSpeedIngest(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, calm: keeperCalm})
	ingester := start(t, crowdDir, dir)
	_ = ingester.tell("ingest 1 1000 %v", crowdTime())
	var waits []time.Duration
	answers := 0
	for going := true; going; {
		select {
		case _, going = <-ingester.said:
			answers++
		default:
			if answers == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			began := time.Now()
			put(t, s, crowdDocument(len(waits), 1))
			waits = append(waits, time.Since(began))
			time.Sleep(5 * time.Millisecond)
		}
	}
	if err := ingester.wait(); err != nil {
		t.Fatalf("the ingester: %v", err)
	}
	if len(waits) == 0 {
		t.Fatal("no single document was put beside the ingest")
	}
	slices.Sort(waits)
	at := func(percent int) time.Duration {
		return waits[min(len(waits)-1, len(waits)*percent/100)].Round(10 * time.Microsecond)
	}
	t.Logf("%d single puts beside %d calls of an ingest: p50 %v, p95 %v, p99 %v, max %v", len(waits), answers, at(50), at(95), at(99), at(100))
	if most := waits[len(waits)-1]; most > busyWait {
		t.Errorf("a single put took %v, want less than %v", most, busyWait)
	}
	checked(t, s)
}
