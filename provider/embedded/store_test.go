package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

func open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.calm == 0 {
		o.calm = -1 // what a test finds is what it did
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func doc(site, url, name, text string) provider.Document {
	return provider.Document{Site: site, URL: url, Name: name, Text: text, Schema: []byte(`{"@type":"Article","x":"` + url + `"}`)}
}

func put(t testing.TB, s *Store, docs ...provider.Document) {
	t.Helper()
	results, err := s.Put(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// found returns the URLs of the hits.
func found(t testing.TB, s *Store, text string, scope provider.Scope) []string {
	t.Helper()
	res, err := s.Search(t.Context(), provider.Query{Text: text, Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{}
	for _, h := range res.Hits {
		urls = append(urls, h.URL)
	}
	return urls
}

func wantFound(t testing.TB, s *Store, text string, scope provider.Scope, want ...string) {
	t.Helper()
	if got := found(t, s, text, scope); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Search(%q) found %q, want %q", text, got, want)
	}
}

func wantError(t testing.TB, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want one of the kind %q", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want it to say %q", err, w)
		}
	}
}

func TestOpenMakesAPrivateStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b ?#%20ü")
	if Exists(dir) {
		t.Error("a store exists before it is opened")
	}
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://a.example/1", "One", "tea"))
	if !Exists(dir) {
		t.Error("no store exists after it was opened")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), FileName) {
			t.Errorf("a file %q is left", e.Name())
		}
		if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600 (%v)", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, want 0700 (%v)", info.Mode(), err)
	}
}

func TestWhatWasPutIsThereAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://a.example/1", "One", "tea"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err == nil {
		t.Error("a closed store leaves its log behind")
	}
	s = open(t, Options{Dir: dir, MustExist: true})
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1")
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	write := func(text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec := func(queries ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, q := range queries {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	changed := func(queries ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			s := open(t, Options{Dir: filepath.Dir(path)})
			put(t, s, doc("a.example", "https://a.example/1", "One", "tea"))
			s.Close()
			exec(queries...)(t, path)
		}
	}
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, path string)
		kind  error
		words []string
	}{
		{"no bytes", write(""), provider.ErrCorrupt, []string{"is empty", "backup"}},
		{"a text", write(strings.Repeat("not a database ", 1000)), provider.ErrCorrupt, []string{"not a store"}},
		{"another program's database", exec("CREATE TABLE t (x)"), provider.ErrCorrupt, []string{"another program"}},
		{"a newer version", changed("PRAGMA user_version = 99"), provider.ErrUnsupported, []string{"version 99", "newer program"}},
		{"version 0", changed("PRAGMA user_version = 0"), provider.ErrCorrupt, []string{"version 0"}},
		{"a truncated file", func(t *testing.T, path string) {
			changed()(t, path)
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}, provider.ErrCorrupt, []string{"backup"}},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, provider.ErrCorrupt, []string{"regular file"}},
		{"a log without its file", func(t *testing.T, path string) { write("x")(t, path+"-wal") }, provider.ErrCorrupt, []string{"log"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			c.make(t, path)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), Options{Dir: dir})
			wantError(t, err, c.kind, append(c.words, FileName)...)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		_, err := Open(t.Context(), Options{Dir: dir, MustExist: true})
		wantError(t, err, provider.ErrInvalid, dir, "nothing has been ingested")
		if _, err := os.Stat(dir); err == nil {
			t.Error("the directory was made")
		}
	})
	t.Run("no directory named", func(t *testing.T) {
		_, err := Open(t.Context(), Options{})
		wantError(t, err, provider.ErrInvalid, "Options.Dir")
	})
}

