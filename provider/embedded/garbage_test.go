package embedded

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGarbageIsLimitedByItsBytesWhereMuchIsInUse(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {4 << 20, 100}, {32 << 20, 100}, {64 << 20, 50}, {320 << 20, 10}, {1 << 40, 5}} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%d bytes in use: %d percent, want %d", c.live, got, c.want)
		}
	}
}

func TestTheCollectorFollowsWhatIsInUse(t *testing.T) {
	before := collectorPercent()
	stop := LimitGarbage()
	index := make([]byte, 128<<20)
	for percent := 100; percent > 30; {
		if t.Context().Err() != nil {
			t.Fatal("it never does")
		}
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups have a goroutine of their own
		percent = collectorPercent()
	}
	runtime.KeepAlive(index)
	stop()
	runtime.GC()
	if got := collectorPercent(); got != before {
		t.Errorf("when it has been stopped the percentage is %d, and was %d before", got, before)
	}
}

func collectorPercent() int {
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(percent)
	return int(percent[0].Value.Uint64())
}
