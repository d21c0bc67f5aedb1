package embedded

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// plainRanking ranks documents by the formula of the package, document by
// document, from their texts. Scores are by URL and site.
func plainRanking(docs []provider.Document, query string) (order []string, scores map[string]float64) {
	type counted struct {
		key        string
		doc        provider.Document
		lang       language
		name, text map[string]float64
		nl, tl     float64
	}
	st := newStemmer()
	count := func(text string, l language) (map[string]float64, float64) {
		terms, n := make(map[string]float64), uint32(0)
		eachToken(text, func(tok token) {
			if tok.kind.counts() {
				n++
			}
			st.eachTerm(l, tok, func(term string) { terms[term]++ })
		})
		return terms, float64(lengthOf[lengthCode(n)])
	}
	var all []counted
	var nameWords, textWords float64
	spoken := make(map[language]float64)
	for _, d := range docs {
		c := counted{key: d.URL + " " + d.Site, doc: d, lang: languageOf(d.Language, d.Name, d.Text)}
		c.name, c.nl = count(d.Name, c.lang)
		c.text, c.tl = count(d.Text, c.lang)
		nameWords += c.nl
		textWords += c.tl
		spoken[c.lang]++
		all = append(all, c)
	}
	n := float64(len(docs))
	var langs []language
	for l := noLanguage + 1; l < languages; l++ {
		if spoken[l] > 0 && spoken[l] >= 0.05*n {
			langs = append(langs, l)
		}
	}
	slices.SortStableFunc(langs, func(a, b language) int { return cmp.Compare(spoken[b], spoken[a]) })
	words := queryWords(query)
	own := languageOfQuery(words, langs)
	// occurrences of a word with its forms, in a field of a document.
	occurrences := func(w queryWord, c counted, terms map[string]float64) float64 {
		forms := st.forms(w, own, langs)
		counts := func(f form) float64 {
			if f.in.has(c.lang) {
				return terms[f.term]
			}
			return 0
		}
		sum := 0.0
		for _, f := range forms {
			more := counts(f)
			if f.holds >= 0 {
				more = max(0, more-counts(forms[f.holds]))
			}
			sum += float64(f.weight) * more
		}
		return sum
	}
	// n of a word is the number of documents that have a form of it, where a
	// form that others hold and these others count once, as the larger number.
	idf := make([]float64, len(words))
	found := make([]bool, len(words))
	for i, w := range words {
		forms := st.forms(w, own, langs)
		df := make([]float64, len(forms))
		held := make(map[int]float64)
		for j, f := range forms {
			for _, c := range all {
				if c.name[f.term]+c.text[f.term] > 0 {
					df[j]++
				}
			}
			if f.holds >= 0 {
				held[f.holds] += df[j]
			}
		}
		sum := 0.0
		for j, f := range forms {
			if f.holds < 0 {
				sum += max(df[j], held[j])
			}
		}
		sum = min(sum, n)
		found[i] = sum > 0
		idf[i] = math.Log(1 + (n-sum+0.5)/(sum+0.5))
	}
	faint := faintWords(words, own, func(i int) bool { return found[i] })
	scores = make(map[string]float64)
	onlyFaint := make(map[string]float64)
	for _, c := range all {
		clear, more := 0.0, 0.0
		for i, w := range words {
			tf := 2*occurrences(w, c, c.name)/(0.5+0.5*c.nl/max(1, nameWords/n)) + occurrences(w, c, c.text)/(0.25+0.75*c.tl/max(1, textWords/n))
			score := idf[i] * tf * 2.2 / (1.2 + tf)
			if faint[i].has(c.lang) {
				more += 0.25 * score
			} else {
				clear += score
			}
		}
		switch {
		case clear > 0:
			scores[c.key] = clear + more
		case more > 0:
			onlyFaint[c.key] = more
		}
	}
	if len(scores) == 0 {
		scores = onlyFaint
	}
	for key := range scores {
		order = append(order, key)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(a, b)) })
	return order, scores
}

var someWords = strings.Fields(`run running runs runner noodle noodles soup Soup broth tea green Tee Häuser Haus
	haus maison maisons crème creme C++ e-mail email node.js 北京大学 北京 ラーメン library libraries der die das the of and le la les Bruecke Brücke Brücken 978-3-00-1 978`)

func someText(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(someWords[random.IntN(1+random.IntN(len(someWords)))])
		b.WriteByte(' ')
	}
	return b.String()
}

