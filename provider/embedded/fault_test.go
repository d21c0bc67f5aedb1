package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/siteprovider/siteprovider/provider"
)

// stock is documents by site and URL.
type stock map[[2]string]provider.Document

func (s stock) with(docs ...provider.Document) stock {
	next := make(stock)
	for id, d := range s {
		next[id] = d
	}
	for _, d := range docs {
		next[[2]string{d.Site, d.URL}] = d
	}
	return next
}

func (s stock) without(gone func(provider.Document) bool) stock {
	next := make(stock)
	for id, d := range s {
		if !gone(d) {
			next[id] = d
		}
	}
	return next
}

// stocked is the nth document of a stock, in one of its states.
func stocked(n, state int) provider.Document {
	site := []string{"a.example", "b.example", "c.example"}[n%3]
	return doc(site, fmt.Sprintf("https://x.example/%d", n), "", fmt.Sprintf("word%d state%d %s", n, state, strings.Repeat("and much more ", n%7*20)))
}

// differs returns what of s is not as in the stock; nil if all is. It asks in
// every way there is.
func (s stock) differs(ctx context.Context, store *Store) error {
	there := 0
	sites, err := store.Sites(ctx)
	if err != nil {
		return err
	}
	for _, site := range sites {
		entries, err := store.List(ctx, provider.ListQuery{Site: site.Site, Limit: 1000})
		if err != nil {
			return err
		}
		if int64(len(entries)) != site.Documents {
			return fmt.Errorf("site %s lists %d documents of %d", site.Site, len(entries), site.Documents)
		}
		l := provider.Lookup{Scope: provider.InSites(site.Site)}
		for _, e := range entries {
			if want, ok := s[[2]string{site.Site, e.URL}]; !ok || e.Hash != want.Hash() {
				return fmt.Errorf("%s on %s is listed (wanted: %t)", e.URL, site.Site, ok)
			}
			l.URLs = append(l.URLs, e.URL)
		}
		there += len(entries)
		objects, err := store.Get(ctx, l)
		if err != nil {
			return err
		}
		for i, o := range objects {
			want := s[[2]string{site.Site, l.URLs[i]}]
			if !o.Found || !bytes.Equal(o.Schema, want.Schema) {
				return fmt.Errorf("%s on %s: found %t, object %s", l.URLs[i], site.Site, o.Found, o.Schema)
			}
		}
	}
	if there != len(s) {
		return fmt.Errorf("%d documents, want %d", there, len(s))
	}
	for n := 0; n < 60; n += 7 {
		result, err := store.Search(ctx, provider.Query{Text: fmt.Sprint("word", n), Scope: provider.AllSites()})
		if err != nil {
			return err
		}
		d := stocked(n, 0)
		if want, ok := s[[2]string{d.Site, d.URL}]; ok != (len(result.Hits) == 1) || ok && !bytes.Equal(result.Hits[0].Schema, want.Schema) {
			return fmt.Errorf("word%d finds %d documents (wanted: %t)", n, len(result.Hits), ok)
		}
	}
	return nil
}

// faultStock is what the stores of faultCases hold before.
func faultStock() stock {
	s := make(stock)
	for n := range 40 {
		s = s.with(stocked(n, n%2))
	}
	return s
}

// faultCase is something that is done to a store while its disk fails.
type faultCase struct {
	name   string
	before func(t *testing.T, dir string) // prepares the closed store
	do     func(ctx context.Context, s *Store, dir string) error
	first  func(ctx context.Context, s *Store, dir string) error // is done before the disk fails
	after  stock                                                 // nil: as before
	opens  bool                                                  // opening the store is what is done
}

