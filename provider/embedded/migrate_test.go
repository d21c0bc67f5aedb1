package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// oldStores returns the stores of earlier versions, by version.
func oldStores(t testing.TB) map[int]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/store-*.db")
	if err != nil {
		t.Fatal(err)
	}
	stores := make(map[int]string)
	for _, p := range paths {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "store-"), ".db"))
		if err != nil {
			t.Fatal(err)
		}
		stores[n] = p
	}
	for version := 1; version < StoreVersion; version++ {
		if stores[version] == "" {
			t.Errorf("there is no store of version %d in testdata", version)
		}
	}
	return stores
}

// oldStore copies a store of an earlier version into a directory of its own.
func oldStore(t testing.TB, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, FileName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wantSample wants all of the sample in s, and nothing else.
func wantSample(t testing.TB, s *Store) {
	t.Helper()
	listed := make(map[[2]string]string)
	sites, err := s.Sites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range sites {
		n := int64(0)
		for after, more := "", true; more; {
			entries, err := s.List(t.Context(), provider.ListQuery{Site: site.Site, After: after, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				listed[[2]string{site.Site, e.URL}] = e.Hash
				after = e.URL
			}
			n += int64(len(entries))
			more = len(entries) == 50
		}
		if n != site.Documents {
			t.Errorf("site %q is said to have %d documents, and lists %d", site.Site, site.Documents, n)
		}
	}
	want := 0
	for _, d := range sample() {
		scope := provider.InSites(d.Site)
		hash, isListed := listed[[2]string{d.Site, d.URL}]
		objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{d.URL}, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		if deletedFromSample(d.Document) {
			if isListed || objects[0].Found {
				t.Errorf("%s on %s came back (listed %t, found %t)", d.URL, d.Site, isListed, objects[0].Found)
			}
			if got := found(t, s, d.word, scope); len(got) > 0 {
				t.Errorf("the deleted %s is found: %q", d.URL, got)
			}
			continue
		}
		want++
		if hash != d.Hash() {
			t.Errorf("%s on %s is listed with the hash %q, want %q", d.URL, d.Site, hash, d.Hash())
		}
		if !objects[0].Found || !bytes.Equal(objects[0].Schema, d.Schema) {
			t.Errorf("%s on %s: object %q (found %t), want %q", d.URL, d.Site, objects[0].Schema, objects[0].Found, d.Schema)
		}
		if d.word != "" {
			wantFound(t, s, d.word, scope, d.URL)
		}
	}
	if len(listed) != want {
		t.Errorf("%d documents are listed, want %d", len(listed), want)
	}
}

func TestAStoreOfAnyVersionOpensWithAllThatIsInIt(t *testing.T) {
	fresh := open(t, Options{})
	fillSample(t, fresh)
	wantSample(t, fresh)
	for version, path := range oldStores(t) {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			dir := oldStore(t, path)
			s := open(t, Options{Dir: dir})
			if st := stats(t, s); st.Version != StoreVersion {
				t.Errorf("it has version %d, want %d", st.Version, StoreVersion)
			}
			wantSample(t, s)
			// It is a store like any other: what is put is found, and
			// bringing it up to date leaves nothing to report.
			put(t, s, drink("tea"))
			remove(t, s, provider.Selector{Site: "a.example", WholeSite: true})
			if _, err := s.Reindex(t.Context(), ReindexOptions{}); err != nil {
				t.Fatal(err)
			}
			if r := checked(t, s); r.Outdated != 0 {
				t.Errorf("%d documents are still outdated", r.Outdated)
			}
			wantSample(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			wantSample(t, open(t, Options{Dir: dir}))
		})
	}
}

// asVersion1 gives a closed store the layout of version 1.
func asVersion1(t testing.TB, dir string) {
	t.Helper()
	edit(t, dir,
		"ALTER TABLE store ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
		"UPDATE store SET generation = (SELECT coalesce(max(generation), 0) FROM site)",
		"ALTER TABLE store DROP COLUMN version", "ALTER TABLE store DROP COLUMN digest",
		"ALTER TABLE site DROP COLUMN version", "ALTER TABLE site DROP COLUMN crc",
		"ALTER TABLE segment DROP COLUMN format", "ALTER TABLE segment DROP COLUMN crc",
		"UPDATE document SET crc = crc & 0xffffffff",
		"DROP TABLE lease",
		"PRAGMA user_version = 1")
}

// openAndTell is the program openDir.
func openAndTell(dir string) error {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	fmt.Println("open")
	return s.Close()
}

func TestAMigrationThatIsKilledGoesOn(t *testing.T) {
	kills := 5
	if long() {
		kills = 300
	}
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	var docs []provider.Document
	for i := range 900 {
		docs = append(docs, doc(fmt.Sprintf("%d.example", i), "https://a.example/", "", fmt.Sprintf("word%d", i)))
	}
	put(t, s, docs...)
	s.Close()
	asVersion1(t, whole)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	early := 0
	for range kills {
		dir := t.TempDir()
		copyStore(t, whole, dir, FileName)
		p := start(t, openDir, dir)
		time.Sleep(time.Duration(random.IntN(100_000)) * time.Microsecond)
		if said := p.kill(); len(said) == 0 {
			early++
		}
		s := open(t, Options{Dir: dir, MustExist: true})
		if st := stats(t, s); st.Version != StoreVersion || st.Documents != 900 {
			t.Fatalf("%+v, want 900 documents and version %d", st, StoreVersion)
		}
		checked(t, s)
		wantFound(t, s, "word899", provider.InSites("899.example"), "https://a.example/")
		s.Close()
	}
	t.Logf("%d of %d were killed before they had opened the store", early, kills)
}

func TestSeveralMayMigrateAStoreAtOnce(t *testing.T) {
	for _, path := range oldStores(t) {
		dir := oldStore(t, path)
		var list []*process
		for range 3 {
			list = append(list, start(t, openDir, dir))
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				s, err := Open(context.Background(), Options{Dir: dir})
				if err != nil {
					t.Error(err)
					return
				}
				s.Close()
			})
		}
		group.Wait()
		for _, p := range list {
			for range p.said {
			}
			if err := p.wait(); err != nil {
				t.Error(err)
			}
		}
		s := open(t, Options{Dir: dir})
		wantSample(t, s)
		checked(t, s)
	}
}

