package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// putTitles puts documents whose URLs end in their keys; a language before a
// colon is declared.
func putTitles(t *testing.T, s *Store, titles map[string]string) {
	t.Helper()
	var docs []provider.Document
	for key, title := range titles {
		d := doc("a.example", "https://a.example/"+key, title, title)
		if tag, rest, ok := strings.Cut(title, ": "); ok {
			d = doc("a.example", "https://a.example/"+key, rest, rest)
			d.Language = tag
		}
		docs = append(docs, d)
	}
	put(t, s, docs...)
}

// foundKeys returns the ends of the URLs of the hits, in order.
func foundKeys(t *testing.T, s *Store, query string) string {
	t.Helper()
	var keys []string
	for _, url := range found(t, s, query, provider.AllSites()) {
		keys = append(keys, strings.TrimPrefix(url, "https://a.example/"))
	}
	return strings.Join(keys, " ")
}

func TestContentWordsLeadInSitesWhereFunctionWordsAreRare(t *testing.T) {
	s := open(t, Options{})
	putTitles(t, s, map[string]string{
		"coffee":  "en: Grinder with a bag of coffee that stays fresh over the months",
		"river":   "en: How do I cross a river",
		"slate":   "en: Is there something in the quarry in winter",
		"garden":  "en: A garden shed, made of larch and sheet metal, in three sizes",
		"berlin":  "de: Führungen durch Berlin",
		"brot":    "de: Das Brot in der Schale",
		"pan":     "es: El pan de la abuela",
		"vino":    "es: El vino de la casa",
		"kuchen":  "de: Der Kuchen",
		"english": "es: Una canción: something in the way",
	})
	for query, want := range map[string]string{
		"how do I keep coffee":              "coffee",
		"HOW DO I KEEP COFFEE":              "coffee",
		"is there something for the garden": "garden",
		"job in Berlin":                     "berlin",
	} {
		if got := foundKeys(t, s, query); got != want {
			t.Errorf("%q finds %q, want only %q", query, got, want)
		}
	}
	// Nothing has what the query is about.
	if got := foundKeys(t, s, "how do I get to Lhasa"); got != "river" {
		t.Errorf("found %q, want what has its function words", got)
	}
}

func TestAQueryOfFunctionWordsIsSearchedFor(t *testing.T) {
	s := open(t, Options{})
	putTitles(t, s, map[string]string{
		"who":    "en: The Who",
		"tree":   "en: An old tree",
		"hamlet": "en: To be, or not to be",
		"it":     "en: IT administrator job",
		"cook":   "en: Cook: a job for those who like it hot in kitchens all the year round",
		"a":      "en: Vitamin A in carrots",
		"b":      "en: Vitamin B in oats",
		"c":      "en: Learn C in 21 days",
		"java":   "en: Learn Java over 21 long winter evenings and without tears",
	})
	for query, want := range map[string]string{
		"the who":            "who",
		"who":                "who",
		"to be or not to be": "hamlet",
		"the the":            "who",
		"IT job":             "it",
		"it job":             "it",
		"vitamin a":          "a",
		"C in 21 days":       "c",
	} {
		if got := foundKeys(t, s, query); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s first", query, got, want)
		}
	}
}

// A word is a function word of the document's language or the query's.
func TestWhatAWordSaysDependsOnTheLanguage(t *testing.T) {
	spoken := []language{english, german}
	for _, c := range []struct {
		query, faint string // the words in question
		in           language
	}{
		{"wool hat", "", english},
		{"wool hat", "hat", german},
		{"die hard", "", english},
		{"die hard", "die", german},
		{"shoes for a winter", "for a", german}, // two words tell the query's language
		{"thé vert", "", english},
		{"Schuhe FÜR den Winter", "den", german}, // who writes capitals means something
		{"fur den Winter", "fur den", german},
		{"the who", "", english},
		{"IT for me", "for me", english},
		{"978-3-00-000001-1 book", "978 3 00 000001 1", english},
		{"covid-19 e-mail", "", english},
	} {
		words := queryWords(c.query)
		own := languageOfQuery(words, spoken)
		var got []string
		for i, set := range faintWords(words, own, func(int) bool { return true }) {
			if set.has(c.in) {
				got = append(got, words[i].folded)
			}
		}
		if strings.Join(got, " ") != c.faint {
			t.Errorf("in a document in language %d, %q of %q says nothing, want %q", c.in, got, c.query, c.faint)
		}
	}
}

func TestTheLanguageOfAQueryIsTheOneOfItsFunctionWordsOrOfTheDocuments(t *testing.T) {
	for _, c := range []struct {
		query  string
		spoken []language
		want   language
	}{
		{"Haus", []language{german, english}, german},
		{"Haus", nil, noLanguage},
		{"wool hat", []language{english, german}, english},
		{"how do I keep coffee warm", []language{spanish}, english},
		{"la casa de la playa", []language{english, spanish, french}, spanish},
		{"la maison de la plage", []language{english, french, spanish}, french},
		{"什么 the 北京 of", []language{german}, english},
	} {
		if got := languageOfQuery(queryWords(c.query), c.spoken); got != c.want {
			t.Errorf("%q is in language %d, want %d", c.query, got, c.want)
		}
	}
}

func TestACodeIsFoundHoweverItIsWrittenAndItsPartsDoNotMatter(t *testing.T) {
	s := open(t, Options{})
	putTitles(t, s, map[string]string{
		"book":  "en: A book, ISBN 978-3-00-000001-1",
		"soup":  "en: Serves 3 in 00 minutes, 1 pot",
		"other": "en: A book, ISBN 978-3-00-000002-8",
		"plain": "en: Part 0483 without a letter",
	})
	for query, want := range map[string]string{
		"9783000000011":     "book",
		"978-3-00-000001-1": "book",
		"978‑3‑00‑000001‑1": "book",
		"T-0483":            "plain", // no document has it whole
	} {
		if got := foundKeys(t, s, query); got != want {
			t.Errorf("%q finds %q, want only %q", query, got, want)
		}
	}
}

func TestTheStemOfAnotherLanguageWeighsLessThanAnyMention(t *testing.T) {
	s := open(t, Options{})
	titles := map[string]string{
		"film": "es: Tráiler de «Niebla»",
		"pan":  "es: El pan de la abuela",
	}
	for i := range 5 {
		titles[fmt.Sprint(i)] = "en: Bread of the day"
	}
	putTitles(t, s, titles)
	put(t, s, doc("a.example", "https://a.example/path", "Five nights out", "The weather was with us, and we followed the trail to the hut by the lake."))
	if got := foundKeys(t, s, "trail"); got != "path film" {
		t.Errorf("found %q, want the path, then the film", got)
	}
	if got := foundKeys(t, s, "el tráiler de la niebla"); !strings.HasPrefix(got, "film") {
		t.Errorf("found %q, want the film first", got)
	}
	// The stem of a Spanish word is no English one.
	if got := foundKeys(t, s, "trailer"); got != "film" {
		t.Errorf("found %q, want only the film", got)
	}
}

func TestAPassageShowsWhatTheQueryIsAbout(t *testing.T) {
	text := "How do I do it, and what is there for me in the end? " + strings.Repeat("Nothing happens here. ", 100) +
		"Keep coffee in a thermos. " + strings.Repeat("Nothing happens here. ", 100)
	got := passageFor("how do I keep coffee hot in there", text, english)
	if !strings.Contains(got, "Keep coffee in a thermos.") {
		t.Errorf("the passage is %q, want the one about coffee", got)
	}
}
