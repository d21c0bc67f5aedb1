package embedded

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// checked checks a store that has to be as it was written.
func checked(t testing.TB, s *Store) *CheckReport {
	t.Helper()
	r, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Found != 0 {
		t.Fatalf("%d problems in a store that has none: %+v", r.Found, r.Problems)
	}
	return r
}

// edit changes the file of a closed store behind its back.
func edit(t testing.TB, dir string, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// shop fills a store with documents of all kinds: with and without a name, a
// text and a language of their own, replaced and deleted.
func shop(t testing.TB, s *Store) {
	t.Helper()
	var docs []provider.Document
	for i := range 90 {
		url := fmt.Sprintf("https://shop.example/%02d", i)
		d := provider.Document{Site: "shop.example", URL: url, Schema: fmt.Appendf(nil,
			`{"@type":["Product","schema:Thing"],"url":"%s","name":"Kettle %d","description":"A kettle for water number%d and tea."}`, url, i, i)}
		switch i % 4 {
		case 1:
			d.Name = "Given name"
		case 2:
			d.Text, d.Language = "Given text of some length, about a kettle.", "en"
		case 3:
			d.Types, d.Name, d.Language = []string{"Offer"}, "Given", "de"
		}
		docs = append(docs, d)
	}
	put(t, s, docs[:80]...)
	put(t, s, docs[80:]...)
	put(t, s, doc("b.example", "https://b.example/", "", "rice"))
	put(t, s, doc("shop.example", "https://shop.example/03", "", "replaced"))
	remove(t, s, provider.Selector{Site: "shop.example", URLs: []string{"https://shop.example/04", "https://shop.example/70"}})
}

func remove(t testing.TB, s *Store, sel provider.Selector) {
	t.Helper()
	if _, err := s.Delete(t.Context(), sel); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreThatWasNotHarmedHasNoProblems(t *testing.T) {
	s := open(t, Options{})
	if r := checked(t, s); r.Documents != 0 || r.Sites != 0 {
		t.Errorf("an empty store: %+v", r)
	}
	shop(t, s)
	var last, total int64
	r, err := s.Check(t.Context(), func(done, all int64) { last, total = done, all })
	if err != nil || r.Found != 0 {
		t.Fatalf("%+v, %v; want no problem", r, err)
	}
	if r.Documents != 89 || r.Sites != 2 || r.Segments < 2 || r.Outdated != 0 || last != 89 || total != 89 {
		t.Errorf("%+v, progress %d of %d; want 89 documents of 2 sites", r, last, total)
	}
	remove(t, s, provider.Selector{Site: "b.example", WholeSite: true})
	if r := checked(t, s); r.Sites != 1 {
		t.Errorf("%+v, want one site", r)
	}
}

func TestCheckFindsAndReindexMends(t *testing.T) {
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	shop(t, s)
	s.Close()
	const one = " WHERE url = 'https://shop.example/08'"
	for _, c := range []struct {
		name, damage string
		words        string
		remedy       Remedy
	}{
		{"a flipped byte in a segment", "UPDATE chunk SET data = substr(data, 1, 60) || x'ffff' || substr(data, 63) WHERE segment = (SELECT max(id) FROM segment)",
			"does not match its checksum", RemedyReindex},
		{"a segment without its bytes", "DELETE FROM chunk", "is not one", RemedyReindex},
		{"a missing segment", "DELETE FROM segment WHERE site = 1; DELETE FROM chunk WHERE segment NOT IN (SELECT id FROM segment)",
			`site "shop.example": documents missing from its index: 88, such as https://shop.example/00`, RemedyReindex},
		{"a segment of no site", "INSERT INTO segment (site, documents, bytes) VALUES (77, 1, 1)", "index segments of no site: 1", RemedyReindex},
		{"pieces of no segment", "INSERT INTO chunk (segment, part, data) VALUES (77, 0, x'00')", "pieces of no index segment: 1", RemedyReindex},
		{"a tombstone for a living document", "UPDATE segment SET dead = x'01'", "documents missing from its index", RemedyReindex},
		{"a tombstone for nothing", "UPDATE segment SET dead = x'0000000000000000000000000000000080'", "tombstone", RemedyReindex},
		{"no tombstone where there was one", "UPDATE segment SET dead = NULL", "entries of its index without a document", RemedyReindex},
		{"a wrong count of a segment", "UPDATE segment SET documents = documents + 1", "its row says", RemedyReindex},
		{"a wrong size of a segment", "UPDATE segment SET bytes = bytes + 1", "its row says", RemedyReindex},
		{"an impossible size of a segment", "UPDATE segment SET bytes = 1099511627776", "said to have 1099511627776 bytes", RemedyReindex},
		{"a wrong count of a site", "UPDATE site SET documents = 1000", "said to have 1000 documents, and has 88", RemedyReindex},
		{"a wrong count of sites", "UPDATE store SET sites = 1", "said to have 1 sites, and has 2", RemedyReindex},
		{"a site from the future", "UPDATE site SET generation = 1000000", "its generation is 1000000", RemedyReindex},
		{"a store in which no site ever went", "UPDATE store SET dropped = 1000000", "the list of sites is not as it was written", RemedyReindex},
		{"a site without documents", fmt.Sprintf("INSERT INTO site (id, name, documents, generation, crc) VALUES (77, 'empty.example', 0, 1, %d)", nameChecksum(77, "empty.example")), `site "empty.example": it is listed although`, RemedyReindex},
		{"a document that vanished", "DELETE FROM document" + one, "entries of its index without a document: 1, such as https://shop.example/08", RemedyReindex},
		{"a document under another row", "UPDATE document SET id = 100000" + one, "that lead to another row: 1", RemedyReindex},
		{"a document twice in the index", "INSERT INTO segment (id, site, documents, bytes, dead) SELECT id + 1000, site, documents, bytes, dead FROM segment; INSERT INTO chunk (segment, part, data) SELECT segment + 1000, part, data FROM chunk",
			"documents more than once in its index", RemedyReindex},
		{"a wrong key", "UPDATE document SET key = key + 1" + one, "https://shop.example/08: the key under which it is looked up is wrong", RemedyReindex},
		{"another name", "UPDATE document SET name = 'Teapot'" + one, "https://shop.example/08: its name, types, text or language", RemedyReindex},
		{"another text", "UPDATE document SET text = x'03616263'" + one, "https://shop.example/08: its name, types, text or language", RemedyReindex},
		{"a text that is none", "UPDATE document SET text = x'ffffff'" + one, "the text of a document is cut off", RemedyReindex},
		{"types that are none", "UPDATE document SET types = '[1'" + one, "the types of a document are no list", RemedyReindex},

		{"another object", `UPDATE document SET schema = replace(schema, 'water', 'wafer')` + one, "https://shop.example/08: its object or what was given", RemedyIngest},
		{"an object that is cut off", "UPDATE document SET schema = substr(schema, 1, 30)" + one, "an object cannot be unpacked", RemedyIngest},
		{"an object that is none", "UPDATE document SET schema = CAST('{\"name\"' AS BLOB)" + one, "is not JSON", RemedyIngest},
		{"another checksum", "UPDATE document SET hash = x'00'" + one, "wrong checksum", RemedyIngest},
		{"another given name", "UPDATE document SET name = 'Teapot' WHERE url = 'https://shop.example/01'", "https://shop.example/01: its object or what was given", RemedyIngest},

		{"documents of no site", "DELETE FROM site WHERE name = 'b.example'", "documents of no site: 1", RemedyRestore},
		{"an impossible site", "UPDATE site SET name = 'all' WHERE name = 'b.example'", `site "all": no site can have this name`, RemedyRestore},
		{"a missing site", "UPDATE store SET sites = 9", "the store has 9 sites, and only 2 of them are there", RemedyRestore},
		{"an impossible URL", "UPDATE document SET url = ' ', key = 0" + one, "is blank", RemedyRestore},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			edit(t, dir, c.damage)
			s := open(t, Options{Dir: dir})
			r, err := s.Check(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			hasProblem(t, r, c.remedy, c.words)
			if c.remedy != RemedyReindex {
				return
			}
			for _, p := range r.Problems {
				if p.Remedy != RemedyReindex {
					t.Errorf("problem %+v beside it, which reindexing does not mend", p)
				}
			}
			if _, err := s.Reindex(t.Context(), ReindexOptions{All: true}); err != nil {
				t.Fatal(err)
			}
			checked(t, s)
			wantFound(t, s, "number9", provider.AllSites(), "https://shop.example/09")
		})
	}
}

// Not even what SQLite does by itself changes the file, let alone Check.
func TestCheckWritesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	s.Close()
	edit(t, dir, "UPDATE site SET documents = 1000", "UPDATE document SET key = 0", "PRAGMA wal_checkpoint(TRUNCATE)")
	path := filepath.Join(dir, FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Dir: dir})
	if r, err := s.Check(t.Context(), nil); err != nil || r.Found == 0 {
		t.Fatalf("%+v, %v; want problems", r, err)
	}
	s.Close()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// hasProblem wants a problem with these words and this remedy in r.
