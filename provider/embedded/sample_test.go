package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// sample is what was put into the stores in testdata. It is never changed,
// because they are not; see testdata/README.md.
func sample() []sampleDocument {
	var all []sampleDocument
	add := func(word string, d provider.Document) {
		all = append(all, sampleDocument{d, word})
	}
	for i := range sampleProducts {
		url := fmt.Sprintf("https://shop.example/p/%03d", i)
		d := provider.Document{Site: "shop.example", URL: url,
			Schema: fmt.Appendf(nil, `{"@type":"Product","name":"Kettle %d","description":"item%d"}`, i, i)}
		switch i % 8 {
		case 1:
			d.Name = "Pot"
		case 3:
			d.Text, d.Language = fmt.Sprintf("A pot, item%d, that was given.", i), "en"
		case 5:
			d.Types, d.Name, d.Language = []string{"Offer", "Thing"}, "Topf", "de"
		}
		add(fmt.Sprintf("item%d", i), d)
	}
	for _, d := range []struct{ word, url, name, text string }{
		{"upper", "HTTPS://News.Example:443/A/../B?q=%C3%A9&r=%c3%A9#Part", "", "upper case"},
		{"fragment", "https://news.example/#fragment-2", "", "a fragment"},
		{"umlaut", "https://news.example/straße/東京", "", "an umlaut"},
		{"urn", "urn:isbn:9780141036144", "", "an urn"},
		{"long", "https://news.example/" + strings.Repeat("long/", 400), "", "a long one"},
		{"quote", `https://news.example/?a='"&b=<x>;--`, "", "a quote"},
		{"nothing", "https://news.example/empty", "nothing but a name", ""},
		{"schiff", "https://news.example/de", "Donaudampfschifffahrt", "Das Schiff fährt auf der Donau und nicht auf dem Rhein."},
		{"cheval", "https://news.example/fr", "", "Les chevaux, un cheval, et des hôtels à la mer."},
		{"дом", "https://news.example/ru", "", "Дом и сад у моря"},
		{"大道芸", "https://news.example/ja", "", "東京の大道芸を見る"},
		{"서울", "https://news.example/ko", "", "서울의 봄"},
	} {
		add(d.word, provider.Document{Site: "news.example", URL: d.url, Name: d.name, Text: d.text, Schema: fmt.Appendf(nil, `{"@type":"NewsArticle","@id":%q}`, d.word)})
	}
	// The same URL on several sites, a site with an odd name, a list of
	// objects, and bytes that a JSON encoder would have written otherwise.
	const shared = "https://shop.example/p/000"
	add("elsewhere", provider.Document{Site: "bücher & café ☃", URL: shared, Schema: []byte("[ {\"@type\":[\"Book\",\"schema:Product\"],\"name\":\"Elsewhere \\u00e9\", \"price\": 1.50e1},\n\t{\"@type\":\"Offer\",\"price\":\"12.00\"} ]")})
	add("alone", provider.Document{Site: "one.example", URL: shared, Schema: []byte(`{"name":"alone"}`)})
	add("", provider.Document{Site: "wordless.example", URL: "https://wordless.example/", Schema: []byte(`{"@type":"Thing"}`)})
	return all
}

const sampleProducts = 150

// sampleDocument is a document of a sample, as it was put last.
type sampleDocument struct {
	provider.Document
	word string // finds it, and no other of its site; empty: it has no words
}

// deletedFromSample reports whether a document of sample was deleted again.
func deletedFromSample(d provider.Document) bool {
	return d.Site == "shop.example" && (strings.HasSuffix(d.URL, "7") || d.URL == "https://shop.example/p/140")
}

// fillSample makes a store a sample: several segments, replaced and deleted
// documents, and a site that is no more.
func fillSample(t testing.TB, s *Store) {
	t.Helper()
	all := sample()
	plain := func(list []sampleDocument) (docs []provider.Document) {
		for _, d := range list {
			docs = append(docs, d.Document)
		}
		return docs
	}
	put(t, s, plain(all[:100])...)
	put(t, s, doc("gone.example", "https://gone.example/", "", "gone"))
	first := all[100].Document
	first.Name, first.Schema = "", []byte(`{"@type":"Product","name":"replaced"}`)
	put(t, s, first)
	put(t, s, doc("news.example", all[sampleProducts].URL, "", "replaced"))
	put(t, s, plain(all[100:])...)
	remove(t, s, provider.Selector{Site: "gone.example", WholeSite: true})
	var urls []string
	for _, d := range all {
		if deletedFromSample(d.Document) {
			urls = append(urls, d.URL)
		}
	}
	for chunk := range slices.Chunk(urls, 10) {
		remove(t, s, provider.Selector{Site: "shop.example", URLs: chunk})
	}
}

// A sample has all that a migration may stumble over. It is written, for testdata,
// where SITEPROVIDER_WRITE_SAMPLE says.
func TestASampleHasSeveralSegmentsAndDeadDocuments(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	fillSample(t, s)
	if r := checked(t, s); r.Segments < int64(r.Sites)+1 {
		t.Fatalf("%+v, want a site with several segments", r)
	}
	st := stats(t, s)
	t.Logf("%+v", st)
	if st.Tombstones == 0 {
		t.Error("no segment has a dead document")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("SITEPROVIDER_WRITE_SAMPLE")
	if path == "" {
		return
	}
	raw, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
