package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// sizeOf is a number for the long tests, or the one for the others; a quarter of
// that where the race detector makes all slow.
func sizeOf(whenLong, otherwise int) int {
	switch {
	case long():
		return whenLong
	case testing.Short():
		return otherwise / 4
	}
	return otherwise
}

// putAll puts documents as few as possible at a time.
func putAll(t testing.TB, s *Store, docs []provider.Document) {
	t.Helper()
	for batch := range slices.Chunk(docs, provider.MaxBatchDocuments) {
		put(t, s, batch...)
	}
}

func TestManySitesOfOneDocumentEach(t *testing.T) {
	sites := sizeOf(10_000, 1200)
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	docs := make([]provider.Document, sites)
	for i := range docs {
		docs[i] = doc(fmt.Sprintf("%05d.example", i), "https://x.example/", "", fmt.Sprintf("everywhere number%d", i))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(sites, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	putAll(t, s, docs)
	for name, s := range map[string]*Store{"default": s, "1 KiB": open(t, Options{Dir: dir, CacheBytes: 1 << 10})} {
		wantFound(t, s, "number77", provider.AllSites(), "https://x.example/")
		wantFound(t, s, "everywhere", provider.InSites("00077.example"), "https://x.example/")
		res, err := s.Search(t.Context(), provider.Query{Text: "everywhere", Scope: provider.AllSites(), Limit: provider.MaxLimit})
		if want := min(sites, provider.MaxLimit); err != nil || len(res.Hits) != want {
			t.Fatalf("with a cache of %s: %d hits, %v; want %d", name, len(res.Hits), err, want)
		}
		for i, h := range res.Hits {
			if want := fmt.Sprintf("%05d.example", i); h.Site != want {
				t.Fatalf("with a cache of %s: hit %d of equal ones is of %s, want %s", name, i, h.Site, want)
			}
		}
	}
	list, err := s.Sites(t.Context())
	if err != nil || len(list) != sites {
		t.Errorf("%d sites, %v; want %d", len(list), err, sites)
	}
	remove(t, s, provider.Selector{Site: "00077.example", WholeSite: true})
	wantFound(t, s, "number77", provider.AllSites())
	if r := checked(t, s); r.Documents != int64(sites-1) {
		t.Errorf("%d documents, want %d", r.Documents, sites-1)
	}
}

func TestOneSiteOfManyShortDocuments(t *testing.T) {
	documents := sizeOf(200_000, 6000)
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	url := func(i int) string { return fmt.Sprintf("https://x.example/%06d", i) }
	docs := make([]provider.Document, documents)
	for i := range docs {
		docs[i] = doc("one.example", url(i), "", fmt.Sprintf("tea number%d shade%d", i, i%1000))
	}
	rand.New(rand.NewPCG(2, 2)).Shuffle(documents, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	putAll(t, s, docs)
	var urls []string
	for i := 0; i < documents; i += 10 {
		urls = append(urls, url(i))
	}
	for some := range slices.Chunk(urls, provider.MaxURLs) {
		remove(t, s, provider.Selector{Site: "one.example", URLs: some})
	}
	var all, shade []string
	for i := range documents {
		if i%10 != 0 && len(all) < provider.MaxLimit {
			all = append(all, url(i))
		}
		if i%1000 == 123 {
			shade = append(shade, url(i))
		}
	}
	for _, s := range []*Store{s, open(t, Options{Dir: dir, CacheBytes: 1 << 10})} {
		for _, c := range []struct {
			query string
			want  []string
		}{
			{"tea", all},
			{"shade123", shade},
			{"tea number123", append([]string{url(123)}, slices.DeleteFunc(slices.Clone(all), func(u string) bool { return u == url(123) })...)[:provider.MaxLimit]},
			{"number120", []string{}},
		} {
			res, err := s.Search(t.Context(), provider.Query{Text: c.query, Scope: provider.InSites("one.example"), Limit: provider.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, h := range res.Hits {
				got = append(got, h.URL)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q: %d hits from %.80q on, want %d from %.80q on", c.query, len(got), got, len(c.want), c.want)
			}
		}
	}
	if r := checked(t, s); r.Documents != int64(documents-len(urls)) {
		t.Errorf("%d documents, want %d", r.Documents, documents-len(urls))
	}
}

// Texts of any length within the limits are stored, and found by their first
// word and their last.
func TestDocumentsAsLargeAsTheLimitsAllow(t *testing.T) {
	textBytes := sizeOf(provider.MaxObjectBytes, 2*maxPassageScan) - 20
	var distinct strings.Builder
	for i := 0; distinct.Len() < textBytes-10; i++ {
		fmt.Fprintf(&distinct, "w%x ", i)
	}
	repeat := func(word string, bytes int) string { return strings.Repeat(word, bytes/len(word)) }
	s := open(t, Options{})
	for _, c := range []struct{ name, title, text string }{
		{"distinct words", "", distinct.String()},
		{"one word again and again", "", repeat("tea ", textBytes)},
		{"one word without an end", "", repeat("x", textBytes)},
		{"a script without blanks", "", repeat("北京", textBytes)},
		{"marks without a letter", "", repeat("\u0301", textBytes)},
		{"nothing but blanks", "", repeat(" \n", textBytes)},
		{"signs that are no words", "", repeat("—!?\x00", textBytes)},
		{"a long name", repeat("tea leaf ", provider.MaxNameBytes-20), "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := doc("large.example", "https://x.example/"+c.name, c.title, "firstword "+c.text+" lastword")
			put(t, s, d)
			for _, query := range []string{"firstword", "lastword"} {
				res, err := s.Search(t.Context(), provider.Query{Text: query, Scope: provider.AllSites()})
				if err != nil || len(res.Hits) != 1 {
					t.Fatalf("%s: %+v, %v; want one hit", query, res, err)
				}
				if p := res.Hits[0].Passage; len(p) > provider.MaxPassageBytes || query == "firstword" && !strings.Contains(p, query) {
					t.Errorf("%s: the passage of %d bytes is %.100q", query, len(p), p)
				}
			}
			checked(t, s)
			remove(t, s, provider.Selector{Site: d.Site, URLs: []string{d.URL}})
		})
	}
}

// Documents whose URLs differ in whatever way are different documents.
func TestURLsThatDifferInOneByteAreDifferentDocuments(t *testing.T) {
	s := open(t, Options{})
	urls := []string{
		"https://x.example/", "https://x.example", "https://x.example/#", "https://x.example/?", "https://X.example/", "HTTPS://x.example/",
		"https://x.example/caf\u00e9", "https://x.example/cafe\u0301", "https://x.example/caf%C3%A9", "https://x.example/caf%c3%a9", "https://x.example/cafe",
		"https://x.example/\u07ff", "https://x.example/\u0800", "https://x.example/\uffff", "https://x.example/\U00010000", "https://x.example/\U0010ffff",
		"https://x.example/\ue000", "https://x.example/\ufffd", "https://x.example/€", "https://x.example/₭", "https://x.example/a%00b", "https://x.example/a%0Ab",
		"https://x.example:443/", "https://x.example/./", "https://x.example/a'--", `https://x.example/a%22]`,
	}
	for _, i := range rand.New(rand.NewPCG(4, 4)).Perm(len(urls)) {
		put(t, s, doc("a.example", urls[i], "", fmt.Sprintf("tea number%d", i)))
	}
	want := slices.Sorted(slices.Values(urls))
	wantHits := func() {
		t.Helper()
		res, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.AllSites()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.URL)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("hits %q, want them in the order of their bytes, %q", got, want)
		}
		entries, err := s.List(t.Context(), provider.ListQuery{Site: "a.example"})
		if err != nil || len(entries) != len(want) {
			t.Fatalf("%d entries, %v; want %d", len(entries), err, len(want))
		}
		for i, e := range entries {
			if e.URL != want[i] {
				t.Errorf("entry %d is %s, want %s", i, e.URL, want[i])
			}
		}
	}
	wantHits()
	for i, url := range urls {
		objects, err := s.Get(t.Context(), provider.Lookup{URLs: []string{url}, Scope: provider.InSites("a.example")})
		if err != nil || !objects[0].Found || objects[0].URL != url || objects[0].Ambiguous {
			t.Errorf("get %s: %+v, %v", url, objects, err)
		}
		wantFound(t, s, fmt.Sprintf("number%d", i), provider.AllSites(), url)
	}
	for len(want) > 0 {
		n, err := s.Delete(t.Context(), provider.Selector{Site: "a.example", URLs: want[:1]})
		if err != nil || n != 1 {
			t.Fatalf("deleted %d of %s, %v; want 1", n, want[0], err)
		}
		want = want[1:]
		wantHits()
	}
	checked(t, s)
}

// Equal documents are ordered by URL, then by site, however they came in and
// wherever in the index they are.
func TestThousandsOfEqualDocumentsAreInOneOrder(t *testing.T) {
	s := open(t, Options{})
	random := rand.New(rand.NewPCG(6, 6))
	documents := 3000
	if testing.Short() {
		documents = 1500
	}
	docs := make([]provider.Document, documents)
	for i := range docs {
		docs[i] = doc([]string{"a.example", "b.example"}[i%2], fmt.Sprintf("https://x.example/%04d", i/2), "Tea", "green tea")
	}
	random.Shuffle(documents, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	for len(docs) > 0 {
		n := min(len(docs), 1+random.IntN(1+random.IntN(900)))
		put(t, s, docs[:n]...)
		docs = docs[n:]
	}
	gone := make(map[string]bool)
	look := func(when string) {
		t.Helper()
		var want []string
		for i := 0; len(want) < provider.MaxLimit; i++ {
			url := fmt.Sprintf("https://x.example/%04d", i)
			for _, site := range []string{"a.example", "b.example"} {
				if !gone[url+" "+site] {
					want = append(want, url+" "+site)
				}
			}
		}
		for _, limit := range []int{1, 50, 999, provider.MaxLimit} {
			res, err := s.Search(t.Context(), provider.Query{Text: "green tea", Scope: provider.AllSites(), Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range res.Hits {
				got = append(got, h.URL+" "+h.Site)
			}
			if !slices.Equal(got, want[:limit]) {
				t.Fatalf("%s, limit %d: the hits are not in the order of URL and site: %.300q", when, limit, got)
			}
		}
	}
	look("at first")
	for _, i := range random.Perm(documents / 2)[:200] {
		url := fmt.Sprintf("https://x.example/%04d", i)
		gone[url+" b.example"] = true
		remove(t, s, provider.Selector{Site: "b.example", URLs: []string{url}})
	}
	look("after deletions")
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	look("after compacting")
	checked(t, s)
}

// What a query says is words: nothing in it is an order to the store.
func TestNoQueryIsAnythingButWords(t *testing.T) {
	s := open(t, Options{})
	put(t, s, doc("a.example", "https://a.example/1", "Tea", "green tea"), doc("b.example", "https://b.example/1", "Rice", "rice"))
	many := make([]string, 2700)
	for i := range many {
		many[i] = fmt.Sprintf("w%d", i)
	}
	for _, query := range []string{
		`"`, `'`, `''; DROP TABLE document; --`, `tea"`, `"tea`, `tea*`, `te*`, `t?a`, `[tea]`, `-tea`, `+tea`, `NOT tea`, `tea AND rice`, `tea OR rice`, `(tea`, `tea)`,
		`site:b.example tea`, `url:tea`, `NEAR(tea rice, 5)`, `tea^10`, `tea~2`, `{tea}`, `\tea\`, "tea\x00rice", "\x00", "\ufeff", "\u202etea", "t\u00adea", "te\u200da",
		strings.Repeat("(", 5000), strings.Repeat(`"`, 16000), strings.Repeat("tea ", 4000), strings.Join(many, " "), strings.Repeat("\u0301", 8000), "🍜", "%", "_", "tea%' OR '1'='1",
	} {
		for _, scope := range []provider.Scope{provider.AllSites(), provider.InSites("b.example"), provider.InSites("no.example")} {
			res, err := s.Search(t.Context(), provider.Query{Text: query, Scope: scope})
			if err != nil {
				t.Errorf("search for %.40q: %v", query, err)
				continue
			}
			for _, h := range res.Hits {
				if h.URL != "https://a.example/1" && h.URL != "https://b.example/1" || !scope.All() && h.Site != "b.example" {
					t.Errorf("search for %.40q in %+v gives %s of %s", query, scope, h.URL, h.Site)
				}
			}
		}
	}
	checked(t, s)
}
