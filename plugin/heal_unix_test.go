//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// promptly is how soon a call ends after its plugin was killed; an idle
// machine takes some 30 ms.
const promptly = time.Second

func pidOf(t *testing.T, p *plugin.Plugin) int {
	t.Helper()
	info, err := p.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Documents)
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// waiting starts a search that ends when release is called, and returns once
// the plugin works on it.
func waiting(t *testing.T, p *plugin.Plugin) (answer <-chan error, release func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go")
	done := make(chan error, 1)
	go func() {
		_, err := tell(context.Background(), p, "wait "+file)
		done <- err
	}()
	time.Sleep(50 * time.Millisecond) // for the request to arrive
	return done, func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

func TestASearchWhosePluginIsKilledIsRepeated(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	answer, release := waiting(t, p)
	release() // the process is killed first, or answers: both are right
	start := time.Now()
	kill(t, pid)
	if err := <-answer; err != nil {
		t.Errorf("the search gave %v, want it repeated", err)
	}
	if took := time.Since(start); took > promptly {
		t.Errorf("the search ended %v after the kill, want at most %v", took, promptly)
	}
	if again := pidOf(t, p); again == pid {
		t.Errorf("process %d answered after it was killed", pid)
	}
}

func TestASearchIsRepeatedOnceOnly(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	answer, release := waiting(t, p)
	defer release()
	first := pidOf(t, p)
	kill(t, first)
	second := first
	eventually(t, "a second process serves", func() bool { second = pidOf(t, p); return second != first })
	time.Sleep(50 * time.Millisecond) // for the repeated request to arrive
	start := time.Now()
	kill(t, second)
	err := <-answer
	if !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("the search gave %v, want ErrUnavailable that says how the plugin ended", err)
	}
	if took := time.Since(start); took > promptly {
		t.Errorf("the search ended %v after the kill, want at most %v", took, promptly)
	}
	mustTell(t, p, "pid")
}

func TestWritesAreNeverRepeated(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	docs := []provider.Document{
		{URL: "https://a.example/1", Site: "a.example", Schema: []byte(`{}`), Name: "hang"},
		{URL: "", Site: " b.example ", Schema: []byte(`{}`)},
		{URL: "https://a.example/2", Site: " a.example", Schema: []byte(`{}`)},
	}
	var put, del error
	var results []provider.PutResult
	var wg sync.WaitGroup
	wg.Go(func() { results, put = p.Put(context.Background(), docs) })
	wg.Go(func() {
		_, del = p.Delete(context.Background(), provider.Selector{Site: "hang.example", WholeSite: true})
	})
	pid := pidOf(t, p)
	time.Sleep(50 * time.Millisecond) // for the requests to arrive
	kill(t, pid)
	wg.Wait()
	if !errors.Is(del, provider.ErrUnavailable) {
		t.Errorf("Delete gave %v, want ErrUnavailable", del)
	}
	if put != nil || len(results) != len(docs) {
		t.Fatalf("Put gave %v, %v, want a result per document: they may have been kept", results, put)
	}
	for i, want := range []struct {
		site    string
		outcome provider.Outcome
		err     error
	}{
		{"a.example", provider.Unknown, provider.ErrUnavailable},
		{"b.example", provider.Failed, provider.ErrInvalid},
		{"a.example", provider.Unknown, provider.ErrUnavailable},
	} {
		got := results[i]
		if got.Site != want.site || got.URL != docs[i].URL || got.Outcome != want.outcome || !errors.Is(got.Err, want.err) {
			t.Errorf("result %d is %+v, want %+v", i, got, want)
		}
	}
}

func TestAPutPastItsDeadlineIsUnknown(t *testing.T) {
	p := open(t, kind("puppet"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	results, err := p.Put(ctx, []provider.Document{{URL: "https://a.example/1", Site: "a.example", Schema: []byte(`{}`), Name: "hang"}})
	if errors.Is(err, context.DeadlineExceeded) {
		return // the plugin saw the deadline first and said that nothing was done
	}
	if err != nil || results[0].Outcome != provider.Unknown || !errors.Is(results[0].Err, context.DeadlineExceeded) {
		t.Errorf("Put gave %+v, %v, want Unknown because of the deadline", results, err)
	}
}

func TestSIGTERMLetsCallsFinish(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	answer, release := waiting(t, p)
	syscall.Kill(pid, syscall.SIGTERM)
	time.Sleep(20 * time.Millisecond)
	release()
	if err := <-answer; err != nil {
		t.Errorf("the call in flight gave %v", err)
	}
	eventually(t, "another process serves", func() bool { return pidOf(t, p) != pid })
	eventually(t, "the old process is gone", func() bool { return !alive(pid) })
}

func TestSIGINTIsTheHostsBusiness(t *testing.T) {
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	syscall.Kill(pid, syscall.SIGINT)
	mustTell(t, p, "print 1")
	if again := pidOf(t, p); again != pid {
		t.Errorf("process %d became %d", pid, again)
	}
}

func TestACrashLoopIsATypedErrorWithTheLastWords(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	var err error
	for i := 0; !errors.Is(err, plugin.ErrCrashLoop); i++ {
		if i == 5 {
			t.Fatalf("after %d calls that each ended two processes the error is %v", i, err)
		}
		if _, err = tell(t.Context(), p, "exit 7"); !errors.Is(err, provider.ErrUnavailable) {
			t.Fatalf("the call gave %v, want ErrUnavailable", err)
		}
	}
	var start *plugin.StartError
	if !errors.As(err, &start) || !strings.Contains(strings.Join(start.LastWords, "\n"), "leaving with 7") {
		t.Errorf("error %v, want the last words of the plugin", err)
	}
	begin := time.Now()
	if _, err := p.Info(t.Context()); !errors.Is(err, plugin.ErrCrashLoop) {
		t.Errorf("the next call gave %v, want the same error", err)
	}
	if took := time.Since(begin); took > promptly {
		t.Errorf("it took %v, want it at once", took)
	}
}

func TestAnAnswerEndsACrashLoop(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	for i := range 6 {
		mustTell(t, p, "pid")
		if _, err := tell(t.Context(), p, "exit 7"); !errors.Is(err, provider.ErrUnavailable) || errors.Is(err, plugin.ErrCrashLoop) {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}

func TestManyCallersShareOneStart(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	kill(t, pidOf(t, p))
	pids := make([]int, 32)
	var wg sync.WaitGroup
	for i := range pids {
		wg.Go(func() {
			said, err := tell(context.Background(), p, "pid")
			if err != nil {
				t.Error(err)
			}
			pids[i], _ = strconv.Atoi(said)
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] {
			t.Fatalf("processes %v answered, want one", pids)
		}
	}
}

func TestRestartsLeaveNothingBehind(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("needs /proc/self/fd")
		}
		return len(entries)
	}
	pidOf(t, p)
	before := descriptors()
	for range 20 {
		kill(t, pidOf(t, p))
	}
	pidOf(t, p)
	eventually(t, fmt.Sprintf("at most the %d file descriptors of before", before), func() bool { return descriptors() <= before })
}
