package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// holdWriter keeps the connection that writes until release is called.
func holdWriter(t *testing.T, s *Store) (release func()) {
	t.Helper()
	held, hold := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.files.write(context.Background(), func(*session) error { close(held); <-hold; return errNothingToDo })
	}()
	<-held
	return sync.OnceFunc(func() {
		close(hold)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// putBeside is put for another goroutine than the test's.
func putBeside(t *testing.T, s *Store, docs ...provider.Document) {
	if _, err := s.Put(t.Context(), docs); err != nil {
		t.Error(err)
	}
}

// waiting waits until n submissions are in the queue.
func waiting(t *testing.T, s *Store, n int) {
	t.Helper()
	for range 2000 {
		s.queue.mu.Lock()
		got := len(s.queue.list)
		s.queue.mu.Unlock()
		if got == n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("there are not %d submissions in the queue after ten seconds", n)
}

func generation(t *testing.T, s *Store) (g int64) {
	t.Helper()
	err := s.files.read(t.Context(), func(tx *session) error {
		c, err := s.sites.load(t.Context(), tx)
		if err == nil {
			g = c.generation
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWritesThatComeTogetherShareATransaction(t *testing.T) {
	s := open(t, Options{})
	put(t, s, doc("a.example", "https://a.example/old", "", "tea"), doc("gone.example", "https://gone.example/", "", "tea"))
	before := generation(t, s)
	release := holdWriter(t, s)
	defer release()
	var calls sync.WaitGroup
	const puts = 20
	for i := range puts {
		calls.Go(func() {
			putBeside(t, s, doc([]string{"a.example", "b.example"}[i%2], fmt.Sprintf("https://x.example/%d", i), "", "tea"))
		})
	}
	for _, sel := range []provider.Selector{
		{Site: "a.example", URLs: []string{"https://a.example/old"}},
		{Site: "gone.example", WholeSite: true},
	} {
		calls.Go(func() {
			if n, err := s.Delete(t.Context(), sel); n != 1 || err != nil {
				t.Errorf("Delete(%+v) = %d, %v; want 1", sel, n, err)
			}
		})
	}
	waiting(t, s, puts+2)
	release()
	calls.Wait()
	if got := generation(t, s); got != before+1 {
		t.Errorf("%d transactions wrote what came together, want 1", got-before)
	}
	if got := found(t, s, "tea", provider.AllSites()); len(got) != puts {
		t.Errorf("%d documents afterwards, want %d: %q", len(got), puts, got)
	}
	checked(t, s)
}

func TestOneCallersFailureIsNotThatOfOthers(t *testing.T) {
	s := open(t, Options{})
	release := holdWriter(t, s)
	defer release()
	failed := errors.New("this one fails")
	var calls sync.WaitGroup
	for i := range 5 {
		calls.Go(func() { putBeside(t, s, drink(fmt.Sprintf("tea%d", i))) })
	}
	calls.Go(func() {
		sub := &submission{apply: func(w *write) error {
			if _, err := w.addSite("half.example"); err != nil {
				return err
			}
			return failed
		}}
		if err := s.submit(t.Context(), sub); !errors.Is(err, failed) {
			t.Errorf("the failing call has the outcome %v, want its own error", err)
		}
	})
	waiting(t, s, 6)
	release()
	calls.Wait()
	wantFound(t, s, "tea3", provider.AllSites(), "https://a.example/tea3")
	if sites, err := s.Sites(t.Context()); err != nil || len(sites) != 1 || sites[0].Documents != 5 {
		t.Errorf("sites %+v, %v; want one with five documents", sites, err)
	}
	checked(t, s)
}

func TestACallThatWaitsForItsTurnCanBeGivenUp(t *testing.T) {
	s := open(t, Options{})
	release := holdWriter(t, s)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := s.Put(ctx, []provider.Document{drink("coffee")})
		given <- err
	}()
	kept := make(chan struct{})
	go func() { defer close(kept); putBeside(t, s, drink("tea")) }()
	waiting(t, s, 2)
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) { // while the connection is still held
		t.Errorf("the call that was given up: %v, want %v", err, context.Canceled)
	}
	release()
	<-kept
	wantFound(t, s, "tea coffee", provider.AllSites(), "https://a.example/tea")
}

func TestACallThatIsGivenUpInASharedTransactionKnowsItsOutcome(t *testing.T) {
	s := open(t, Options{})
	release := holdWriter(t, s)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	outcome := make(chan error, 1)
	calls.Go(func() {
		_, err := s.Put(ctx, []provider.Document{drink("coffee")})
		outcome <- err
	})
	waiting(t, s, 1)
	calls.Go(func() {
		err := s.submit(t.Context(), &submission{apply: func(*write) error { cancel(); return nil }})
		if err != nil {
			t.Error(err)
		}
	})
	waiting(t, s, 2)
	release()
	calls.Wait()
	there := found(t, s, "coffee", provider.AllSites())
	if err := <-outcome; (err == nil) != (len(there) == 1) {
		t.Errorf("the outcome is %v, and found is %q", err, there)
	}
	checked(t, s)
}

func TestWritesOfOneDocumentKeepTheirOrder(t *testing.T) {
	s := open(t, Options{})
	release := holdWriter(t, s)
	defer release()
	var calls sync.WaitGroup
	for i, word := range []string{"coffee", "cocoa", "tea"} {
		calls.Go(func() { putBeside(t, s, doc("a.example", "https://a.example/1", "", word)) })
		waiting(t, s, i+1)
	}
	release()
	calls.Wait()
	wantFound(t, s, "coffee cocoa", provider.AllSites())
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1")
}

func TestWhatSharesATransactionIsBoundedAndDoesNotOverlap(t *testing.T) {
	of := func(site string, urls ...string) *submission {
		return &submission{site: site, urls: urls, documents: len(urls)}
	}
	whole := func(site string) *submission { return &submission{site: site, whole: true} }
	large := func(documents, bytes int) *submission { return &submission{documents: documents, bytes: bytes} }
	for _, c := range []struct {
		name string
		list []*submission
		want []int // how many each transaction has
	}{
		{"none", nil, []int{0}},
		{"one", []*submission{of("a", "1")}, []int{1}},
		{"different documents", []*submission{of("a", "1"), of("a", "2"), of("b", "1")}, []int{3}},
		{"a document twice", []*submission{of("a", "1"), of("a", "2"), of("a", "1"), of("b", "1")}, []int{3, 1}},
		{"what waits is waited for", []*submission{of("a", "1"), of("a", "1", "2"), of("a", "2")}, []int{1, 1, 1}},
		{"a whole site", []*submission{of("b", "1"), whole("a"), of("c", "1"), of("a", "1")}, []int{3, 1}},
		{"a whole site of which something is written", []*submission{of("a", "1"), whole("a"), of("a", "2")}, []int{1, 1, 1}},
		{"many documents", []*submission{large(600, 0), large(400, 0), large(1, 0)}, []int{2, 1}},
		{"more than a batch", []*submission{large(5000, 0), large(1, 0)}, []int{1, 1}},
		{"many bytes", []*submission{large(1, provider.MaxBatchBytes-1), large(1, 1), large(1, 1)}, []int{2, 1}},
	} {
		q := queue{list: c.list}
		var got []int
		for {
			got = append(got, len(q.take()))
			if len(q.list) == 0 {
				break
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: transactions of %v, want %v", c.name, got, c.want)
		}
	}
}
