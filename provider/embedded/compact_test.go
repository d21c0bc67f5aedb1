package embedded

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// filesWith returns the files of a directory in which a word stands, in small
// letters or as it is.
func filesWith(t testing.TB, dir, word string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ToLower(raw), []byte(strings.ToLower(word))) {
			names = append(names, e.Name())
		}
	}
	return names
}

// eachWayToGo calls do, as a subtest, with a store in dir from which a document was
// deleted or replaced whose words are zyzzyvamarker and are still in its files.
func eachWayToGo(t *testing.T, do func(t *testing.T, s *Store, dir string)) {
	for _, c := range []struct {
		name string
		end  func(s *Store, d provider.Document)
	}{
		{"deleted", func(s *Store, d provider.Document) {
			remove(t, s, provider.Selector{Site: d.Site, URLs: []string{d.URL}})
		}},
		{"deleted with its site", func(s *Store, d provider.Document) {
			remove(t, s, provider.Selector{Site: d.Site, WholeSite: true})
		}},
		{"replaced", func(s *Store, d provider.Document) {
			put(t, s, doc(d.Site, d.URL, "", "something else"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Dir: dir})
			shop(t, s)
			d := doc("shop.example", "https://shop.example/05x", "A Zyzzyvamarker", "zyzzyvamarker "+strings.Repeat("long text of it ", 2000))
			d.Schema = []byte(`{"@type":"Article","name":"Zyzzyvamarker","description":"` + strings.Repeat("zyzzyvamarker ", 3000) + `"}`)
			put(t, s, d)
			c.end(s, d)
			if len(filesWith(t, dir, "zyzzyvamarker")) == 0 {
				t.Fatal("the word is not in any file before: nothing is tested")
			}
			do(t, s, dir)
			checked(t, s)
		})
	}
}

func TestWhatWasDeletedIsGoneFromTheFilesAfterCompact(t *testing.T) {
	eachWayToGo(t, func(t *testing.T, s *Store, dir string) {
		r, err := s.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if names := filesWith(t, dir, "zyzzyvamarker"); len(names) > 0 || r.LogInUse {
			t.Errorf("the word is still in %q (log in use: %t)", names, r.LogInUse)
		}
	})
}

func TestCompactLeavesOneSegmentASite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	for round := range 4 {
		var docs []provider.Document
		for i := range 400 >> round {
			for _, site := range []string{"a.example", "b.example"} {
				docs = append(docs, doc(site, fmt.Sprintf("https://x.example/%d/%d", round, i), "", fmt.Sprintf("tea number%d", i)))
			}
		}
		put(t, s, docs...)
	}
	for i := range 100 {
		remove(t, s, provider.Selector{Site: "a.example", URLs: []string{fmt.Sprintf("https://x.example/0/%d", i), fmt.Sprintf("https://x.example/1/%d", i)}})
	}
	want := found(t, s, "number250 number30", provider.AllSites())
	before := stats(t, s)
	if before.Segments <= before.Sites || before.Tombstones == 0 || before.FreeBytes == 0 {
		t.Fatalf("%+v: there is nothing to compact", before)
	}
	r, err := s.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := stats(t, s)
	if after.Segments != after.Sites || after.Tombstones != 0 || after.FreeBytes != 0 || after.LogBytes != 0 || after.Documents != before.Documents {
		t.Errorf("after compacting %+v", after)
	}
	if r.After >= r.Before || r.After != after.FileBytes || r.Merged == 0 {
		t.Errorf("report %+v, and the file has %d bytes", r, after.FileBytes)
	}
	wantFound(t, s, "number250 number30", provider.AllSites(), want...)
	checked(t, s)
	if r, err := s.Compact(t.Context()); err != nil || r.Merged != 0 || r.After != r.Before {
		t.Errorf("compacting what is compact: %+v, %v", r, err)
	}
}

