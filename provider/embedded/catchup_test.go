package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// outdatedStore is a closed store of version 1, whose documents and segments are
// all outdated.
func outdatedStore(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	var docs []provider.Document
	for i := range 300 {
		docs = append(docs, doc("c.example", fmt.Sprintf("https://c.example/%d", i), "", "coffee"))
	}
	put(t, s, docs[:200]...)
	put(t, s, docs[200:]...)
	s.Close()
	asVersion1(t, dir)
	edit(t, dir, "UPDATE document SET version = version - 1")
	return dir
}

func TestOutdatedDocumentsAreBroughtUpToDateInTheBackground(t *testing.T) {
	dir := outdatedStore(t)
	var log bytes.Buffer
	s := open(t, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	c := newCatchUp(s)
	if err := c.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, s); st.Outdated != 0 || st.Documents != 389 {
		t.Errorf("%+v, want 389 documents and none outdated", st)
	}
	checked(t, s)
	wantName(t, s, "number9", "Given name")
	for _, words := range []string{"bringing documents up to date in the background", "brought documents up to date", "documents=389"} {
		if !strings.Contains(log.String(), words) {
			t.Errorf("the log does not say %q:\n%s", words, log.String())
		}
	}
	// There is nothing left to do, also for a process that opens the store anew.
	before := s.sites.newest.Load()
	if sites, err := c.outdated(t.Context()); err != nil || len(sites) > 0 {
		t.Errorf("%q are still outdated (%v)", sites, err)
	}
	if err := c.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.sites.newest.Load() != before {
		t.Error("the store was written to although there was nothing to do")
	}
}

func TestOneProcessBringsAStoreUpToDate(t *testing.T) {
	dir := outdatedStore(t)
	a, b := newCatchUp(open(t, Options{Dir: dir})), newCatchUp(open(t, Options{Dir: dir}))
	if err := a.hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.all(t.Context()); !errors.Is(err, errLeaseTaken) {
		t.Errorf("error %v, want one that says that another process does it", err)
	}
	if sites, err := b.outdated(t.Context()); err != nil || len(sites) != 3 {
		t.Errorf("%q are outdated (%v), want all 3", sites, err)
	}
	if err := a.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.all(t.Context()); err != nil {
		t.Errorf("after it is done: %v", err)
	}
}

func TestBringingUpToDateEndsWithTheStore(t *testing.T) {
	dir := outdatedStore(t)
	s := open(t, Options{Dir: dir})
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(s.open)
	defer cancel()
	go func() {
		newCatchUp(s).run(ctx, 0)
		close(ended)
	}()
	time.Sleep(20 * time.Millisecond)
	cancel()
	<-ended
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Dir: dir})
	if r, err := s.Check(t.Context(), nil); err != nil || r.Found > 0 || r.Documents != 389 {
		t.Errorf("%+v, %v; want 389 documents and no problem", r, err)
	}
	if err := newCatchUp(s).all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, s); st.Outdated != 0 {
		t.Errorf("%+v, want none outdated", st)
	}
}

// A search need not wait for the background: what it needs is rebuilt at once.
func TestASearchOfAnOutdatedSiteFindsAtOnce(t *testing.T) {
	s := open(t, Options{Dir: outdatedStore(t)})
	var damage *indexDamage
	err := s.files.read(t.Context(), func(tx *session) error {
		c, err := s.sites.load(t.Context(), tx)
		if err != nil {
			return err
		}
		site, _ := c.site("c.example")
		_, err = segmentRows(t.Context(), tx, site.id)
		errors.As(damagedIndex(site, err), &damage)
		return nil
	})
	if err != nil || damage == nil {
		t.Fatalf("%v, damage %v; want an outdated index", err, damage)
	}
	slow := make(chan struct{})
	go func() {
		defer close(slow)
		_ = s.startRebuild(s.open, damage, func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
			return ctx.Err()
		})
	}()
	result, err := s.Search(t.Context(), provider.Query{Text: "coffee", Scope: provider.InSites("c.example"), Limit: 1000})
	if err != nil || len(result.Hits) != 300 {
		t.Errorf("%d hits, %v; want 300", len(result.Hits), err)
	}
	<-slow
	checked(t, s)
}

func TestSegmentsWhoseWriterDiedAreSweptAway(t *testing.T) {
	s := open(t, Options{})
	put(t, s, drink("tea"))
	err := s.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "INSERT INTO segment (site, documents, bytes) VALUES (-1, 1, 1)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked(t, s) // a rebuild that was cut off is no damage
	c := newCatchUp(s)
	for _, want := range []int{1, 0, 0} { // they may still be waited for at the first look
		if err := c.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var n int
		err := s.files.read(t.Context(), func(tx *session) error {
			return tx.row(t.Context(), "SELECT count(*) FROM segment WHERE site < 0").Scan(&n)
		})
		if err != nil || n != want {
			t.Errorf("%d segments wait, %v; want %d", n, err, want)
		}
	}
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/tea")
}

// A program of another version that writes meanwhile is not forgotten.
func TestASiteThatAnotherVersionWritesToIsOutdatedAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	s.Close()
	// It does not know this version, and so it writes that the site has several.
	edit(t, dir, "UPDATE document SET version = version - 1, crc = crc & 0xffffffff")
	s = open(t, Options{Dir: dir})
	r := &reindex{store: s, ctx: t.Context(), report: new(ReindexReport), batch: 1, pause: noPause, trusting: true}
	if err := r.mark("a.example", 0, func(siteRow) bool { return true }); err != nil {
		t.Fatal(err)
	}
	put(t, s, drink("rice"))
	c := newCatchUp(s)
	if sites, err := c.outdated(t.Context()); err != nil || len(sites) != 1 {
		t.Fatalf("%q are outdated (%v), want one", sites, err)
	}
	if err := c.all(t.Context()); err != nil || c.report.Documents != 1 {
		t.Errorf("%d documents brought up to date, %v; want one", c.report.Documents, err)
	}
	if sites, err := c.outdated(t.Context()); err != nil || len(sites) != 0 {
		t.Errorf("%q are still outdated (%v)", sites, err)
	}
}
