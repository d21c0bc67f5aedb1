package schemaorg

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// openData opens a gzipped file of the test data, and skips the test where
// that is not at hand.
func openData(t testing.TB, name string) *bufio.Scanner {
	t.Helper()
	if testing.Short() {
		t.Skip("reads thousands of real pages; run without -short")
	}
	dir := os.Getenv("SITEPROVIDER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no test data (%v); put the directory that holds %s into SITEPROVIDER_DATA", err, name)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 64<<20)
	return s
}

// realPage is a page as it was found on the web.
type realPage struct {
	Path    string   `json:"html_path"`
	URL     string   `json:"page_url"`
	Scripts []string `json:"jsonld"`
}

// page returns the page with its address, which a page that does not know its
// own gets as it would by --base.
func (r realPage) page() Page {
	base := "https://page.example/" + r.Path
	p := Page{URL: webURL(r.URL, base)}
	if p.URL == "" {
		p.URL = base
	}
	for i, s := range r.Scripts {
		p.Scripts = append(p.Scripts, Script{Text: []byte(s), Line: 1, Number: i + 1})
	}
	return p
}

func realPages(t testing.TB) []realPage {
	t.Helper()
	var pages []realPage
	for s := openData(t, "real_jsonld.jsonl.gz"); s.Scan(); {
		var p realPage
		if err := json.Unmarshal(s.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	return pages
}

func TestRealPagesAreReadToTheLastNode(t *testing.T) {
	var nodes, documents, scripts, strict, malformed, recovered, fallback, refused, noPage int
	reasons := map[Reason]int{}
	repairs := map[string]int{}
	for _, p := range realPages(t) {
		r := Read(p.page())
		checkAccount(t, r)
		if p.URL == "" {
			noPage++
		}
		failed := map[int]bool{}
		for _, f := range r.Failures {
			if f.Node {
				refused++
				t.Logf("%s: refused: script %d line %d: %q: %v", p.Path, f.Script, f.Line, f.URL, f.Err)
			} else {
				failed[f.Script] = true
			}
		}
		for i, s := range p.Scripts {
			scripts++
			blank := strings.TrimSpace(s) == ""
			switch {
			case json.Valid([]byte(s)):
				strict++
				if failed[i+1] {
					t.Errorf("%s: script %d is valid and was not read", p.Path, i+1)
				}
			default:
				malformed++
				if !failed[i+1] && !blank {
					recovered++
				}
			}
		}
		nodes += r.Nodes
		documents += len(r.Documents)
		for _, s := range r.Skipped {
			reasons[s.Reason]++
		}
		for _, rep := range r.Repairs {
			for _, what := range rep.What {
				repairs[what]++
			}
		}
		for _, d := range r.Documents {
			if !Readable(d.Schema) {
				fallback++
			}
			checkDocument(t, p, d)
		}
	}
	t.Logf("%d scripts: %d valid, %d malformed of which %d recovered: %v", scripts, strict, malformed, recovered, repairs)
	t.Logf("%d nodes: %d documents (%d without a word), %d refused; skipped: %v", nodes, documents, fallback, refused, reasons)
	if refused > 0 {
		t.Errorf("%d nodes refused on pages that all have an address", refused)
	}
	if recovered < 105 {
		t.Errorf("%d malformed scripts recovered, want at least 105", recovered)
	}
}

func TestProductsForSearchAllHaveWords(t *testing.T) {
	n := 0
	for s := openData(t, "ir/esci-sample/schema.jsonl.gz"); s.Scan(); n++ {
		line := gjson.ParseBytes(s.Bytes())
		r := Read(Page{URL: line.Get("url").Str, Wrapper: true, Scripts: []Script{{Text: []byte(line.Get("schema").Raw), Line: n + 1}}})
		checkAccount(t, r)
		if len(r.Documents) != 1 || !Readable(r.Documents[0].Schema) || r.Documents[0].Name == "" || string(r.Documents[0].Schema) != line.Get("schema").Raw {
			t.Fatalf("line %d: %+v, want one document with a name, and words, and the bytes of the line", n+1, r)
		}
	}
	if n != 6764 {
		t.Errorf("%d documents, want 6764", n)
	}
}

func checkDocument(t *testing.T, p realPage, f Found) {
	t.Helper()
	u, err := url.Parse(f.URL)
	if (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") && !strings.HasPrefix(f.URL, "http") {
		t.Errorf("%s: URL %q is not absolute", p.Path, f.URL)
	}
	if !json.Valid(f.Schema) {
		t.Errorf("%s: %s: schema is not JSON", p.Path, f.URL)
	}
	d := Describe(f.Schema)
	if d.Fallback == Readable(f.Schema) {
		t.Errorf("%s: %s: Read and Describe do not agree about a fallback", p.Path, f.URL)
	}
	if d.Name != f.Name || strings.Join(d.Types, " ") != strings.Join(f.Types, " ") {
		t.Errorf("%s: %s: Describe says %q %v, Read %q %v", p.Path, f.URL, d.Name, d.Types, f.Name, f.Types)
	}
	if d.Fallback {
		return
	}
	if !utf8.ValidString(d.Text) || utf8.RuneCountInString(d.Text) > MaxTextRunes {
		t.Errorf("%s: %s: text is invalid or too long", p.Path, f.URL)
	}
	for _, bad := range []string{`{"`, `":"`, `@type`, `@value`, `map[`, `<nil>`, `&amp;`, `&quot;`, `&lt;p`, `<p>`, `</`, `schema.org/`} {
		for _, line := range strings.Split(d.Text, "\n") {
			// Some pages have JSON or broken tags in their own strings.
			if strings.Contains(line, bad) && !strings.Contains(everyString(p), line) {
				t.Errorf("%s: %s: text has %q: %.200q", p.Path, f.URL, bad, line)
			}
		}
	}
}

// fold reduces a text to what both extractors agree on: letters and digits.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func TestRecipesSayWhatAnotherExtractorFound(t *testing.T) {
	type expected struct {
		Path     string `json:"html_path"`
		Expected struct {
			Title        string
			Ingredients  any      // a list of strings, once a text of lines
			Instructions []string `json:"instructions_list"`
		}
	}
	want := map[string]expected{}
	for s := openData(t, "recipes_expected.jsonl.gz"); s.Scan(); {
		var e expected
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		want[e.Path] = e
	}
	var pages, titles, titlesFound, items, itemsFound, steps, stepsFound int
	var misses, elsewhere []string
	for _, p := range realPages(t) {
		e, ok := want[p.Path]
		if !ok {
			continue
		}
		text := ""
		for _, d := range Read(p.page()).Documents {
			text += " " + Describe(d.Schema).Text
		}
		text = fold(text)
		all := fold(everyString(p))
		pages++
		look := func(s string, count, found *int) {
			switch {
			case strings.Contains(text, fold(s)):
				*count++
				*found++
			case strings.Contains(all, fold(s)):
				*count++
				misses = append(misses, fmt.Sprintf("%s: %s", p.Path, s))
			default: // it was found outside of the scripts, or put together
				elsewhere = append(elsewhere, s)
			}
		}
		look(e.Expected.Title, &titles, &titlesFound)
		for _, s := range lines(e.Expected.Ingredients) {
			look(s, &items, &itemsFound)
		}
		for _, s := range e.Expected.Instructions {
			look(s, &steps, &stepsFound)
		}
	}
	sort.Strings(misses)
	t.Logf("%d pages: titles %d of %d, ingredients %d of %d, steps %d of %d; %d of them are in no script",
		pages, titlesFound, titles, itemsFound, items, stepsFound, steps, len(elsewhere))
	if found, all := titlesFound+itemsFound+stepsFound, titles+items+steps; found*100 < all*99 || all < 10_000 {
		t.Errorf("%d of %d found, want 99 %% of more than 10,000", found, all)
	}
	if testing.Verbose() {
		for _, m := range misses {
			t.Log(m)
		}
	}
}

func lines(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Split(v, "\n")
	case []any:
		var out []string
		for _, s := range v {
			out = append(out, s.(string))
		}
		return out
	}
	return nil
}

// everyString returns all strings in the scripts of a page, one a line.
func everyString(p realPage) string {
	var b strings.Builder
	var walk func(gjson.Result)
	walk = func(v gjson.Result) {
		switch {
		case v.Type == gjson.String:
			b.WriteString(cleanText(v.Str) + "\n")
		case v.IsArray(), v.IsObject():
			v.ForEach(func(_, member gjson.Result) bool {
				walk(member)
				return true
			})
		}
	}
	for _, s := range p.Scripts {
		read, _ := parse([]byte(s))
		for _, v := range read.values {
			walk(gjson.ParseBytes(read.text[v.start:v.end]))
		}
	}
	return b.String()
}
