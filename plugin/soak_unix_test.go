//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// long reports whether the long forms of tests are asked for.
func long() bool { return os.Getenv("SITEPROVIDER_LONG") != "" }

// burden is what a host carries.
type burden struct {
	goroutines, descriptors int
	heap                    uint64 // bytes in use
	resident                string // memory of the process, as Linux tells it
}

func measured() burden {
	runtime.GC()
	runtime.GC() // what the first finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b := burden{goroutines: runtime.NumGoroutine(), descriptors: len(descriptors()), heap: m.HeapAlloc, resident: "unknown"}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			b.resident = strings.TrimSpace(rest)
		}
	}
	return b
}

func (b burden) String() string {
	return fmt.Sprintf("%d goroutines, %d file descriptors, %d KiB of heap, %s resident", b.goroutines, b.descriptors, b.heap>>10, b.resident)
}

// A host whose plugin is killed again and again, each time after it has
// answered, ends as it began.
func TestRestartsLeaveNothingBehind(t *testing.T) {
	nothingLeft(t)
	rounds := 30
	if long() {
		rounds = 1000
	}
	p := open(t, kind("puppet"))
	round := func(last int) int {
		pid := pidOf(t, p)
		if pid == last {
			t.Fatalf("process %d answered after it was killed", pid)
		}
		if left := processesOf(os.Getenv("TMPDIR")); len(left) > 2 {
			t.Fatalf("processes %v are left of those that were killed", left)
		}
		kill(t, pid)
		// What is next looks at an end that has been noticed: a call made
		// before is repeated, which other tests are about.
		eventually(t, "the process is reaped", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
		return pid
	}
	last := 0
	for range 10 { // what is made once is made now
		last = round(last)
	}
	pidOf(t, p)
	var before, after burden
	settle := func(b *burden, least int) bool { *b = measured(); return least == 0 || b.goroutines <= least }
	settle(&before, 0)
	start := time.Now()
	last = 0
	for range rounds {
		last = round(last)
	}
	took := time.Since(start)
	pidOf(t, p)
	eventually(t, "as many goroutines and file descriptors as before", func() bool {
		return settle(&after, before.goroutines) && after.descriptors <= before.descriptors
	})
	t.Logf("%d kills and restarts in %v\nbefore: %v\nafter:  %v", rounds, took.Round(time.Millisecond), before, after)
	if grown := int64(after.heap) - int64(before.heap); grown > 2<<20 {
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
}

// Searches go on while the plugin is killed five times a second. Every call
// ends within its deadline, most are right, the rest say that the provider is
// not available, and none is wrong.
func TestSearchesWhileThePluginIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("SQLite is slow under the race detector; runs without -short")
	}
	nothingLeft(t)
	const callers, deadline, grace = 64, 10 * time.Second, 2 * time.Second
	lasts := 2 * time.Second
	if long() {
		lasts = 30 * time.Second
	}
	spec, events := watched(with("embedded", map[string]string{"data": t.TempDir()}))
	p := open(t, spec)
	var docs []provider.Document
	for i := range callers {
		url := fmt.Sprintf("https://a.example/%d", i)
		docs = append(docs, provider.Document{URL: url, Site: "a.example", Schema: fmt.Appendf(nil, `{"@type":"Thing","name":"bread word%dx"}`, i)})
	}
	if _, err := p.Put(t.Context(), docs); err != nil {
		t.Fatal(err)
	}

	var stop atomic.Bool
	var right, unavailable, wrong, late atomic.Int64
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			q := provider.Query{Text: fmt.Sprintf("word%dx", i), Scope: provider.InSites("a.example")}
			for !stop.Load() {
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				start := time.Now()
				res, err := p.Search(ctx, q)
				took := time.Since(start)
				cancel()
				for old := slowest.Load(); int64(took) > old && !slowest.CompareAndSwap(old, int64(took)); old = slowest.Load() {
				}
				switch {
				case took > deadline+grace:
					late.Add(1)
				case err == nil && len(res.Hits) == 1 && res.Hits[0].URL == docs[i].URL && string(res.Hits[0].Schema) == string(docs[i].Schema):
					right.Add(1)
				case errors.Is(err, provider.ErrUnavailable):
					unavailable.Add(1)
				default:
					if wrong.Add(1) < 5 {
						t.Errorf("%q found %+v, %v", q.Text, res, err)
					}
				}
			}
		})
	}
	kills := 0
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		<-ticker.C
		if pid := events.serving(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			kills++
		}
	}
	stop.Store(true)
	wg.Wait()
	all := right.Load() + unavailable.Load() + wrong.Load() + late.Load()
	t.Logf("%d kills in %v, %d searches: %d right (%.1f %%), %d unavailable, %d wrong, %d past their deadline; the slowest took %v",
		kills, lasts, all, right.Load(), 100*float64(right.Load())/float64(all), unavailable.Load(), wrong.Load(), late.Load(),
		time.Duration(slowest.Load()).Round(time.Millisecond))
	if kills < int(lasts/time.Second) {
		t.Errorf("only %d kills: the test shows little", kills)
	}
	if right.Load()*10 < all*7 || wrong.Load()+late.Load() > 0 {
		t.Error("want at least 70 % right, the rest unavailable")
	}
}

// serving is the process that serves, as far as events have told; 0 if none.
func (l *eventLog) serving() (pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		switch e.Kind {
		case plugin.Serving:
			pid = e.PID
		case plugin.Ended:
			if e.PID == pid {
				pid = 0
			}
		}
	}
	return pid
}
