package embedded

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// calmly opens a store whose keeper does not wait long.
func calmly(t *testing.T, dir string) *Store {
	t.Helper()
	return open(t, Options{Dir: dir, calm: 10 * time.Millisecond})
}

// eventually waits until what is to be is.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after a minute it is still not so that %s", what)
}

// scattered puts documents one by one, so that they are in several segments,
// and deletes some of them.
func scattered(t *testing.T, s *Store, sites, documents int) {
	t.Helper()
	for i := range documents {
		var docs []provider.Document
		for site := range sites {
			docs = append(docs, doc(fmt.Sprintf("s%d.example", site), fmt.Sprintf("https://x.example/%d", i), "", fmt.Sprintf("tea number%d", i)))
		}
		put(t, s, docs...)
	}
	remove(t, s, provider.Selector{Site: "s0.example", URLs: []string{"https://x.example/1"}})
}

func TestTheKeeperMakesTheSegmentsOfASiteOne(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	scattered(t, s, 5, 40)
	before := stats(t, s)
	if before.Segments <= before.Sites || before.Tombstones == 0 {
		t.Fatalf("%+v: there is nothing to tidy up", before)
	}
	want := found(t, s, "number7 number30", provider.AllSites())
	kept := calmly(t, dir) // also what others wrote is tidied up
	eventually(t, "every site has one segment, and the log is empty", func() bool {
		st := stats(t, kept)
		return st.Segments == st.Sites && st.Tombstones == 0 && st.LogBytes == 0
	})
	wantFound(t, s, "number7 number30", provider.AllSites(), want...)
	checked(t, s)
	scattered(t, kept, 5, 3)
	eventually(t, "every site has one segment again", func() bool {
		st := stats(t, s)
		return st.Segments == st.Sites && st.Tombstones == 0 && st.LogBytes == 0
	})
	checked(t, s)
}

func TestWhatWasDeletedIsGoneFromTheFilesAfterTheNextMerge(t *testing.T) {
	eachWayToGo(t, func(t *testing.T, _ *Store, dir string) {
		kept := calmly(t, dir)
		put(t, kept, doc("other.example", "https://other.example/", "", "tea"))
		eventually(t, "the word is in no file", func() bool { return len(filesWith(t, dir, "zyzzyvamarker")) == 0 })
	})
}

func TestDocumentsThatGoDuringAMergeStayGone(t *testing.T) {
	s := open(t, Options{})
	scattered(t, s, 2, 20)
	k := newKeeper(s, time.Hour)
	list, _, err := k.plan(t.Context(), 1)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d merges planned, %v; want 2", len(list), err)
	}
	for _, m := range list {
		if err := m.merge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	remove(t, s, provider.Selector{Site: "s0.example", URLs: []string{"https://x.example/5"}})
	put(t, s, doc("s0.example", "https://x.example/6", "", "coffee"))
	remove(t, s, provider.Selector{Site: "s1.example", WholeSite: true})
	mine, err := k.swap(t.Context(), list)
	if !mine || err != nil {
		t.Fatalf("swap: %t, %v", mine, err)
	}
	checked(t, s)
	wantFound(t, s, "number5", provider.AllSites())
	wantFound(t, s, "number6", provider.AllSites())
	wantFound(t, s, "coffee", provider.AllSites(), "https://x.example/6")
	wantFound(t, s, "number7", provider.AllSites(), "https://x.example/7")
	if st := stats(t, s); st.Segments > 2 || st.Documents != 18 {
		t.Errorf("%+v, want at most 2 segments and 18 documents", st)
	}
}

func TestAMergeWhoseSegmentsAreGoneIsDropped(t *testing.T) {
	s := open(t, Options{})
	scattered(t, s, 1, 20)
	k := newKeeper(s, time.Hour)
	list, _, err := k.plan(t.Context(), 1)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d merges planned, %v; want 1", len(list), err)
	}
	if err := list[0].merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context()); err != nil { // merges them, too
		t.Fatal(err)
	}
	put(t, s, doc("s0.example", "https://x.example/new", "", "coffee"))
	if _, err := k.swap(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	wantFound(t, s, "coffee", provider.AllSites(), "https://x.example/new")
}

