package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

func TestAQueryIsWordsOrNothing(t *testing.T) {
	s := open(t, Options{})
	put(t, s,
		doc("a.example", "https://a.example/cpp", "", "a book about C++ by O'Reilly"),
		doc("a.example", "https://a.example/node", "", "node.js and e-mail"),
		doc("a.example", "https://a.example/part", "", "part T-0483"),
		doc("a.example", "https://a.example/not", "", "NOT near the AND"),
	)
	for query, want := range map[string]string{
		`C++`:                    "cpp",
		`"C++"`:                  "cpp",
		`O'Reilly`:               "cpp",
		`o’reilly`:               "cpp",
		`nodejs`:                 "node",
		`email`:                  "node",
		`T-0483`:                 "part",
		`t0483`:                  "part",
		`text:part`:              "part",
		`part*`:                  "part",
		`NOT`:                    "not",
		`^near~2`:                "not",
		`"`:                      "",
		`'; DROP TABLE site; --`: "",
		`* ( ) [ ] { } ^ ~ ! \`:  "",
		"\x00":                   "",
		"🍜":                      "",
	} {
		var got []string
		for _, url := range found(t, s, query, provider.AllSites()) {
			got = append(got, strings.TrimPrefix(url, "https://a.example/"))
		}
		first := ""
		if len(got) > 0 {
			first = got[0]
		}
		if first != want {
			t.Errorf("Search(%q) found %q, want %q first", query, got, want)
		}
	}
}

func TestASearchFindsInflectionsInTheLanguagesOfItsSites(t *testing.T) {
	s := open(t, Options{})
	german := doc("de.example", "https://de.example/1", "Häuser", "Zwei alte Häuser und der Garten.")
	french := doc("fr.example", "https://fr.example/1", "Chevaux", "Les chevaux mangent dans le pré avec une jument.")
	english := doc("en.example", "https://en.example/1", "Libraries", "The old libraries of the city.")
	english.Language = "en-GB"
	put(t, s, german, french, english)
	for query, want := range map[string]string{"haus": german.URL, "HAUSER": german.URL, "cheval": french.URL, "library": english.URL} {
		wantFound(t, s, query, provider.AllSites(), want)
	}
	wantFound(t, s, "cheval", provider.InSites("de.example", "en.example"))
}

func FuzzSearch(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	put(f, s,
		doc("a.example", "https://a.example/1", "Noodle soup", "C++ e-mail O'Reilly node.js 北京大学 ラーメン"),
		doc("x' OR '1'='1", "https://a.example/1", "Noodle soup", strings.Repeat("tea for two ", 300)),
	)
	for _, q := range []string{"noodles", `"`, "x' OR '1'='1", "site:*", "NEAR(a b)", "\x00", "a\xff", "C++ 北京"} {
		f.Add(q, "a.example")
		f.Add(q, q)
	}
	f.Fuzz(func(t *testing.T, query, site string) {
		for _, scope := range []provider.Scope{provider.AllSites(), provider.InSites(site)} {
			res, err := s.Search(t.Context(), provider.Query{Text: query, Scope: scope})
			if err != nil {
				if !errors.Is(err, provider.ErrInvalid) {
					t.Fatalf("Search(%q) in %q: %v", query, site, err)
				}
				continue
			}
			for _, h := range res.Hits {
				if !scope.All() && h.Site != strings.TrimSpace(site) {
					t.Fatalf("Search(%q) in %q found a document of %q", query, site, h.Site)
				}
				if !utf8.ValidString(h.Passage) || h.Passage == "" {
					t.Fatalf("Search(%q) gave the passage %q", query, h.Passage)
				}
			}
		}
	})
}