func faultCases() []faultCase {
	all := faultStock()
	var news, changed []provider.Document
	for n := 30; n < 55; n++ {
		news = append(news, stocked(n, 2))
	}
	for n := 0; n < 30; n += 2 {
		changed = append(changed, stocked(n, 3))
	}
	some := []string{"https://x.example/0", "https://x.example/3", "https://x.example/33"}
	nothing := func(context.Context, *Store, string) error { return nil }
	put := func(docs []provider.Document) func(context.Context, *Store, string) error {
		return func(ctx context.Context, s *Store, _ string) error {
			_, err := s.Put(ctx, docs)
			return err
		}
	}
	return []faultCase{
		{name: "put new and replaced", do: put(news), after: all.with(news...)},
		{name: "replace", do: put(changed), after: all.with(changed...)},
		{name: "delete by URL", do: func(ctx context.Context, s *Store, _ string) error {
			_, err := s.Delete(ctx, provider.Selector{Site: "a.example", URLs: some})
			return err
		}, after: all.without(func(d provider.Document) bool { return slices.Contains(some, d.URL) })},
		{name: "delete a site", do: func(ctx context.Context, s *Store, _ string) error {
			_, err := s.Delete(ctx, provider.Selector{Site: "b.example", WholeSite: true})
			return err
		}, after: all.without(func(d provider.Document) bool { return d.Site == "b.example" })},
		{name: "merge", do: func(ctx context.Context, s *Store, _ string) error {
			_, err := s.mergeAll(ctx)
			return failure(ctx, "merge", err)
		}},
		{name: "compact", do: func(ctx context.Context, s *Store, _ string) error { _, err := s.Compact(ctx); return err }},
		{name: "reindex all", do: func(ctx context.Context, s *Store, _ string) error {
			_, err := s.Reindex(ctx, ReindexOptions{All: true})
			return err
		}},
		{name: "rebuild a damaged index", do: func(ctx context.Context, s *Store, _ string) error {
			_, err := s.Search(ctx, provider.Query{Text: "word1", Scope: provider.AllSites()})
			return err
		}, before: func(t *testing.T, dir string) { edit(t, dir, "DELETE FROM chunk") }},
		{name: "back up", do: func(ctx context.Context, s *Store, dir string) error {
			_, err := s.Backup(ctx, BackupOptions{Path: filepath.Join(dir, "backup")})
			return err
		}},
		{name: "open", do: nothing, opens: true},
		{name: "migrate", do: nothing, opens: true, before: func(t *testing.T, dir string) { asVersion1(t, dir) }},
		{name: "close (checkpoint)", first: put(news), do: func(_ context.Context, s *Store, _ string) error { return s.Close() }, after: all.with(news...)},
	}
}

// faultMode is how a disk fails.
type faultMode struct {
	name  string
	code  int32
	stays bool
	torn  bool
}

var faultModes = []faultMode{
	{"error once", sqlite3.SQLITE_IOERR_WRITE, false, false},
	{"full", sqlite3.SQLITE_FULL, true, false},
	{"read-only", sqlite3.SQLITE_READONLY, true, false},
	{"died in a write", sqlite3.SQLITE_IOERR_WRITE, true, true},
}

