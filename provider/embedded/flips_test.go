package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// answers is what a store says of each thing it can be asked for, by the
// question.
type answers map[string]string

// ask asks a store for all there is of these documents, in every way there is.
// An answer that is an error is left out, and the errors are returned.
func ask(ctx context.Context, s *Store, docs []sampleDocument) (answers, []error) {
	got := make(answers)
	var errs []error
	keep := func(question string, answer any, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", question, err))
			return
		}
		got[question] = fmt.Sprintf("%+v", answer)
	}
	sites, err := s.Sites(ctx)
	keep("sites", sites, err)
	info, err := s.Info(ctx)
	keep("documents", info.Documents, err)
	names := make(map[string]bool)
	for chunk := range slices.Chunk(docs, 30) {
		for _, spelling := range []string{"https://shop", "HTTPS://SHOP"} {
			l := provider.Lookup{Scope: provider.AllSites()}
			for _, d := range chunk {
				names[d.Site] = true
				l.URLs = append(l.URLs, strings.Replace(d.URL, "https://shop", spelling, 1))
			}
			objects, err := s.Get(ctx, l)
			keep("get "+l.URLs[0]+" and more", objects, err)
		}
	}
	for i, d := range docs {
		if i%5 > 0 || d.word == "" {
			continue
		}
		result, err := s.Search(ctx, provider.Query{Text: d.word, Scope: provider.InSites(d.Site)})
		keep("search "+d.Site+" "+d.word, result, err)
	}
	result, err := s.Search(ctx, provider.Query{Text: "kettle pot topf", Scope: provider.AllSites(), Limit: 1000})
	keep("search all", result, err)
	for site := range names {
		for after, page := "", 0; page < 100; page++ {
			entries, err := s.List(ctx, provider.ListQuery{Site: site, After: after, Limit: 40})
			keep(fmt.Sprint("list ", site, " page ", page), entries, err)
			if len(entries) < 40 {
				break
			}
			after = entries[len(entries)-1].URL
		}
	}
	return got, errs
}