func TestOneProcessMergesAtATime(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	scattered(t, a, 3, 10)
	first, second := newKeeper(a, time.Hour), newKeeper(b, time.Hour)
	for _, c := range []struct {
		k    *keeper
		want bool
	}{{first, true}, {second, false}, {first, true}, {second, false}} {
		if mine, err := c.k.takeLease(t.Context()); err != nil || mine != c.want {
			t.Fatalf("takeLease: %t, %v; want %t", mine, err, c.want)
		}
	}
	before := stats(t, a)
	if err := second.tidy(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if after := stats(t, a); after.Segments != before.Segments {
		t.Errorf("a process without the lease made %d segments out of %d", after.Segments, before.Segments)
	}
	// A holder that died renews it no more.
	err := a.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "UPDATE lease SET until = ?", time.Now().Add(-time.Millisecond).UnixMilli())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.tidy(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if after := stats(t, a); after.Segments != after.Sites {
		t.Errorf("%d segments of %d sites after the lease ran out", after.Segments, after.Sites)
	}
	if mine, err := first.takeLease(t.Context()); err != nil || !mine {
		t.Errorf("the lease was not given up after the merges: %t, %v", mine, err)
	}
}

func TestTheLogIsHeldDownWhileOthersWriteAndRead(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 120 MB")
	}
	dir := t.TempDir()
	s := calmly(t, dir)
	other := open(t, Options{Dir: dir}) // has no keeper
	text := strings.Repeat("tea and cake ", 5000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	searched := make(chan struct{})
	go func() {
		defer close(searched)
		for ctx.Err() == nil {
			_, _ = other.Search(ctx, provider.Query{Text: "cake", Scope: provider.AllSites(), Limit: 3})
		}
	}()
	rounds, largest := 45, int64(0)
	if long() {
		rounds = 600
	}
	for i := range rounds {
		for _, w := range []*Store{s, other} {
			var docs []provider.Document
			for j := range 20 {
				d := doc("a.example", fmt.Sprintf("https://x.example/%d", j), "", "tea and cake")
				d.Schema = []byte(fmt.Sprintf(`{"@type":"Article","name":"%d","text":"%s"}`, i, text))
				docs = append(docs, d)
			}
			put(t, w, docs...)
		}
		largest = max(largest, size(s.path+"-wal"))
	}
	cancel()
	<-searched
	if bound := int64(90 << 20); largest > bound {
		t.Errorf("the log had %d bytes, want at most %d", largest, bound)
	}
	eventually(t, "the log is empty", func() bool { return size(s.path+"-wal") == 0 })
	checked(t, s)
}

func TestTheKeeperStopsWithTheStore(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		s := calmly(t, dir)
		scattered(t, s, 2, 3)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, Options{Dir: dir})
	checked(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%v is left of a closed store, want its file alone", entries)
	}
}

func TestWhatIsWorthTidying(t *testing.T) {
	const mib = 1 << 20
	row := func(id, bytes int64, dead ...byte) segmentRow {
		return segmentRow{id: id, documents: 80, bytes: bytes, dead: dead}
	}
	for _, c := range []struct {
		name string
		rows []segmentRow
		want []int64
	}{
		{"nothing", nil, nil},
		{"one segment", []segmentRow{row(1, 1000)}, nil},
		{"a small one with a dead document", []segmentRow{row(1, 1000, 1)}, []int64{1}},
		{"small ones", []segmentRow{row(1, 5000), row(2, 1000), row(3, 3000)}, []int64{2, 3, 1}},
		{"a large one and little beside it", []segmentRow{row(1, 30*mib), row(2, mib)}, nil},
		{"a large one, and more beside it", []segmentRow{row(1, 20*mib), row(2, mib), row(3, mib), row(4, mib), row(5, 2*mib)}, []int64{2, 3, 4, 5, 1}},
		{"a large one, and as much as may be", []segmentRow{row(1, 30*mib), row(2, 5*mib), row(3, 5*mib)}, []int64{2, 3}},
		{"a large one with a dead document", []segmentRow{row(1, 20*mib, 1)}, nil},
		{"a large one with an eighth of dead documents", []segmentRow{row(1, 20*mib, 0xff, 3)}, []int64{1}},
		{"larger than a merge may be", []segmentRow{row(1, 40*mib), row(2, 40*mib)}, nil},
	} {
		var got []int64
		for _, r := range worthTidying(c.rows) {
			got = append(got, r.id)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
