package embedded

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// An index or a table of the file that lost everything it had looks like one
// that never had anything. Whatever it is, no call may answer as if there were
// less in the store than there is.
func TestALostTreeIsNeverAnEmptyAnswer(t *testing.T) {
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	shop(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, page := range rootPages(t, whole) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copyStore(t, whole, dir, FileName)
			f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte{0, 0}, (page-1)*pageBytes+3); err != nil { // the number of cells
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Options{Dir: dir})
			if err != nil {
				wantError(t, err, provider.ErrCorrupt, "restore")
				return
			}
			defer s.Close()
			// Either the right answer or an error that says what to do.
			rightOr := func(op string, err error, right bool) {
				t.Helper()
				if err != nil {
					wantError(t, err, provider.ErrCorrupt, "restore")
				} else if !right {
					t.Errorf("%s answers as if something had never been there", op)
				}
			}
			sites, err := s.Sites(t.Context())
			rightOr("Sites", err, len(sites) == 2)
			entries, err := s.List(t.Context(), provider.ListQuery{Site: "shop.example", Limit: 100})
			rightOr("List", err, len(entries) == 88)
			objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{"https://shop.example/09"}, Scope: provider.AllSites()})
			rightOr("Get", err, len(objects) == 1 && objects[0].Found && len(objects[0].Schema) > 0)
			result, err := s.Search(t.Context(), provider.Query{Text: "number9", Scope: provider.AllSites()})
			rightOr("Search", err, err == nil && len(result.Hits) == 1)
			_, err = s.Put(t.Context(), []provider.Document{doc("b.example", "https://b.example/", "", "rice again")})
			rightOr("Put", err, true)
		})
	}
}

// rootPages returns the pages that the tables and indexes of a closed store
// begin on.
func rootPages(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name, rootpage FROM sqlite_schema")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	pages := make(map[string]int64)
	for rows.Next() {
		var name string
		var page int64
		if err := rows.Scan(&name, &page); err != nil {
			t.Fatal(err)
		}
		pages[name] = page
	}
	if err := rows.Err(); err != nil || pages["store"] != storePage {
		t.Fatalf("pages %v, %v; want the store's row on page %d", pages, err, storePage)
	}
	return pages
}

func TestWhatIsReadIsWhatWasStored(t *testing.T) {
	for _, c := range []struct{ name, damage string }{
		{"another object", "UPDATE document SET schema = CAST('{\"@type\":\"Artikel\"}' AS BLOB)"},
		{"another name", "UPDATE document SET name = 'Two'"},
		{"another text", "UPDATE document SET text = x'03746561'"},
		{"other types", "UPDATE document SET types = '[\"Book\"]'"},
		{"no table of documents", "DROP TABLE document"},
		{"no row of the store", "DELETE FROM store"},
		{"no mark", "UPDATE store SET mark = x''"},
		{"a site too few", "DELETE FROM site"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Dir: dir})
			put(t, s, doc("a.example", "https://a.example/1", "One", "tea leaves"))
			s.Close()
			edit(t, dir, c.damage)
			s = open(t, Options{Dir: dir})
			_, err := s.Get(t.Context(), provider.Lookup{URLs: []string{"https://a.example/1"}, Scope: provider.AllSites()})
			wantError(t, err, provider.ErrCorrupt, "restore")
			_, err = s.Search(t.Context(), provider.Query{Text: "one", Scope: provider.AllSites()})
			wantError(t, err, provider.ErrCorrupt, "restore")
		})
	}
}

func TestADocumentWithAnotherKeyInTheIndexIsNotMissing(t *testing.T) {
	dir := t.TempDir()
	const url = "https://shop.example/1"
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", url, "One", "tea"))
	s.Close()
	page := rootPages(t, dir)["document_key"]
	path := filepath.Join(dir, FileName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(urlKey(url)))
	at := bytes.Index(raw[(page-1)*pageBytes:page*pageBytes], key)
	if at < 0 {
		t.Fatal("the key is not in its index")
	}
	raw[int(page-1)*pageBytes+at+7] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, Options{Dir: dir}).Get(t.Context(), provider.Lookup{URLs: []string{url}, Scope: provider.AllSites()})
	wantError(t, err, provider.ErrCorrupt, url, "restore")
}

func TestALinkToNothingIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if !Exists(dir) {
		t.Error("Exists says that nothing is there")
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	wantError(t, err, provider.ErrCorrupt, "symbolic link")
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
}

func TestADirectoryThatIsNotUTF8IsRefused(t *testing.T) {
	_, err := Open(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "a\xff")})
	wantError(t, err, provider.ErrInvalid, "Options.Dir", "UTF-8")
}

// A store on a medium that cannot be written can be read.
func TestAStoreThatCannotBeWrittenCanBeRead(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("needs a user whom file modes bind; run it as one who is not root")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	s := open(t, Options{Dir: dir})
	put(t, s, doc("a.example", "https://a.example/1", "One", "tea"))
	s.Close()
	mode := func(dirMode, fileMode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(path, fileMode), os.Chmod(dir, dirMode)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })

	for _, m := range []struct{ dir, file os.FileMode }{{0o500, 0o400}, {0o500, 0o600}} {
		mode(m.dir, m.file)
		s = open(t, Options{Dir: dir, MustExist: true})
		wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1")
		_, err := s.Put(t.Context(), []provider.Document{doc("a.example", "https://a.example/2", "", "rice")})
		wantError(t, err, provider.ErrPermission, "only be read")
		s.Close()
	}

	mode(0o700, 0)
	_, err := Open(t.Context(), Options{Dir: dir, MustExist: true})
	wantError(t, err, provider.ErrPermission, FileName)
	mode(0, 0o600)
	if !Exists(dir) {
		t.Error("a store that may not be looked at does not exist")
	}
	_, err = Open(t.Context(), Options{Dir: dir, MustExist: true})
	wantError(t, err, provider.ErrPermission, FileName)
}

func TestAMarkIsFoundInARawPage(t *testing.T) {
	m := state{storeFile{id: storeID{1, 2, 3}}, 1 << 40}.mark()
	if m.id() != (storeID{1, 2, 3}) || m.generation() != 1<<40 || len(m) != markBytes {
		t.Errorf("mark %x says %x, generation %d", m, m.id(), m.generation())
	}
	page := make([]byte, pageBytes)
	page[0] = 0x0d
	binary.BigEndian.PutUint16(page[8:], pageBytes-40)
	copy(page[pageBytes-30:], m)
	if g, found := markOfPage(page, m.id()); !found || g != 1<<40 {
		t.Errorf("found %v, generation %d", found, g)
	}
	for _, cell := range []int{0, pageBytes - 4, pageBytes, 0xffff} {
		binary.BigEndian.PutUint16(page[8:], uint16(cell))
		if _, found := markOfPage(page, m.id()); found {
			t.Errorf("found in a cell at %d", cell)
		}
	}
}
