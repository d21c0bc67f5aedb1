package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// FuzzQuery searches a store of ten languages for any text.
func FuzzQuery(f *testing.F) {
	s := open(f, Options{})
	texts := make(map[string]string)
	var docs []provider.Document
	for _, l := range tenLanguages {
		for key, text := range l.documents {
			name, body, _ := strings.Cut(text, "\n")
			// Long enough for a passage to be cut out.
			d := doc("a.example", "https://a.example/"+l.language+"/"+key, name, name+"\n\n"+strings.Repeat(body+"\n", 1+3000/len(body)))
			d.Language = l.language
			texts[d.URL] = d.Text
			docs = append(docs, d)
			for _, query := range l.queries[key] {
				f.Add(query)
			}
		}
	}
	put(f, s, docs...)
	for _, query := range []string{
		"", " \n", "\x00", "\xff", "\"*?(){}[]^~!&|<>=,;:/\\'`@$%", "c++ c# e-mail O'Reilly 3.14 a-b-c-d", "\u0301\u0301", "👩‍🚀", "the of and",
		strings.Repeat("a ", 300), strings.Repeat("书", 300), strings.Repeat("bruecke ", 200), strings.Repeat("-", 500), "ＡＢ１２의", "ﷺ", "İ",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		result, err := s.Search(ctx, provider.Query{Text: text, Scope: provider.AllSites()})
		if err != nil {
			if !errors.Is(err, provider.ErrInvalid) {
				t.Fatalf("search for %q: %v", text, err)
			}
			return
		}
		seen := make(map[string]bool)
		for _, h := range result.Hits {
			if seen[h.URL] {
				t.Fatalf("%q finds %s twice", text, h.URL)
			}
			seen[h.URL] = true
			switch of := texts[h.URL]; {
			case of == "":
				t.Fatalf("%q finds %q, which is not there", text, h.URL)
			case h.Passage == "" || len(h.Passage) > provider.MaxPassageBytes || !strings.Contains(of, h.Passage):
				t.Fatalf("%q finds %s with the passage %q, which is none of its text", text, h.URL, h.Passage)
			}
		}
	})
}