// Whenever a disk fails, what was acknowledged is there, a call that failed has
// done nothing or all, and the store goes on when the disk does.
func TestADiskThatFailsAtAnyMomentCostsNothingThatWasAcknowledged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the files of a store that is open cannot be copied")
	}
	points := 2
	if long() {
		points = 1 << 20
	}
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	for _, state := range []int{1, 0} {
		var docs []provider.Document
		for n := range 40 {
			if state == 1 || n%2 == 0 {
				docs = append(docs, stocked(n, state))
			}
		}
		put(t, s, docs...)
	}
	put(t, s, stocked(59, 0))
	remove(t, s, provider.Selector{Site: stocked(59, 0).Site, URLs: []string{stocked(59, 0).URL}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	said := make(map[string]int)
	var table strings.Builder
	fmt.Fprintf(&table, "%-26s %-16s %7s %6s %6s %6s %6s", "done", "the disk", "moments", "tried", "failed", "kept", "lost")
	for _, c := range faultCases() {
		for _, mode := range faultModes {
			f := &faultTrial{t: t, c: c, mode: mode, whole: whole, said: said}
			moments := f.moments()
			list := random.Perm(moments)
			for _, n := range list[:min(points, len(list))] {
				f.run(n + 1)
			}
			fmt.Fprintf(&table, "\n%-26s %-16s %7d %6d %6d %6d %6d", c.name, mode.name, moments, f.tried, f.failed, f.kept, f.lost)
		}
	}
	t.Log("\n" + table.String())
	for words, n := range said {
		t.Logf("%5d times: %s", n, words)
	}
}

// faultTrial does one thing again and again while the disk fails in one way.
type faultTrial struct {
	t     *testing.T
	c     faultCase
	mode  faultMode
	whole string
	said  map[string]int

	tried, failed, kept, lost int
}

// start returns a fresh store and its disk.
func (f *faultTrial) start() (disk *faultDisk, dir string) {
	dir = f.t.TempDir()
	copyStore(f.t, f.whole, dir, FileName)
	if f.c.before != nil {
		f.c.before(f.t, dir)
	}
	return newFaultDisk(f.t, dir), dir
}

// moments returns how many moments there are at which the disk can fail.
func (f *faultTrial) moments() int {
	disk, dir := f.start()
	s, err := f.do(disk, dir, 1<<30)
	if err != nil {
		f.t.Fatal(err)
	}
	disk.heal()
	defer s.Close()
	return disk.count
}

// do does it; the disk fails at the nth moment.
func (f *faultTrial) do(disk *faultDisk, dir string, nth int) (s *Store, err error) {
	f.t.Helper()
	if f.c.opens {
		disk.arm(nth, f.mode.code, f.mode.stays, f.mode.torn)
	}
	s, err = Open(f.t.Context(), Options{Dir: dir})
	if f.c.opens {
		return s, err
	}
	if err != nil {
		f.t.Fatal(err)
	}
	if f.c.first != nil {
		if err := f.c.first(f.t.Context(), s, dir); err != nil {
			f.t.Fatal(err)
		}
	}
	disk.arm(nth, f.mode.code, f.mode.stays, f.mode.torn)
	return s, f.c.do(f.t.Context(), s, dir)
}

func (f *faultTrial) run(nth int) {
	f.t.Helper()
	f.tried++
	what := fmt.Sprintf("%s, %s, moment %d", f.c.name, f.mode.name, nth)
	disk, dir := f.start()
	s, failure := f.do(disk, dir, nth)
	if failure != nil {
		f.failed++
		f.wantSaid(what, failure)
	}
	if f.mode.torn { // nothing is written any more: what there is, is what the next process finds
		left := f.t.TempDir()
		copyStore(f.t, dir, left, FileName)
		if _, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err == nil {
			copyStore(f.t, dir, left, FileName+"-wal")
		}
		disk.heal()
		if s != nil {
			s.Close()
		}
		f.wantWhole(what+", reopened", left, failure)
		return
	}
	disk.heal()
	if s != nil && f.c.name != "close (checkpoint)" {
		if err := f.either(s, failure); err != nil {
			f.lost++
			f.t.Errorf("%s (%v), the same store afterwards: %v", what, failure, err)
		}
		if err := s.Close(); err != nil {
			f.t.Errorf("%s: close: %v", what, err)
		}
	}
	f.wantWhole(what+", reopened", dir, failure)
}

// wantWhole opens the store in dir and wants all in it.
func (f *faultTrial) wantWhole(what, dir string, failure error) {
	f.t.Helper()
	s, err := Open(f.t.Context(), Options{Dir: dir, MustExist: true})
	if err == nil {
		defer s.Close()
		err = f.either(s, failure)
	}
	if err == nil {
		var r *CheckReport
		if r, err = s.Check(f.t.Context(), nil); err == nil && r.Found > 0 {
			err = fmt.Errorf("%+v", r.Problems)
		}
	}
	if err != nil {
		f.lost++
		f.t.Errorf("%s (%v): %v", what, failure, err)
		return
	}
	f.kept++
}

// either wants what there was before or what there is to be after; after an
// answer only the latter.
func (f *faultTrial) either(s *Store, failure error) error {
	before, after := faultStock(), f.c.after
	if after == nil {
		after = before
	}
	err := after.differs(f.t.Context(), s)
	if err == nil || failure == nil || f.c.first != nil {
		return err
	}
	return before.differs(f.t.Context(), s)
}

// wantSaid wants an error that says that the disk failed, and nothing else.
func (f *faultTrial) wantSaid(what string, err error) {
	f.t.Helper()
	if !errors.Is(err, provider.ErrUnavailable) && !(f.mode.code == sqlite3.SQLITE_READONLY && errors.Is(err, provider.ErrPermission)) {
		f.t.Errorf("%s: error %v, want one that matches ErrUnavailable, or ErrPermission", what, err)
	}
	words := err.Error()
	if _, after, ok := strings.Cut(words, FileName+": "); ok {
		words = after
	}
	f.said[words]++
}