func TestManyMayOpenANewStoreAtOnce(t *testing.T) {
	dir := t.TempDir()
	errs := make(chan error)
	const n = 8
	for i := range n {
		go func() {
			s, err := Open(t.Context(), Options{Dir: dir})
			if err == nil {
				_, err = s.Put(t.Context(), []provider.Document{doc("a.example", fmt.Sprintf("https://a.example/%d", i), "One", "tea")})
				err = errors.Join(err, s.Close())
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	info, err := open(t, Options{Dir: dir}).Info(t.Context())
	if err != nil || info.Documents != n {
		t.Errorf("%d documents, %v; want %d", info.Documents, err, n)
	}
}

func TestWhatOneStoreCommitsTheOtherFinds(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	site := provider.InSites("a.example")
	wantFound(t, b, "tea", site)
	for i := range 40 {
		one, other := a, b
		if i%2 == 1 {
			one, other = b, a
		}
		url := fmt.Sprintf("https://a.example/%02d", i)
		put(t, one, doc("a.example", url, "", "tea"))
		if got := found(t, other, "tea", site); len(got) != i+1 || got[i] != url {
			t.Fatalf("after %d documents the other store finds %q", i+1, got)
		}
		put(t, one, doc("b.example", "https://b.example/", "", fmt.Sprintf("coffee number%d", i)))
		if got := found(t, other, fmt.Sprintf("number%d", i), provider.AllSites()); len(got) != 1 {
			t.Fatalf("the other store does not find what replaced a document: %q", got)
		}
		if i > 0 {
			if got := found(t, other, fmt.Sprintf("number%d", i-1), provider.AllSites()); len(got) != 0 {
				t.Fatalf("the other store finds what was replaced: %q", got)
			}
		}
	}
	if n, err := a.Delete(t.Context(), provider.Selector{Site: "a.example", WholeSite: true}); err != nil || n != 40 {
		t.Fatalf("deleted %d, %v; want 40", n, err)
	}
	wantFound(t, b, "tea", site)
	put(t, a, doc("a.example", "https://a.example/new", "", "tea"))
	wantFound(t, b, "tea", site, "https://a.example/new")
	sites, err := b.Sites(t.Context())
	if err != nil || fmt.Sprint(sites) != "[{a.example 1} {b.example 1}]" {
		t.Errorf("sites %v, %v", sites, err)
	}
}

func TestAFullDiskCostsNothingThatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, maxPages: 60})
	text := strings.Repeat("tea leaves ", 30)
	stored := 0
	var full error
	for full == nil && stored < 10_000 {
		var docs []provider.Document
		for i := range 20 {
			docs = append(docs, doc("a.example", fmt.Sprintf("https://a.example/%05d", stored+i), "Tea", fmt.Sprintf("%s %d", text, stored+i)))
		}
		if _, full = s.Put(t.Context(), docs); full == nil {
			stored += len(docs)
		}
	}
	wantError(t, full, provider.ErrUnavailable, "disk full")
	check := func(s *Store) {
		t.Helper()
		info, err := s.Info(t.Context())
		if err != nil || info.Documents != int64(stored) {
			t.Fatalf("%d documents, %v; want the %d acknowledged", info.Documents, err, stored)
		}
		for i := range stored {
			url := fmt.Sprintf("https://a.example/%05d", i)
			objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{url}, Scope: provider.AllSites()})
			if err != nil || !objects[0].Found {
				t.Fatalf("%s is not there: %v", url, err)
			}
			if got := found(t, s, fmt.Sprint(i), provider.AllSites()); len(got) != 1 || got[0] != url {
				t.Fatalf("%s is not found by a search, but %q", url, got)
			}
		}
	}
	if stored == 0 {
		t.Fatal("nothing was stored before the disk was full")
	}
	check(s)
	// Space that is freed serves for the next.
	if _, err := s.Delete(t.Context(), provider.Selector{Site: "a.example", URLs: []string{"https://a.example/00000"}}); err != nil {
		t.Fatalf("delete on a full disk: %v", err)
	}
	s.Close()
	s = open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://a.example/00000", "Tea", text+" 0"))
	check(s)
}

func TestAnotherWriterIsWaitedForWithinTheDeadline(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	other := open(t, Options{Dir: dir})
	hold, held := make(chan struct{}), make(chan struct{})
	writer := make(chan error)
	go func() {
		writer <- other.files.write(t.Context(), func(*session) error { close(held); <-hold; return nil })
	}()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d := doc("a.example", "https://a.example/1", "One", "tea")
	if _, err := s.Put(ctx, []provider.Document{d}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put while another writes: %v, want the deadline", err)
	}
	wantFound(t, s, "tea", provider.AllSites()) // readers do not wait
	done := make(chan error)
	go func() {
		_, err := s.Put(t.Context(), []provider.Document{d})
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	close(hold)
	if err := errors.Join(<-writer, <-done); err != nil {
		t.Error(err)
	}
	wantFound(t, s, "tea", provider.AllSites(), d.URL)
}

func TestACallThatIsGivenUpEndsAndKeepsNothing(t *testing.T) {
	s := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, []provider.Document{doc("a.example", "https://a.example/1", "One", "tea")}); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v, want the cancellation", err)
	}
	if _, err := s.Search(ctx, provider.Query{Text: "tea", Scope: provider.AllSites()}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v, want the cancellation", err)
	}
	wantFound(t, s, "tea", provider.AllSites())
}