// pageNames returns the tree that each page of a closed store is part of.
func pageNames(t testing.TB, dir string) map[int]string {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT pageno, name FROM dbstat")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names := make(map[int]string)
	for rows.Next() {
		var page int
		var name string
		if err := rows.Scan(&page, &name); err != nil {
			t.Fatal(err)
		}
		names[page] = name
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// faultRow is a row of the table that a test of faults prints.
type faultRow struct{ tried, said, mended, harmless, lost int }

func logFaults(t testing.TB, what string, table map[string]*faultRow) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %6s %8s %8s %9s %6s", what, "tried", "an error", "mended", "no effect", "lost")
	for _, name := range slices.Sorted(maps.Keys(table)) {
		r := table[name]
		fmt.Fprintf(&b, "\n%-28s %6d %8d %8d %9d %6d", name, r.tried, r.said, r.mended, r.harmless, r.lost)
	}
	t.Log("\n" + b.String())
}

// Whatever byte of the file is another, no answer is silently wrong or lacks
// something: it is what it was, or an error that says that the store is damaged,
// or the index was rebuilt, which the log says. Check finds whatever has an
// effect.
func TestNoFlippedByteIsAWrongAnswer(t *testing.T) {
	perPage := 1
	if long() {
		perPage = 60
	}
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	fillSample(t, s)
	for i := range 120 { // several pages of each tree
		put(t, s, doc(fmt.Sprintf("site%d.example", i), "https://shop.example/p/001", "", "tea"))
	}
	err := s.files.write(t.Context(), func(tx *session) error {
		_, err := tx.exec(t.Context(), "INSERT INTO lease VALUES ('a', x'01020304', 5), ('b', x'05060708', 6)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	docs := sample()
	want, errs := ask(t.Context(), s, docs)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.Close()
	path := filepath.Join(whole, FileName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := pageNames(t, whole)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d pages", seed, len(raw)/pageBytes)
	random := rand.New(rand.NewPCG(seed, 0))
	table := make(map[string]*faultRow)
	for page := 1; page <= len(raw)/pageBytes; page++ {
		name := pages[page]
		switch {
		case page == 1:
			name = "header and layout"
		case name == "":
			name = "unused page"
		}
		if table[name] == nil {
			table[name] = new(faultRow)
		}
		for range perPage {
			at := (page-1)*pageBytes + interesting(random, raw[(page-1)*pageBytes:page*pageBytes])
			flipped := bytes.Clone(raw)
			flipped[at] ^= byte(1 << random.IntN(8))
			if random.IntN(4) == 0 {
				flipped[at] = ^raw[at]
			}
			flipTrial{t, docs, want, flipped, fmt.Sprintf("%s, page %d, byte %d (%02x -> %02x)", name, page, at, raw[at], flipped[at])}.run(table[name])
		}
	}
	logFaults(t, "a byte in", table)
}

// interesting returns an offset in a page, where something is rather than not.
func interesting(random *rand.Rand, page []byte) int {
	for range 20 {
		at := random.IntN(len(page))
		if random.IntN(3) == 0 {
			at = random.IntN(120)
		}
		if page[at] != 0 {
			return at
		}
	}
	return random.IntN(len(page))
}

// flipTrial is a file with another byte.
type flipTrial struct {
	t    *testing.T
	docs []sampleDocument
	want answers
	raw  []byte
	what string
}

func (f flipTrial) run(row *faultRow) {
	f.t.Helper()
	row.tried++
	problems, failed := f.check()
	var log bytes.Buffer
	s, err := f.open(&log)
	if err != nil {
		f.wantSaid(err)
		row.said++
		return
	}
	got, errs := ask(f.t.Context(), s, f.docs)
	if err := s.Close(); err != nil {
		f.wantSaid(err)
	}
	for _, err := range errs {
		f.wantSaid(err)
	}
	for question, want := range f.want {
		if answer, ok := got[question]; ok && answer != want && !(strings.HasPrefix(question, "list") && len(errs) > 0) {
			f.t.Errorf("%s: %s\n answers %.300s\n    want %.300s", f.what, question, answer, want)
			row.lost++
			return
		}
	}
	noticed := len(errs) > 0 || log.Len() > 0
	if noticed && failed == nil && problems.Found == 0 {
		f.t.Errorf("%s: Check finds nothing, and there are errors %v, log %q", f.what, errs, log.String())
	}
	switch {
	case len(errs) > 0:
		row.said++
	case log.Len() > 0:
		row.mended++
	default:
		row.harmless++
	}
}

// open opens a store with the file.
func (f flipTrial) open(log *bytes.Buffer) (*Store, error) {
	dir := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), f.raw, 0o600); err != nil {
		f.t.Fatal(err)
	}
	return Open(f.t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
}

func (f flipTrial) check() (*CheckReport, error) {
	s, err := f.open(new(bytes.Buffer))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Check(f.t.Context(), nil)
}

// wantSaid wants an error that says what is the matter.
func (f flipTrial) wantSaid(err error) {
	f.t.Helper()
	if !errors.Is(err, provider.ErrCorrupt) && !errors.Is(err, provider.ErrUnsupported) {
		f.t.Errorf("%s: error %v, want one that says that the store is damaged, or of another version", f.what, err)
	}
}

// A file that was cut off, wherever, is one that says so.
func TestNoFileThatIsCutOffIsAWrongAnswer(t *testing.T) {
	whole := t.TempDir()
	s := open(t, Options{Dir: whole})
	fillSample(t, s)
	docs := sample()
	want, errs := ask(t.Context(), s, docs)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.Close()
	raw, err := os.ReadFile(filepath.Join(whole, FileName))
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{1, 16, 99, 100, 512, 4096, len(raw) - 1}
	for at := pageBytes; at < len(raw); at += pageBytes {
		if long() || at/pageBytes%4 == 0 {
			sizes = append(sizes, at, at-pageBytes/2)
		}
	}
	row := new(faultRow)
	for _, n := range sizes {
		harmless := row.harmless
		flipTrial{t, docs, want, raw[:n], fmt.Sprintf("cut off after %d of %d bytes", n, len(raw))}.run(row)
		if row.harmless != harmless {
			t.Errorf("nobody says that it was cut off after %d of %d bytes", n, len(raw))
		}
	}
	logFaults(t, "the file is", map[string]*faultRow{"cut off": row})
}
