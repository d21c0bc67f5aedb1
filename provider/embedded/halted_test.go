//go:build unix

package embedded

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// held starts holdTheWriter and stops it while it holds the writer.
func held(t *testing.T, dir string) *process {
	t.Helper()
	p := start(t, holdDir, dir)
	if line, ok := <-p.said; !ok {
		t.Fatalf("the other process says %q: %v", line, p.wait())
	}
	halt(t, p)
	return p
}

func halt(t *testing.T, p *process) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func goOn(t *testing.T, p *process) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func TestAHaltedWriterHoldsUpNobodyWhoReads(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	other := held(t, dir)
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/tea")
	opened := open(t, Options{Dir: dir})
	wantFound(t, opened, "tea", provider.AllSites(), "https://a.example/tea")
	checked(t, opened)

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.Put(ctx, []provider.Document{drink("rice")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put within a deadline: %v, want that it was exceeded", err)
	}
	if long() {
		_, err := s.Put(t.Context(), []provider.Document{drink("rice")})
		wantError(t, err, provider.ErrUnavailable, "another process is writing")
	}
	goOn(t, other)
	_ = other.tell("end")
	if err := other.wait(); err != nil {
		t.Error(err)
	}
	put(t, s, drink("cocoa"))
	wantFound(t, opened, "cocoa", provider.AllSites(), "https://a.example/cocoa")
	checked(t, s)
}

func TestAHaltedWriterThatIsKilledLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	other := held(t, dir)
	other.kill()
	put(t, s, drink("cocoa"))
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/tea")
	if r := checked(t, s); r.Documents != 2 {
		t.Errorf("%d documents, want 2", r.Documents)
	}
}

// Processes that are halted at any moment, and go on, lose nothing, and cost the
// others time at most.
func TestProcessesThatAreHaltedAndGoOnLoseNothing(t *testing.T) {
	dir := t.TempDir()
	c := newCrowd(t, open(t, Options{Dir: dir}))
	var list []*process
	var group sync.WaitGroup
	for i := range 2 {
		p := start(t, crowdDir, dir)
		_ = p.tell("ingest %d 20 %v", i, crowdTime()/2)
		list = append(list, p)
		group.Go(func() {
			for line := range p.said {
				c.say(line)
			}
		})
	}
	quit := make(chan struct{})
	halts := make(chan int)
	go func() {
		n := 0
		defer func() { halts <- n }()
		random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Duration(random.IntN(20)) * time.Millisecond):
				p := list[random.IntN(2)]
				_ = p.Process.Signal(syscall.SIGSTOP)
				time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
				_ = p.Process.Signal(syscall.SIGCONT)
				n++
			}
		}
	}()
	group.Wait()
	close(quit)
	t.Logf("halted %d times", <-halts)
	for _, p := range list {
		if err := p.wait(); err != nil {
			t.Error(err)
		}
	}
	c.end()
}

// A job that runs under "flock DIR" has locked the store's directory for as
// long as it runs.
func TestALockOnTheDirectoryDoesNotHoldUpEveryWrite(t *testing.T) {
	dir := t.TempDir()
	job, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if err := syscall.Flock(int(job.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		room := waitingRoom{dir: dir}
		begin := time.Now()
		for range 4 {
			leave, err := room.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if took := time.Since(begin); took < seatWait || took >= 2*seatWait {
			t.Errorf("four writes waited for %v, want one of them to, for %v", took, seatWait)
		}
		time.Sleep(passBy)
		if err := syscall.Flock(int(job.Fd()), syscall.LOCK_UN); err != nil {
			t.Fatal(err)
		}
		leave, err := room.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		if err := syscall.Flock(int(job.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Errorf("locking the directory: %v, want that a writer waits there again", err)
		}
	})
}
