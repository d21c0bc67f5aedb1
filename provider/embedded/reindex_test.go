package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// outdate makes the documents of a closed store look as if an older version,
// which read less, had stored them. What was given with them is left.
func outdate(t testing.TB, dir, where string) {
	t.Helper()
	edit(t, dir, "UPDATE document SET version = version - 1, crc = crc & 0xffffffff, key = 0, text = x'086f6c6477a96f7264', name = CASE name WHEN 'Given name' THEN name WHEN 'Given' THEN name ELSE 'Oldname' END WHERE "+where)
}

func TestReindexReadsOutdatedDocumentsAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	s.Close()
	const where = "site = 1 AND url < 'https://shop.example/50' AND url NOT IN (SELECT url FROM document WHERE language = 'en' OR url = 'https://shop.example/03')"
	outdate(t, dir, where)
	s = open(t, Options{Dir: dir})
	before := stats(t, s)
	if before.Outdated < 20 || before.Outdated > 40 {
		t.Fatalf("%d documents are outdated, want some of the first fifty", before.Outdated)
	}
	if r := checkedOutdated(t, s); r.Outdated != before.Outdated {
		t.Errorf("check counts %d outdated documents, want %d", r.Outdated, before.Outdated)
	}
	var done, total int64
	r, err := s.Reindex(t.Context(), ReindexOptions{Progress: func(d, of int64) { done, total = d, of }})
	if err != nil || r.Documents != before.Outdated || r.Rebuilt != 0 || done != before.Outdated || total != before.Outdated {
		t.Fatalf("reindexed %+v (progress %d of %d), %v; want %d documents", r, done, total, err, before.Outdated)
	}
	if r := checked(t, s); r.Outdated != 0 {
		t.Errorf("%d documents are still outdated", r.Outdated)
	}
	// A name from the object, a name that was given, and a key.
	wantName(t, s, "number8", "Kettle 8")
	wantName(t, s, "number9", "Given name")
	if r, err := s.Reindex(t.Context(), ReindexOptions{}); err != nil || r.Documents != 0 {
		t.Errorf("reindexing what is up to date: %+v, %v", r, err)
	}
	if r, err := s.Reindex(t.Context(), ReindexOptions{All: true}); err != nil || r.Documents != before.Documents {
		t.Errorf("reindexing all: %+v, %v; want %d documents", r, err, before.Documents)
	}
	checked(t, s)
}

// checkedOutdated is checked for a store whose keys are those of an older version.
func checkedOutdated(t testing.TB, s *Store) *CheckReport {
	t.Helper()
	r, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		if p.Remedy != RemedyReindex {
			t.Errorf("problem %+v", p)
		}
	}
	return r
}

func wantName(t testing.TB, s *Store, query, want string) {
	t.Helper()
	res, err := s.Search(t.Context(), provider.Query{Text: query, Scope: provider.AllSites()})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Name != want {
		t.Fatalf("search for %s: %+v, %v; want one document named %q", query, res, err, want)
	}
	objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{res.Hits[0].URL}, Scope: provider.AllSites()})
	if err != nil || !objects[0].Found {
		t.Errorf("get: %+v, %v; want it found", objects, err)
	}
}