func TestSegmentsAreMergedUpToTheBound(t *testing.T) {
	const mib = 1 << 20
	row := func(id int64, bytes int64, dead ...byte) segmentRow {
		return segmentRow{id: id, documents: 100, bytes: bytes, dead: dead}
	}
	for _, c := range []struct {
		name string
		rows []segmentRow
		want string
	}{
		{"none", nil, "[]"},
		{"one", []segmentRow{row(1, mib)}, "[]"},
		{"one with dead documents", []segmentRow{row(1, mib, 1)}, "[[1]]"},
		{"small ones", []segmentRow{row(1, 3*mib), row(2, mib), row(3, 2*mib)}, "[[2 3 1]]"},
		{"large ones", []segmentRow{row(1, 20*mib), row(2, 20*mib)}, "[]"},
		{"as many as fit", []segmentRow{row(1, 20*mib), row(2, 15*mib), row(3, 14*mib), row(4, 3*mib)}, "[[4 3 2]]"},
		{"too large, with dead documents", []segmentRow{row(1, 100*mib, 1), row(2, 100*mib)}, "[[1]]"},
	} {
		var got [][]int64
		for _, group := range worthMerging(c.rows) {
			var ids []int64
			for _, r := range group {
				ids = append(ids, r.id)
			}
			got = append(got, ids)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: groups %v, want %s", c.name, got, c.want)
		}
	}
}

// writerProcess starts a process that puts and deletes documents, and returns
// once the first of them is acknowledged. Stop ends it and returns which
// documents have to be there (true) and which must not (false).
func writerProcess(t *testing.T, dir string) (stop func() map[int]bool) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stdin = strings.NewReader("0\n")
	var complaints bytes.Buffer
	child.Stderr = &complaints
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := make(map[int]bool)
	next, told := 0, make(chan struct{})
	go readOutcomes(out, acknowledged, &next, told)
	<-told
	end := sync.OnceValue(func() map[int]bool {
		_ = child.Process.Kill()
		for range told {
		}
		_ = child.Wait()
		if complaints.Len() > 0 {
			t.Errorf("the other process says: %s", complaints.String())
		}
		return acknowledged
	})
	t.Cleanup(func() { end() })
	return end
}

// wantAcknowledged looks documents up in a store.
func wantAcknowledged(t *testing.T, s *Store, acknowledged map[int]bool) {
	t.Helper()
	if len(acknowledged) == 0 {
		t.Fatal("no document was acknowledged: nothing was tried")
	}
	for n, want := range acknowledged {
		d := numbered(n)
		objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{d.URL}, Scope: provider.InSites(d.Site)})
		if err != nil || objects[0].Found != want {
			t.Fatalf("Get of %d: found is %t, %v; want %t", n, objects[0].Found, err, want)
		}
	}
}

func TestOthersGoOnWhileAStoreIsCompacted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://steady.example/", "", "steadyword"))
	stop := writerProcess(t, dir)
	searcher := open(t, Options{Dir: dir})
	quit, quitted := make(chan struct{}), make(chan int)
	go func() {
		searches := 0
		defer func() { quitted <- searches }()
		for {
			res, err := searcher.Search(t.Context(), provider.Query{Text: "steadyword", Scope: provider.AllSites()})
			if err != nil || len(res.Hits) != 1 {
				t.Errorf("search beside it: %v, %v; want one hit", res, err)
				return
			}
			searches++
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	for range 5 {
		if _, err := s.Compact(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(50 * time.Millisecond) // in which the others get on
	}
	close(quit)
	searches := <-quitted
	acknowledged := stop()
	wantAcknowledged(t, s, acknowledged)
	checked(t, s)
	t.Logf("%d searches and %d documents while compacting five times", searches, len(acknowledged))
}

func stats(t testing.TB, s *Store) *Stats {
	t.Helper()
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestStatsCountWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	if st := stats(t, s); st.Version != StoreVersion || st.Documents != 0 || st.Segments != 0 || st.Path != filepath.Join(dir, FileName) {
		t.Errorf("an empty store: %+v", st)
	}
	objects := 0
	var docs []provider.Document
	for i := range 200 {
		d := doc("a.example", fmt.Sprintf("https://a.example/%d", i), "", "tea")
		docs, objects = append(docs, d), objects+len(packObject(d.Schema))
	}
	put(t, s, docs...)
	remove(t, s, provider.Selector{Site: "a.example", URLs: []string{docs[7].URL}})
	objects -= len(packObject(docs[7].Schema))
	err := s.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "UPDATE document SET version = 1 WHERE id < 4")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	st := stats(t, s)
	if st.Sites != 1 || st.Documents != 199 || st.Segments != 1 || st.Tombstones != 1 || st.Outdated != 3 || st.ObjectBytes != int64(objects) {
		t.Errorf("%+v, want 1 site, 199 documents, 1 segment, 1 tombstone, 3 outdated, %d bytes of objects", st, objects)
	}
	if st.FileBytes+st.LogBytes < st.ObjectBytes+st.IndexBytes || st.IndexBytes == 0 || st.FreeBytes < 0 {
		t.Errorf("%+v: the parts are more than the whole", st)
	}
}
