package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// spoilIndex overwrites the largest segment of a site of a closed store.
func spoilIndex(t *testing.T, dir, site string) {
	t.Helper()
	edit(t, dir, "UPDATE chunk SET data = zeroblob(length(data)) WHERE segment = (SELECT s.id FROM segment AS s JOIN site ON site.id = s.site AND site.name = '"+site+"' ORDER BY s.bytes DESC LIMIT 1)")
}

// Whoever writes to the site while its index is made anew has it made again; that
// must not go on until the search gives up, and calls a whole store damaged.
func TestADamagedIndexIsRebuiltThoughOthersGoOnWriting(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	var docs []provider.Document
	for i := range 40 {
		docs = append(docs, doc("a.example", fmt.Sprintf("https://a.example/%d", i), "", "tea"))
	}
	put(t, s, docs...)
	s.Close()
	spoilIndex(t, dir, "a.example")
	s = open(t, Options{Dir: dir})
	tried := 0
	err := s.mending(t.Context(), func() error {
		tried++
		err := s.files.read(t.Context(), func(tx *session) error {
			c, err := s.sites.load(t.Context(), tx)
			if err == nil {
				_, err = s.searched(t.Context(), tx, c.sites)
			}
			return err
		})
		put(t, s, doc("a.example", fmt.Sprintf("https://a.example/new%d", tried), "", "tea"))
		return err
	})
	if err != nil {
		t.Errorf("after %d tries: %v", tried, err)
	}
	if r := checked(t, s); r.Documents != int64(40+tried) {
		t.Errorf("%d documents, want %d", r.Documents, 40+tried)
	}
}

// What is damaged in one site, and nobody has asked for since, does not keep the
// keeper from the others, nor from the log.
func TestTheKeeperLeavesADamagedIndexAloneAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	for i := range 3 {
		put(t, s, doc("a.example", fmt.Sprintf("https://a.example/%d", i), "", "tea"))
		put(t, s, doc("b.example", fmt.Sprintf("https://b.example/%d", i), "", "tea"))
	}
	s.Close()
	spoilIndex(t, dir, "a.example")
	s = open(t, Options{Dir: dir})
	if _, err := s.Delete(t.Context(), provider.Selector{Site: "b.example", URLs: []string{"https://b.example/1"}}); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(s, time.Nanosecond)
	k.logged = true
	for range 3 {
		_, _ = k.look(t.Context())
	}
	var segments int
	err := s.files.read(t.Context(), func(tx *session) error {
		return tx.row(t.Context(), "SELECT count(*) FROM segment JOIN site ON site.id = segment.site WHERE site.name = 'b.example'").Scan(&segments)
	})
	if err != nil || segments != 1 {
		t.Errorf("%d segments of the other site, %v; want 1", segments, err)
	}
	if n := size(s.path + "-wal"); n != 0 {
		t.Errorf("the log still has %d bytes", n)
	}
	wantFound(t, s, "tea", provider.InSites("a.example"), "https://a.example/0", "https://a.example/1", "https://a.example/2")
}

// logWatch calls itself with every message.
type logWatch func(message string)

func (logWatch) Enabled(context.Context, slog.Level) bool { return true }
func (l logWatch) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l logWatch) WithGroup(string) slog.Handler          { return l }
func (l logWatch) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}

// A store that is closed gives up its lease, unless another process has the lock
// that this needs: then the lease runs out.
func TestWorkThatIsGivenUpDoesNotWaitForALock(t *testing.T) {
	dir := oldStore(t, oldStores(t)[1])
	other := open(t, Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	release := func() {}
	s := open(t, Options{Dir: dir, Log: slog.New(logWatch(func(string) {
		if ctx.Err() == nil {
			release = holdWriter(t, other)
			cancel()
		}
	}))})
	done := make(chan struct{})
	go func() { _ = newCatchUp(s).all(ctx); close(done) }()
	select {
	case <-done:
	case <-time.After(busyWait / 2):
		t.Error("it still waits")
	}
	release()
	<-done
}

// Nothing of a call goes on once it is over.
func TestACallThatIsGivenUpLeavesNothingBeingBuilt(t *testing.T) {
	s := open(t, Options{})
	var docs []provider.Document
	for i := range 1000 {
		d := doc("a.example", fmt.Sprintf("https://a.example/%d", i), "", "")
		for word := range 100 {
			d.Text += fmt.Sprintf("w%d ", i*word)
		}
		docs = append(docs, d)
	}
	release := holdWriter(t, s)
	defer release()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { _, _ = s.Put(ctx, docs); close(done) }()
		waiting(t, s, 1)
		cancel()
		<-done
		if shop := s.workshop.Load(); len(shop.builders) != cap(shop.builders) {
			t.Error("a segment is still being built")
		}
	}
}