// What others do to a document between its being read and its being written is
// not undone.
func TestReindexLeavesWhatChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://a.example/1", "", "one"), doc("a.example", "https://a.example/2", "", "two"), doc("a.example", "https://a.example/3", "", "three"))
	s.Close()
	edit(t, dir, "UPDATE document SET version = version - 1, crc = crc & 0xffffffff")
	s = open(t, Options{Dir: dir})
	r := &reindex{store: s, ctx: t.Context(), report: new(ReindexReport), batch: reindexDocuments, pause: noPause}
	var seen state
	var docs []storedDocument
	err := s.files.read(t.Context(), func(tx *session) error {
		c, err := s.sites.load(t.Context(), tx)
		if err != nil {
			return err
		}
		seen = c.state
		docs, err = r.read(tx, c.sites[0], "")
		return err
	})
	if err != nil || len(docs) != 3 {
		t.Fatalf("%d documents to reindex, %v; want 3", len(docs), err)
	}
	other := open(t, Options{Dir: dir})
	remove(t, other, provider.Selector{Site: "a.example", URLs: []string{"https://a.example/1"}})
	put(t, other, doc("a.example", "https://a.example/2", "", "changed"))
	if err := r.replace("a.example", seen, docs); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	wantFound(t, s, "changed", provider.AllSites(), "https://a.example/2")
	if st := stats(t, s); st.Documents != 2 || st.Outdated != 0 {
		t.Errorf("%+v, want two documents, none of them outdated", st)
	}
	remove(t, other, provider.Selector{Site: "a.example", WholeSite: true})
	if err := r.replace("a.example", seen, docs); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, s); st.Documents != 0 || st.Sites != 0 {
		t.Errorf("%+v, want the site to stay deleted", st)
	}
}

func reindexSlowly(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	_, err = s.Reindex(ctx, ReindexOptions{Progress: func(done, total int64) {
		fmt.Println(done, "of", total)
		time.Sleep(10 * time.Millisecond)
	}})
	if err != nil {
		return err
	}
	return s.Close()
}

func TestAReindexThatIsKilledIsTakenUpAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	const documents = 6000
	for i := 0; i < documents; i += 1000 {
		var docs []provider.Document
		for n := range 1000 {
			docs = append(docs, provider.Document{Site: []string{"a.example", "b.example"}[n%2], URL: fmt.Sprintf("https://a.example/%d", i+n),
				Schema: fmt.Appendf(nil, `{"@type":"Thing","name":"word%d"}`, i+n)})
		}
		put(t, s, docs...)
	}
	s.Close()
	outdate(t, dir, "1")
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	left := int64(documents)
	for range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), reindexDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		_ = child.Process.Kill()
		_ = child.Wait()

		s := open(t, Options{Dir: dir})
		r := checkedOutdated(t, s)
		if r.Documents != documents || r.Outdated >= left && left > 0 {
			t.Fatalf("%+v, want %d documents and less than %d outdated", r, documents, left)
		}
		left = r.Outdated
		s.Close()
	}
	t.Logf("%d of %d documents are left after five kills", left, documents)
	s = open(t, Options{Dir: dir})
	r, err := s.Reindex(t.Context(), ReindexOptions{})
	if err != nil || r.Documents != left {
		t.Fatalf("%+v, %v; want the %d documents that were left", r, err, left)
	}
	checked(t, s)
	wantName(t, s, "word4321", "word4321")
	wantName(t, s, "word0", "word0")
}

func TestADamagedObjectStaysAnErrorWhenItIsIndexedAnew(t *testing.T) {
	for _, damage := range []string{
		"CAST(replace(CAST(schema AS TEXT), 'tea', 'tee') AS BLOB)",
		"substr(schema, 1, length(schema) - 1)", // cannot be unpacked
		"x'01ff'",
		`CAST('{"name":"tee"}' AS BLOB)`,
	} {
		t.Run(damage, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Dir: dir})
			put(t, s, drink("tea"), drink("rice"))
			s.Close()
			edit(t, dir, "UPDATE document SET schema = "+damage+" WHERE url = 'https://a.example/tea'")
			s = open(t, Options{Dir: dir})
			for _, when := range []string{"before", "after"} {
				_, err := s.Get(t.Context(), provider.Lookup{URLs: []string{"https://a.example/tea"}, Scope: provider.AllSites()})
				if !errors.Is(err, provider.ErrCorrupt) {
					t.Fatalf("%s it is indexed anew: %v, want ErrCorrupt", when, err)
				}
				if _, err := s.Reindex(t.Context(), ReindexOptions{All: true}); err != nil {
					t.Fatal(err)
				}
			}
			remove(t, s, provider.Selector{Site: "a.example", URLs: []string{"https://a.example/tea"}})
			put(t, s, drink("tea"))
			checked(t, s)
		})
	}
}
