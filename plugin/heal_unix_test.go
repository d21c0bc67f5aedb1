//go:build unix

package plugin_test

import (
	"context"
	"errors"
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
// the process works on it. Its file is there while a process works on it: see
// the puppet's command "wait".
func waiting(t *testing.T, p *plugin.Plugin, pid int) (answer <-chan error, release func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go")
	done := make(chan error, 1)
	go func() {
		_, err := tell(context.Background(), p, "wait "+file)
		done <- err
	}()
	appears(t, file+"."+itoa(pid))
	return done, func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// appears waits for a file.
func appears(t *testing.T, path string) {
	t.Helper()
	eventually(t, "there is the file "+path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

func TestASearchIsRepeatedOnceOnly(t *testing.T) {
	nothingLeft(t)
	p := open(t, kind("puppet"))
	first := pidOf(t, p)
	file := filepath.Join(t.TempDir(), "go")
	answer := make(chan error, 1)
	go func() {
		_, err := tell(context.Background(), p, "wait "+file)
		answer <- err
	}()
	appears(t, file+"."+itoa(first))
	kill(t, first)
	second := pidOf(t, p)
	for ; second == first; second = pidOf(t, p) {
	}
	appears(t, file+"."+itoa(second))
	kill(t, second)
	err := <-answer
	if !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("the search gave %v, want ErrUnavailable that says how the plugin ended", err)
	}
	mustTell(t, p, "pid")
}

func TestWritesAreNeverRepeated(t *testing.T) {
	nothingLeft(t)
	signals := t.TempDir()
	p := open(t, with("puppet", map[string]string{"signals": signals}))
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
	appears(t, filepath.Join(signals, "put"))
	appears(t, filepath.Join(signals, "delete"))
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

func TestSIGINTIsTheHostsBusiness(t *testing.T) {
	p := open(t, kind("puppet"))
	pid := pidOf(t, p)
	syscall.Kill(pid, syscall.SIGINT)
	mustTell(t, p, "print 1")
	if again := pidOf(t, p); again != pid {
		t.Errorf("process %d became %d", pid, again)
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