func TestCloseEndsTheCallsInProgress(t *testing.T) {
	s := open(t, Options{})
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		ctx, end, err := s.begin(context.Background())
		close(started)
		if err == nil {
			<-ctx.Done()
			err = failure(ctx, "work", ctx.Err())
			end()
		}
		done <- err
	}()
	<-started
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, <-done, provider.ErrUnavailable, "closed")
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	_, err := s.Info(t.Context())
	wantError(t, err, provider.ErrUnavailable, "closed")
}

func TestADamagedIndexIsRebuiltFromTheDocuments(t *testing.T) {
	for _, c := range []struct{ name, damage string }{
		{"a flipped byte", "UPDATE chunk SET data = substr(data, 1, 60) || x'ffff' || substr(data, 63)"},
		{"a chunk is missing", "DELETE FROM chunk"},
		{"a row is missing", "DELETE FROM segment"},
		{"tombstones are wrong", "UPDATE segment SET dead = x'ff'"},
		{"a count is wrong", "UPDATE segment SET documents = documents + 1"},
		{"a document is there twice", "INSERT INTO segment (id, site, documents, bytes, dead) SELECT id + 1000, site, documents, bytes, dead FROM segment; INSERT INTO chunk (segment, part, data) SELECT segment + 1000, part, data FROM chunk"},
		{"a size is wrong", "UPDATE segment SET bytes = 1099511627776"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, do := range []struct {
				name string
				call func(s *Store) error
			}{
				{"search", func(s *Store) error {
					_, err := s.Search(t.Context(), provider.Query{Text: "noodle tea", Scope: provider.AllSites()})
					return err
				}},
				{"put", func(s *Store) error {
					_, err := s.Put(t.Context(), []provider.Document{doc("a.example", "https://a.example/1", "One", "changed tea")})
					return err
				}},
				{"delete", func(s *Store) error {
					_, err := s.Delete(t.Context(), provider.Selector{Site: "a.example", URLs: []string{"https://a.example/1"}})
					return err
				}},
			} {
				dir := t.TempDir()
				s := open(t, Options{Dir: dir})
				for i, text := range []string{"tea", "noodles", "coffee"} {
					put(t, s, doc("a.example", fmt.Sprintf("https://a.example/%d", i+1), "", text))
				}
				put(t, s, doc("b.example", "https://b.example/", "", "rice"))
				s.Close()
				db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.Exec(c.damage); err != nil {
					t.Fatal(err)
				}
				db.Close()
				s = open(t, Options{Dir: dir})
				if err := do.call(s); err != nil {
					t.Fatalf("%s: %v", do.name, err)
				}
				wantFound(t, s, "noodle", provider.AllSites(), "https://a.example/2")
				wantFound(t, s, "coffee", provider.InSites("a.example"), "https://a.example/3")
				wantFound(t, s, "rice", provider.InSites("b.example"), "https://b.example/")
				s.Close()
			}
		})
	}
}

// A document that is gone is more than a damaged index: it is only given up when
// the store is told to index what there is.
func TestADocumentThatVanishedIsNotForgotten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"), drink("rice"))
	s.Close()
	edit(t, dir, "DELETE FROM document WHERE url = 'https://a.example/tea'")
	s = open(t, Options{Dir: dir})
	_, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.AllSites()})
	wantError(t, err, provider.ErrCorrupt, "a.example", "2 documents, of which 1 can be found", "restore")
	r, err := s.Check(t.Context(), nil)
	if err != nil || r.Found == 0 {
		t.Errorf("%+v, %v; want a problem", r, err)
	}
	if _, err := s.Reindex(t.Context(), ReindexOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	wantFound(t, s, "tea", provider.AllSites())
	wantFound(t, s, "rice", provider.AllSites(), "https://a.example/rice")
}

func TestDamagedDocumentsAreAnErrorThatSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	s := open(t, Options{Dir: dir})
	for i := range 200 {
		put(t, s, doc("a.example", fmt.Sprintf("https://a.example/%03d", i), "", strings.Repeat(fmt.Sprintf("tea%d ", i), 200)))
	}
	s.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * pageBytes; i < len(raw); i++ {
		raw[i] ^= 0x5a
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), Options{Dir: dir})
	if err == nil {
		defer s.Close()
		_, err = s.Search(t.Context(), provider.Query{Text: "tea1", Scope: provider.AllSites()})
	}
	wantError(t, err, provider.ErrCorrupt, "backup")
}

