//go:build unix

package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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

func aPanicInAHandler(t *testing.T) {
	var log lockedBuffer
	spec := kind("puppet")
	spec.Log = slog.New(slog.NewTextHandler(&log, nil))
	p := open(t, spec)
	pid := mustTell(t, p, "pid")
	_, err := tell(t.Context(), p, "panic text-of-a-document")
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.ErrInternal {
		t.Fatalf("a panic gave %v, want ErrInternal", err)
	}
	_, id, ok := strings.Cut(e.Reason, "request ")
	if !ok {
		t.Fatalf("the error %q names no request", e.Reason)
	}
	eventually(t, "the log tells of request "+id, func() bool { return strings.Contains(log.String(), id) })
	if strings.Contains(log.String()+err.Error(), "text-of-a-document") {
		t.Error("what the panic threw is told above debug level")
	}
	if again := mustTell(t, p, "pid"); again != pid {
		t.Errorf("process %s became %s", pid, again)
	}
}

// crashes is a call that ends whatever process it is made on.
func crashes(command string) func(*testing.T) {
	return func(t *testing.T) {
		p := open(t, kind("puppet"))
		pid := pidOf(t, p)
		_, err := tell(t.Context(), p, command)
		wantErrors(t, err, provider.ErrUnavailable)
		if err == nil || !strings.Contains(err.Error(), "exit status") {
			t.Errorf("the call gave %v, want an error that says how the plugin ended", err)
		}
		if again := pidOf(t, p); again == pid {
			t.Errorf("process %d answered after its end", pid)
		}
	}
}

func killedInACall(t *testing.T) {
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	answer, release := waiting(t, p, pid)
	start := time.Now()
	kill(t, pid)
	release()
	if err := <-answer; err != nil {
		t.Errorf("the search gave %v, want it repeated", err)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("the search ended %v after the kill", took)
	}
	if again := pidOf(t, p); again == pid {
		t.Errorf("process %d answered after it was killed", pid)
	}
}

// A plugin that is halted while nobody calls is found out by its health.
func haltedIdle(t *testing.T) {
	spec, events := watched(kind("puppet"))
	spec.Limits = plugin.Limits{HealthEvery: 20 * time.Millisecond, HealthTimeout: 300 * time.Millisecond}
	p := open(t, spec)
	pid := pidOf(t, p)
	halt(t, pid)
	if hung := events.next(t, plugin.Hung); hung.PID != pid || hung.Err == nil {
		t.Errorf("event %+v, want process %d and a reason", hung, pid)
	}
	events.next(t, plugin.Ended)
	if again := pidOf(t, p); again == pid {
		t.Errorf("process %d answered while it was halted", pid)
	}
}

// Calls to a halted plugin end by their deadlines, and have it found out long
// before the next question for its health is due. A call without a deadline is
// repeated on the next process.
func haltedInCalls(t *testing.T) {
	spec, events := watched(kind("puppet"))
	spec.Limits = plugin.Limits{HealthEvery: time.Hour, HealthTimeout: 100 * time.Millisecond, HealthMisses: 2}
	p := open(t, spec)
	pid := pidOf(t, p)
	halt(t, pid)
	patient := make(chan error, 1)
	go func() {
		_, err := tell(context.Background(), p, "pid")
		patient <- err
	}()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := tell(ctx, p, "pid")
		cancel()
		if err != nil { // the first ones find the next process, on a slow machine
			wantErrors(t, err, context.DeadlineExceeded)
		}
	}
	events.next(t, plugin.Hung)
	if err := <-patient; err != nil {
		t.Errorf("the call without a deadline gave %v, want it repeated", err)
	}
	if again := pidOf(t, p); again == pid {
		t.Errorf("process %d answered while it was halted", pid)
	}
}

// closedWhile closes a plugin in some state: in bounded time, and for good.
func closedWhile(in func(t *testing.T) (p *plugin.Plugin, pid int)) func(*testing.T) {
	return func(t *testing.T) {
		p, pid := in(t)
		start := time.Now()
		p.Close()
		if took := time.Since(start); took > patience {
			t.Errorf("Close took %v", took)
		}
		eventually(t, "the process is gone", func() bool { return !alive(pid) })
		_, err := p.Info(t.Context())
		wantErrors(t, err, provider.ErrUnavailable)
	}
}

func opened1(t *testing.T, name string) (*plugin.Plugin, int) {
	t.Helper()
	p, err := plugin.Open(t.Context(), kind(name))
	if err != nil {
		t.Fatal(err)
	}
	return p, pidOf(t, p)
}

func halted(t *testing.T) (*plugin.Plugin, int) {
	p, pid := opened1(t, "puppet")
	halt(t, pid)
	return p, pid
}

func killed(t *testing.T) (*plugin.Plugin, int) {
	p, pid := opened1(t, "puppet")
	kill(t, pid)
	return p, pid
}