// A program of version 1 looks at the version when it opens a store, and then
// begins every transaction with this statement.
func TestARunningProgramOfVersion1FailsBeforeItChangesAnything(t *testing.T) {
	dir := oldStore(t, oldStores(t)[1])
	db, err := sql.Open("sqlite", dataSource(filepath.Join(dir, FileName), 0))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begins, err := db.Prepare("SELECT mark, generation, dropped, sites FROM store")
	if err != nil {
		t.Fatal(err)
	}
	defer begins.Close()
	var m []byte
	var generation, dropped, sites int64
	read := func() error { return begins.QueryRow().Scan(&m, &generation, &dropped, &sites) }
	if err := read(); err != nil || sites != 5 {
		t.Fatalf("%d sites, %v; want 5", sites, err)
	}
	open(t, Options{Dir: dir})
	if err := read(); err == nil || !strings.Contains(err.Error(), "no such column") {
		t.Errorf("error %v, want one that says that there is no such column", err)
	}
}

func TestAProgramNoticesThatANewerOneChangedTheStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/tea")
	edit(t, dir, fmt.Sprintf("UPDATE store SET version = %d", StoreVersion+1), fmt.Sprintf("PRAGMA user_version = %d", StoreVersion+1))
	_, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.AllSites()})
	wantError(t, err, provider.ErrUnsupported, fmt.Sprint("version ", StoreVersion+1), "newer program")
	_, err = s.Put(t.Context(), []provider.Document{drink("rice")})
	wantError(t, err, provider.ErrUnsupported, fmt.Sprint("version ", StoreVersion+1), "newer program")
	_, err = Open(t.Context(), Options{Dir: dir})
	wantError(t, err, provider.ErrUnsupported, fmt.Sprint("version ", StoreVersion+1), "newer program")
}

func TestAnOldStoreThatCannotBeWrittenIsRefused(t *testing.T) {
	path := filepath.Join(oldStore(t, oldStores(t)[1]), FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dataSourceFixed(path))
	if err != nil {
		t.Fatal(err)
	}
	c := &connections{db: db, path: path, fixed: true}
	defer c.db.Close()
	_, err = c.open(t.Context(), reading)
	wantError(t, err, provider.ErrPermission, "version 1", "only be read", "copy")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestAStoreOfVersion1ThatIsPutInPlaceOfAnOpenOneIsMigrated(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	old := filepath.Join(oldStore(t, oldStores(t)[1]), FileName)
	path := filepath.Join(dir, FileName)
	if err := errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm"), os.Rename(old, path)); err != nil {
		t.Skip("a file that is open cannot be replaced here: ", err)
	}
	wantSample(t, s)
}
