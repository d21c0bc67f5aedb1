package embedded

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// A segment that is whole, but of another document's words.
func TestCheckFindsADocumentThatIsIndexedUnderOtherWords(t *testing.T) {
	var chunks [2][]byte
	var dirs [2]string
	for i, word := range []string{"tea", "pea"} {
		dirs[i] = t.TempDir()
		s := open(t, Options{Dir: dirs[i]})
		put(t, s, doc("a.example", "https://a.example/1", "", "a cup of "+word), doc("a.example", "https://a.example/2", "", "a cup"))
		checked(t, s)
		s.Close()
		db, err := sql.Open("sqlite", filepath.Join(dirs[i], FileName))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow("SELECT data FROM chunk").Scan(&chunks[i]); err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	if len(chunks[0]) != len(chunks[1]) {
		t.Fatalf("segments of %d and of %d bytes; want words that make them alike", len(chunks[0]), len(chunks[1]))
	}
	edit(t, dirs[0], fmt.Sprintf("UPDATE chunk SET data = x'%x'", chunks[1]))
	s := open(t, Options{Dir: dirs[0]})
	wantFound(t, s, "pea", provider.AllSites(), "https://a.example/1") // no search can know better
	r, err := s.Check(t.Context(), nil)
	if err != nil || r.Found != 1 {
		t.Fatalf("%+v, %v; want one problem", r, err)
	}
	hasProblem(t, r, RemedyReindex, "https://a.example/1: it is not found by its words")
	if _, err := s.Reindex(t.Context(), ReindexOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	wantFound(t, s, "tea", provider.AllSites(), "https://a.example/1")
}

func TestTheSumOfADocumentIsOfItsWordsAndHowOftenItHasThem(t *testing.T) {
	a := newAnalyser(newLexicon())
	sum := func(name, text string) uint64 {
		d := a.document(name, text, "en")
		return d.sum(a.lexicon.terms())
	}
	first := sum("Kettle", "tea and water")
	if again := sum("Kettle", "water and tea"); again != first {
		t.Errorf("the order of words makes %x of %x", again, first)
	}
	for _, other := range [][2]string{{"Kettle", "tea and tea and water"}, {"", "Kettle tea and water"}, {"Kettle", "tea and"}, {"Kettle", "tea and wafer"}, {"Kettle tea", "and water"}} {
		if sum(other[0], other[1]) == first {
			t.Errorf("%q has the same sum", other)
		}
	}
}