// After any puts, replacements and deletions, and so in whatever segments they
// are, the documents rank as the formula says of those that are there.
func TestRankingFollowsTheFormulaWhateverHappenedBefore(t *testing.T) {
	rounds, steps := 2, 60
	if long() {
		rounds, steps = 20, 500
	}
	sites := []string{"a.example", "b.example", "c.example"}
	changed, ranked := 0, 0
	for round := range rounds {
		random := rand.New(rand.NewPCG(uint64(round), 7))
		stores := []*Store{open(t, Options{})}
		stores = append(stores, open(t, Options{Dir: strings.TrimSuffix(stores[0].path, FileName)}))
		there := make(map[[2]string]provider.Document)
		for step := range steps {
			s := stores[random.IntN(2)]
			site := sites[random.IntN(len(sites))]
			switch random.IntN(12) {
			case 0:
				want := 0
				for id := range there {
					if id[0] == site {
						delete(there, id)
						want++
					}
				}
				if n, err := s.Delete(t.Context(), provider.Selector{Site: site, WholeSite: true}); err != nil || n != want {
					t.Fatalf("deleted %d documents of a site, %v; want %d", n, err, want)
				}
				changed += want
			case 1, 2:
				var urls []string
				want := 0
				for range 1 + random.IntN(20) {
					url := fmt.Sprintf("https://x.example/%03d", random.IntN(200))
					urls = append(urls, url)
					if _, ok := there[[2]string{site, url}]; ok {
						want++
						delete(there, [2]string{site, url})
					}
				}
				changed += want
				if n, err := s.Delete(t.Context(), provider.Selector{Site: site, URLs: urls}); err != nil || n != want {
					t.Fatalf("deleted %d documents, %v; want %d", n, err, want)
				}
			default:
				var docs []provider.Document
				for range 1 + random.IntN(60) {
					d := doc(sites[random.IntN(len(sites))], fmt.Sprintf("https://x.example/%03d", random.IntN(200)), someText(random, random.IntN(4)), someText(random, 1+random.IntN(40)))
					d.Language = []string{"", "en", "de", "fr", "ja"}[random.IntN(5)]
					docs = append(docs, d)
					there[[2]string{d.Site, d.URL}] = d
				}
				put(t, s, docs...)
				changed += len(docs)
			}
			if step%5 == 4 {
				checkRanking(t, random, stores[random.IntN(2)], there, sites)
				ranked += 3
			}
			if t.Failed() {
				t.Fatalf("in round %d, after %d steps", round, step+1)
			}
		}
	}
	t.Logf("%d documents put, replaced or deleted, %d rankings", changed, ranked)
}

func checkRanking(t *testing.T, random *rand.Rand, s *Store, there map[[2]string]provider.Document, sites []string) {
	t.Helper()
	for _, scope := range [][]string{sites[:1], sites[1:], nil} {
		in := provider.AllSites()
		if scope != nil {
			in = provider.InSites(scope...)
		}
		var docs []provider.Document
		for id, d := range there {
			if scope == nil || slices.Contains(scope, id[0]) {
				docs = append(docs, d)
			}
		}
		query := someText(random, 1+random.IntN(3))
		want, scores := plainRanking(docs, query)
		limit := 1 + random.IntN(60)
		res, err := s.Search(t.Context(), provider.Query{Text: query, Scope: in, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) != min(limit, len(want)) {
			t.Fatalf("Search(%q) in %q found %d, want %d of %d", query, scope, len(res.Hits), min(limit, len(want)), len(want))
		}
		for i, h := range res.Hits {
			got := h.URL + " " + h.Site
			// The engine counts occurrences in single precision.
			if got != want[i] && math.Abs(scores[got]-scores[want[i]]) > 1e-6*scores[want[i]] {
				t.Errorf("Search(%q) in %q: hit %d is %s with %.9f, want %s with %.9f", query, scope, i, got, scores[got], want[i], scores[want[i]])
				return
			}
		}
	}
}

func TestTiesAreBrokenByURLThenSite(t *testing.T) {
	s := open(t, Options{})
	random := rand.New(rand.NewPCG(9, 9))
	var want []string
	var docs []provider.Document
	for i := range 300 {
		for _, site := range []string{"a.example", "b.example"} {
			d := doc(site, fmt.Sprintf("https://x.example/%03d", i), "Tea", "green tea")
			docs = append(docs, d)
			want = append(want, d.URL+" "+site)
		}
	}
	random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	for len(docs) > 0 {
		n := min(len(docs), 1+random.IntN(90))
		put(t, s, docs[:n]...)
		docs = docs[n:]
	}
	for _, limit := range []int{1, 2, 7, 50, 599, 1000} {
		res, err := s.Search(t.Context(), provider.Query{Text: "tea", Scope: provider.AllSites(), Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.URL+" "+h.Site)
		}
		if !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Fatalf("limit %d: hits %q, want them by URL, then site", limit, got)
		}
	}
}

func TestAFilterThatLeavesOutMostStillFillsTheLimit(t *testing.T) {
	s := open(t, Options{})
	for batch := range 5 {
		var docs []provider.Document
		for i := range 1000 {
			d := doc("a.example", fmt.Sprintf("https://a.example/%d/%04d", batch, i), "", "tea")
			d.Schema = fmt.Appendf(nil, `{"@type":"Product","n":%d}`, i)
			docs = append(docs, d)
		}
		put(t, s, docs...)
	}
	res, err := s.Search(t.Context(), provider.Query{
		Text: "tea", Scope: provider.AllSites(), Limit: 4,
		Filter: provider.Filter{{Path: "n", Op: provider.Equal, Value: 990}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range res.Hits {
		got = append(got, strings.TrimPrefix(h.URL, "https://a.example/"))
	}
	if want := "[0/0990 1/0990 2/0990 3/0990]"; fmt.Sprint(got) != want {
		t.Errorf("hits %v, want %s", got, want)
	}
}

func TestTheWordItselfWeighsMoreThanItsOtherForms(t *testing.T) {
	s := open(t, Options{})
	put(t, s,
		doc("a.example", "https://a.example/1", "", "the runner is here"),
		doc("a.example", "https://a.example/2", "", "the runs is here"),
		doc("a.example", "https://a.example/3", "", "the running is here"),
		doc("a.example", "https://a.example/4", "", "the walking is here"),
	)
	got := found(t, s, "running", provider.AllSites())
	if len(got) != 2 || got[0] != "https://a.example/3" || got[1] != "https://a.example/2" {
		t.Errorf("found %q, want 3, then 2", got)
	}
}