func TestAnOutdatedDocumentIsListedAsNotIndexedAndPutAgain(t *testing.T) {
	s := open(t, Options{})
	d := doc("a.example", "https://a.example/1", "One", "tea")
	put(t, s, d)
	err := s.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "UPDATE document SET version = version - 1, crc = crc & 0xffffffff")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	list := func() provider.Entry {
		entries, err := s.List(t.Context(), provider.ListQuery{Site: "a.example"})
		if err != nil || len(entries) != 1 {
			t.Fatalf("entries %v, %v; want one", entries, err)
		}
		return entries[0]
	}
	if e := list(); e.Indexed || e.Hash != d.Hash() {
		t.Errorf("entry %+v, want the hash, and not indexed", e)
	}
	results, err := s.Put(t.Context(), []provider.Document{d})
	if err != nil || results[0].Outcome != provider.Stored {
		t.Errorf("put again: %v, %v; want it stored", results, err)
	}
	if e := list(); !e.Indexed {
		t.Errorf("entry %+v, want it indexed", e)
	}
}

func TestNothingIsWrittenForWhatIsThere(t *testing.T) {
	s := open(t, Options{})
	var docs []provider.Document
	for i := range 100 {
		docs = append(docs, doc("a.example", fmt.Sprintf("https://a.example/%d", i), "One", "tea"))
	}
	put(t, s, docs...)
	before := s.sites.newest.Load()
	// A writer that never ends would block any write.
	hold, held, writer := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		writer <- s.files.write(t.Context(), func(*session) error { close(held); <-hold; return errNothingToDo })
	}()
	<-held
	results, err := s.Put(t.Context(), docs)
	close(hold)
	<-writer
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != provider.Unchanged {
			t.Fatalf("outcome %s, want unchanged", r.Outcome)
		}
	}
	if after := s.sites.newest.Load(); before != nil && after.generation > before.generation+1 {
		t.Errorf("generation went from %d to %d", before.generation, after.generation)
	}
}

func TestTheSameDocumentsPutAtOnceAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{open(t, Options{Dir: dir}), open(t, Options{Dir: dir})}
	for round := range 5 {
		var docs []provider.Document
		for i := range 30 {
			docs = append(docs, doc([]string{"a.example", "b.example"}[i%2], fmt.Sprintf("https://a.example/%d", i), "", fmt.Sprintf("round%d", round)))
		}
		const n = 6
		outcomes := make(chan map[provider.Outcome]int, n)
		for i := range n {
			go func() {
				if i == n-1 && round%2 == 1 {
					if _, err := stores[0].Delete(t.Context(), provider.Selector{Site: "b.example", WholeSite: true}); err != nil {
						t.Error(err)
					}
					outcomes <- nil
					return
				}
				results, err := stores[i%2].Put(t.Context(), docs)
				if err != nil {
					t.Error(err)
				}
				count := make(map[provider.Outcome]int)
				for _, r := range results {
					count[r.Outcome]++
				}
				outcomes <- count
			}()
		}
		for range n {
			if got := <-outcomes; got != nil && got[provider.Stored]+got[provider.Unchanged] != len(docs) {
				t.Errorf("outcomes %v of %d documents", got, len(docs))
			}
		}
		put(t, stores[0], docs...)
		for _, s := range stores {
			if got := found(t, s, fmt.Sprintf("round%d", round), provider.AllSites()); len(got) != len(docs) {
				t.Errorf("round %d: %d documents are found, want %d", round, len(got), len(docs))
			}
		}
	}
	info, err := stores[1].Info(t.Context())
	if err != nil || info.Documents != 30 {
		t.Errorf("%d documents, %v; want 30", info.Documents, err)
	}
}

func TestTheNearestSiteIsNamed(t *testing.T) {
	s := open(t, Options{})
	put(t, s, doc("recipes.example", "https://recipes.example/1", "One", "tea"), doc("news.example", "https://news.example/1", "One", "tea"))
	for site, want := range map[string]string{
		"recipe.example":  `did you mean "recipes.example"?`,
		"Recipes.Example": `did you mean "recipes.example"?`,
		"wholly.other":    `holds nothing`,
	} {
		res, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.InSites(site)})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) != 0 || res.Degraded || len(res.Statuses) != 1 ||
			res.Statuses[0].Code != provider.StatusSiteUnknown || !strings.HasSuffix(res.Statuses[0].Message, want) {
			t.Errorf("search in %q: %+v, want no hit and a notice that says %q", site, res, want)
		}
	}
}