func stuckInClose(t *testing.T) (*plugin.Plugin, int) { return opened1(t, "stuck") }

func inACall(t *testing.T) (*plugin.Plugin, int) {
	p, pid := opened1(t, "puppet")
	answer, _ := waiting(t, p, pid)
	t.Cleanup(func() {
		if err := <-answer; !errors.Is(err, provider.ErrUnavailable) && !errors.Is(err, context.Canceled) {
			t.Errorf("the call that Close ended gave %v", err)
		}
	})
	return p, pid
}

func terminatedInACall(t *testing.T) {
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	answer, release := waiting(t, p, pid)
	syscall.Kill(pid, syscall.SIGTERM)
	eventually(t, "another process serves", func() bool { return pidOf(t, p) != pid })
	release()
	// The call goes on where it is for a second, and then elsewhere.
	if err := <-answer; err != nil {
		t.Errorf("the call in flight gave %v", err)
	}
	eventually(t, "the old process is gone", func() bool { return !alive(pid) })
}

// grandchild is a process of the plugin's own, in its group or apart, that
// holds the plugin's outputs open after the plugin is dead.
func grandchild(where string) func(*testing.T) {
	return func(t *testing.T) {
		p := open(t, kind("puppet"))
		child, _ := strconv.Atoi(mustTell(t, p, "child "+where))
		t.Cleanup(func() { syscall.Kill(child, syscall.SIGKILL) })
		pid := pidOf(t, p)
		kill(t, pid)
		if again := pidOf(t, p); again == pid {
			t.Errorf("process %d answered after it was killed", pid)
		}
		if where == "" {
			eventually(t, "the plugin's child is gone", func() bool { return !alive(child) })
		}
	}
}

// More than gRPC lets through by itself goes both ways, in one call each.
func largeMessages(t *testing.T) {
	p := open(t, kind("memory"))
	want := make(map[string][]byte)
	var docs []provider.Document
	for i := range 3 {
		schema := append([]byte(`{"name":"walnut"}`), bytes.Repeat([]byte(" "), provider.MaxObjectBytes)...)
		d := provider.Document{URL: fmt.Sprintf("https://a.example/%d", i), Site: "a.example", Schema: schema[:provider.MaxObjectBytes-100]}
		docs, want[d.URL] = append(docs, d), d.Schema
	}
	results, err := p.Put(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != provider.Stored {
			t.Errorf("%s is %s: %v", r.URL, r.Outcome, r.Err)
		}
	}
	wantObjects(t, p, want)
	entries, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries in the temporary directory, %v, want the one socket directory", len(entries), err)
	}
}

func crashLoop(t *testing.T) {
	spec, events := watched(kind("puppet"))
	spec.Limits.MaxFailures = 4
	p := open(t, spec)
	var err error
	for i := 0; !errors.Is(err, plugin.ErrCrashLoop); i++ {
		if i == 5 {
			t.Fatalf("after %d calls that each ended two processes the error is %v", i, err)
		}
		_, err = tell(t.Context(), p, "exit 7")
		wantErrors(t, err, provider.ErrUnavailable)
	}
	var start *plugin.StartError
	if !errors.As(err, &start) || !strings.Contains(strings.Join(start.LastWords, "\n"), "leaving with 7") {
		t.Errorf("error %v, want the last words of the plugin", err)
	}
	events.next(t, plugin.CrashLoop)
	_, err = p.Info(t.Context())
	wantErrors(t, err, plugin.ErrCrashLoop)
}

func TestALocalDeadlineReachesThePlugin(t *testing.T) {
	p := open(t, kind("puppet"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if said, err := tell(ctx, p, "deadline"); said != "true true" {
		t.Errorf("the plugin saw the deadline %q (%v)", said, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := tell(ctx, p, "wait "+filepath.Join(t.TempDir(), "never")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call past its deadline gave %v", err)
	}
}

func TestACallWithoutADeadlineGetsTheHosts(t *testing.T) {
	spec := kind("puppet")
	spec.Limits.CallTimeout = 50 * time.Millisecond
	p := open(t, spec)
	_, err := tell(context.Background(), p, "wait "+filepath.Join(t.TempDir(), "never"))
	wantErrors(t, err, context.DeadlineExceeded)
	if err != nil && !strings.Contains(err.Error(), "50ms") {
		t.Errorf("the error %q does not say how long it was", err)
	}
}

func TestCallsBeyondTheLimitWaitForOthersToEnd(t *testing.T) {
	spec := kind("puppet")
	spec.Limits.MaxCalls = 1
	p := open(t, spec)
	answer, release := waiting(t, p, pidOf(t, p))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := tell(ctx, p, "pid")
	wantErrors(t, err, context.DeadlineExceeded)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := tell(context.Background(), p, "pid"); err != nil {
				t.Errorf("a call that could wait gave %v", err)
			}
		})
	}
	release()
	if err := <-answer; err != nil {
		t.Error(err)
	}
	wg.Wait()
}