func hasProblem(t testing.TB, r *CheckReport, remedy Remedy, words string) {
	t.Helper()
	for _, p := range r.Problems {
		if p.Remedy == remedy && strings.Contains(p.What, words) {
			return
		}
	}
	t.Errorf("problems %+v, want one that says %q and is mended by %s", r.Problems, words, remedy)
}

func TestProblemsAreBoundedAndCounted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	var docs []provider.Document
	for i := range 3 * MaxProblems {
		docs = append(docs, doc("a.example", fmt.Sprintf("https://a.example/%d", i), "", "tea"))
	}
	put(t, s, docs...)
	s.Close()
	edit(t, dir, "UPDATE document SET hash = x'00'")
	r, err := open(t, Options{Dir: dir}).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != MaxProblems || r.Found != 3*MaxProblems {
		t.Errorf("%d problems listed and %d counted, want %d and %d", len(r.Problems), r.Found, MaxProblems, 3*MaxProblems)
	}
}

// Whatever page of the file has wrong bytes, Check says so, or Open does.
func TestCheckFindsFlippedBytesOnEveryPage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	shop(t, s)
	if _, err := s.Compact(t.Context()); err != nil { // no free pages, whose bytes mean nothing
		t.Fatal(err)
	}
	s.Close()
	path := filepath.Join(dir, FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := range len(whole) / pageBytes {
		raw := append([]byte{}, whole...)
		for i := page * pageBytes; i < (page+1)*pageBytes; i++ {
			raw[i] ^= 0x5a
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			wantError(t, err, provider.ErrCorrupt)
			continue
		}
		r, err := s.Check(t.Context(), nil)
		if err != nil || r.Found == 0 {
			t.Errorf("page %d is garbage, and Check says %+v, %v", page+1, r, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("page %d: close: %v", page+1, err)
		}
	}
}
