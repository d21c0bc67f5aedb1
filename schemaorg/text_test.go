package schemaorg

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

func TestTextIsWhatAReaderWouldRead(t *testing.T) {
	for _, tt := range []struct{ name, object, want string }{
		{"what leads, in its order", `{"articleBody":"body","text":"the text","abstract":"abs","description":"desc","alternateName":"aka","title":"ti","headline":"hl","name":"nm"}`,
			"nm\n\nhl\n\nti\n\naka\n\ndesc\n\nabs\n\nthe text\n\nbody"},
		{"strings, lists, tagged values, language maps", `{"name":["one",{"@value":"zwei","@language":"de"},{"en":"three","fr":"quatre"},{"@list":["five"]}],"description":{"@type":"rdf:HTML","@value":"<p>six</p>"}}`,
			"one\n\nzwei\n\nthree\n\nquatre\n\nfive\n\nsix"},
		{"ingredients and steps", `{"name":"Tart","recipeIngredient":["200 g flour","1 egg"],"recipeYield":["4","4 servings"],"recipeInstructions":[{"@type":"HowToSection","name":"Dough","itemListElement":[{"@type":"HowToStep","name":"Mix","text":"Mix flour."},[{"@type":"HowToStep","itemListElement":{"@type":"HowToDirection","text":"Chill."}}],"Roll <b>thin</b>."]}]}`,
			"Tart\n\n200 g flour\n1 egg\n\n4 servings\n\nDough\nMix flour.\nChill.\nRoll thin."},
		{"steps in one string of HTML", `{"name":"Stew","recipeInstructions":"<ol><li>Boil.</li><li>Drain.</li></ol>"}`, "Stew\n\nBoil.\nDrain."},
		{"a step's name that begins its text", `{"name":"x","step":[{"@type":"HowToStep","name":"peel the apples","text":"Peel the apples and core them."},{"@type":"HowToStep","name":"Pee","text":"Peel more."}]}`,
			"x\n\nPeel the apples and core them.\nPee\nPeel more."},
		{"questions with answers", `{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"Why?","acceptedAnswer":{"@type":"Answer","text":"Because.","upvoteCount":3}}]}`, "Why?\nBecause."},
		{"people and makers by name", `{"name":"x","author":[{"@type":"Person","name":"Max Fox","description":"no"},"Guest",{"@type":"Person","givenName":"Lee","familyName":"Ray"},{"@id":"https://x.example/#p"}],"brand":{"@type":"Brand","name":"Acme","slogan":"no"}}`,
			"x\n\nMax Fox, Guest, Lee Ray\n\nAcme"},
		{"place and address", `{"name":"Gig","location":{"@type":"Place","name":"Hall","address":{"@type":"PostalAddress","addressCountry":{"@type":"Country","name":"AT"},"streetAddress":"Ring 1","postalCode":"1010","addressLocality":"Wien","addressRegion":null},"geo":{"latitude":48.2}}}`,
			"Gig\n\nHall\nRing 1, 1010, Wien, AT"},
		{"dates", `{"name":"x","startDate":"2026-09-01T19:30:00+02:00","datePublished":"2026-08-01T00:00:00Z","dateModified":"2026-08-01","duration":"PT1H30M"}`,
			"x\n\n2026-09-01 19:30\n\n2026-08-01"},
		{"prices", `{"name":"x","offers":[{"@type":"Offer","price":"9.50","priceCurrency":"EUR","availability":"https://schema.org/InStock","url":"/x"},{"@type":"AggregateOffer","lowPrice":10,"highPrice":20,"priceCurrency":"USD"},{"@type":"Offer","price":5}]}`,
			"x\n\n9.50 EUR\n10–20 USD\n5"},
		{"reviews, which come last", `{"name":"x","review":{"@type":"Review","name":"Fine","reviewBody":"Works.","author":"Jo","reviewRating":{"ratingValue":"5"}},"color":"blue"}`,
			"x\n\nblue\n\nFine\nWorks.\nJo"},
		{"category, keywords, genre, skills", `{"name":"x","category":["A","B"],"keywords":"c, d","genre":[{"@type":"DefinedTerm","name":"E"}],"skills":"F"}`, "x\n\nA, B\n\nc, d\n\nE\n\nF"},
		{"things without a name", `{"name":"x","skills":{"@type":"DefinedTerm","description":"Go well"},"author":[{"@type":"Person","jobTitle":"Editor"}],"isPartOf":{"@type":"WebSite","name":"no"}}`, "x\n\nGo well\n\nEditor"},
		{"a text without blanks that mentions an address", `{"name":"详情见https://x.example/页","keywords":"#vegan"}`, "详情见https://x.example/页\n\n#vegan"},
		{"what is printed on the thing", `{"name":"x","isbn":"9783161484100","sku":8812,"model":{"@type":"ProductModel","name":"M1"}}`, "x\n\n9783161484100\n\n8812\n\nM1"},
		{"properties nobody thought of", `{"name":"x","https://schema.org/slogan":"say it","gr:note":{"deep":[{"er":"well"}]}}`, "x\n\nsay it\n\nwell"},
		{"no addresses, ids, enumerations, numbers, nothings", `{"@id":"https://x.example/#a","name":"x","url":"https://x.example","sameAs":["https://y.example"],"image":"a.jpg","identifier":"ab-12","productID":"isbn:1","postId":"x","a":"https://z.example/some_page","b":"/img/a.png","c":"schema:InStock","d":"http://schema.org/NewCondition","e":"f47ac10b-58cc-4372-a567-0e02b2c3d479","f":12.5,"g":true,"h":null,"i":"null","j":"undefined","k":"[object Object]","l":"{\"a\":[1]}","m":"12","n":"PT5M","o":"","p":{},"q":[],"r":{"@id":"#b"},"s":"www.x.example","t":"—"}`,
			"x"},
		{"an excerpt of the body", `{"headline":"H","description":"It began in spring, when …","articleBody":"It began in spring, when nobody cared."}`, "H\n\nIt began in spring, when nobody cared."},
		{"a description that is the body", `{"name":"H","description":"All of it.","text":"All of it."}`, "H\n\nAll of it."},
		{"a description that is not the body", `{"name":"H","description":"cat","text":"concatenate"}`, "H\n\ncat\n\nconcatenate"},
		{"a name that the description begins with", `{"name":"Lamp","headline":"lamp","description":"Lamp of brass","keywords":["LAMP","brass"]}`, "Lamp\n\nLamp of brass\n\nbrass"},
		{"a name that is a number", `{"name":1984}`, "1984"},
		{"duplicate names, of which the last counts", `{"name":"a","name":"b"}`, "b"},
		{"a list of objects", `[{"name":"a","text":"t"},{"name":"b","text":"t"}]`, "a\n\nt\n\nb"},
		{"a graph", `{"@context":"https://schema.org","@graph":[{"@type":"A","name":"a"},{"@type":"B","name":"b"}]}`, "a\n\nb"},
		{"a description that is an object", `{"name":"a","description":{"@type":"TextObject","text":"t"}}`, "a\n\nt"},
		{"escaped letters", `{"name":"Se\u00e1n \ud83d\ude0b","description":"a \ud83d b"}`, "Seán 😋\n\na \uFFFD b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Describe([]byte(tt.object))
			if d.Text != tt.want || d.Fallback {
				t.Errorf("got  %q\nwant %q", d.Text, tt.want)
			}
		})
	}
}

func TestOnlyAnObjectWithoutAWordFallsBackToJSON(t *testing.T) {
	for _, object := range []string{`{ "@type" : "ImageObject", "url": "https://x.example/a.jpg" }`, `{}`, `{"a": 1}`, `{"datePublished":"2026-01-01"}`,
		`{"price":"5","priceCurrency":"EUR"}`, `{"sku":"AB1"}`, `[{"@type":"Offer"}, {}]`} {
		d := Describe([]byte(object))
		if want := strings.ReplaceAll(object, " ", ""); d.Text != want || !d.Fallback {
			t.Errorf("%s: got %q, fallback %v; want %q", object, d.Text, d.Fallback, want)
		}
	}
	if d := Describe([]byte(`{"caption":"x"}`)); d.Fallback || d.Text != "x" {
		t.Errorf("a caption: got %+v, want its words", d)
	}
}

func TestBytesThatAreNoObjectAreNotDescribed(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("{"), []byte(strings.Repeat("[", 300) + strings.Repeat("]", 300)), []byte("\xff"), make([]byte, provider.MaxObjectBytes+1)} {
		if d := Describe(b); d.Text != "" || d.Name != "" || d.Fallback {
			t.Errorf("%.20q: got %+v, want nothing", b, d)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"alternateName":"e","legalName":"d","givenName":"c","title":"b","headline":"a","name":"n"}`, "n"},
		{`{"alternateName":"e","legalName":"d","title":"b","headline":"a","name":""}`, "a"},
		{`{"alternateName":"e","legalName":"d","givenName":"Lee","familyName":"Ray","title":"b"}`, "b"},
		{`{"alternateName":"e","legalName":"d","familyName":"Ray"}`, "Ray"},
		{`{"alternateName":"e","legalName":"d"}`, "d"},
		{`{"alternateName":"e"}`, "e"},
		{`{"name":[null,"","a <b>b</b> &amp; c"]}`, "a b & c"},
		{`{"name":{"@value":"v","@language":"de"}}`, "v"},
		{`{"name":"two\nlines"}`, "two lines"},
		{`{"name":{"@type":"X","name":"inner"}}`, "inner"},
		{`{"schema:name":"prefixed"}`, "prefixed"},
		{`[{"@type":"A"},{"name":"second"}]`, "second"},
		{`{"description":"x"}`, ""},
	} {
		if got := Describe([]byte(tt.object)).Name; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.object, got, tt.want)
		}
	}
}

func TestTypesComeWithoutTheirPrefix(t *testing.T) {
	for _, tt := range []struct {
		object string
		want   []string
	}{
		{`{"@type":"Recipe"}`, []string{"Recipe"}},
		{`{"@type":["http://schema.org/Recipe","https://www.schema.org/NewsArticle","schema:Thing","Recipe",3,null,"https://other.example/T"]}`,
			[]string{"Recipe", "NewsArticle", "Thing", "https://other.example/T"}},
		{`[{"@type":"A"},{"@type":["B","A"]}]`, []string{"A", "B"}},
		{`{"name":"x"}`, nil},
	} {
		if got := Describe([]byte(tt.object)).Types; !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.object, got, tt.want)
		}
	}
	for in, want := range map[string]string{
		"http://schema.org/Recipe": "Recipe", "HTTPS://Schema.org/Recipe": "Recipe", "//schema.org/Recipe": "Recipe", "schema.org/Recipe": "Recipe",
		"https://schema.org#Recipe": "Recipe", "schema:Recipe": "Recipe", " Recipe ": "Recipe", "http://schema.org/": "http://schema.org/",
		"http://schema.organic/Recipe": "http://schema.organic/Recipe", "gr:Offering": "gr:Offering", "": "",
	} {
		if got := TrimType(in); got != want {
			t.Errorf("TrimType(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"inLanguage":"en-US"}`, "en-US"},
		{`{"inLanguage":"DE_at"}`, "de-at"},
		{`{"inLanguage":["","fr","en"]}`, "fr"},
		{`{"inLanguage":{"@type":"Language","name":"Spanish","alternateName":"es"}}`, "es"},
		{`{"inLanguage":{"@type":"Language","name":"Deutsch"}}`, "de"},
		{`{"inLanguage":[{"@type":"Language","@id":"x"},{"@value":"pt-BR"}]}`, "pt-BR"},
		{`{"inLanguage":"zh-Hant-TW"}`, "zh-Hant-TW"},
		{`{"inLanguage":"english, german"}`, ""},
		{`{"inLanguage":"https://x.example/en"}`, ""},
		{`{"inLanguage":7}`, ""},
		{`{"name":{"@value":"Nagy","@language":"hu"}}`, "hu"},
		{`{"headline":["x",{"@value":"y","@language":"it"}],"inLanguage":null}`, "it"},
		{`{"@context":["https://schema.org",{"@language":"nl"}],"name":"x"}`, "nl"},
		{`{"@context":{"@language":"nl"},"name":{"@value":"x","@language":"fr"},"inLanguage":"sv"}`, "sv"},
		{`{"name":"x"}`, ""},
		{`[{"name":"x"},{"inLanguage":"da"}]`, "da"},
	} {
		if got := Describe([]byte(tt.object)).Language; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.object, got, tt.want)
		}
	}
}

func TestALongTextIsCutAtAWordAndKeepsItsFront(t *testing.T) {
	body := strings.Repeat("wörter ", 30_000) // 210,000 runes
	d := Describe([]byte(`{"recipeIngredient":"never reached","articleBody":"` + body + `","name":"Name","description":"The description."}`))
	if n := utf8.RuneCountInString(d.Text); n > MaxTextRunes || n < MaxTextRunes-10 {
		t.Errorf("got %d runes, want just under %d", n, MaxTextRunes)
	}
	if !strings.HasPrefix(d.Text, "Name\n\nThe description.\n\nwörter") || !strings.HasSuffix(d.Text, " wörter") {
		t.Errorf("got %.60q … %q, want the front whole and a whole word last", d.Text, d.Text[len(d.Text)-20:])
	}
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"one two", 7, "one two"}, {"one two", 6, "one"}, {"one two", 4, "one"}, {"one two", 3, "one"}, {"one two", 2, "on"},
		{"日本語の文章", 3, "日本語"}, {"", 0, ""}, {"a", 0, ""}, {"é è", 1, "é"},
	} {
		if got := cutAtWord(tt.in, tt.limit); got != tt.want {
			t.Errorf("cutAtWord(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

func TestFillLeavesWhatIsGiven(t *testing.T) {
	schema := []byte(`{"@type":"Article","name":"n","text":"t","inLanguage":"en"}`)
	got := Fill(provider.Document{Schema: schema})
	if got.Name != "n" || !slices.Equal(got.Types, []string{"Article"}) || got.Text != "n\n\nt" || got.Language != "en" {
		t.Errorf("got %+v, want all from the schema", got)
	}
	given := provider.Document{Schema: schema, Name: "N", Types: []string{"T"}, Text: "X", Language: "de"}
	if got := Fill(given); got.Name != "N" || got.Types[0] != "T" || got.Text != "X" || got.Language != "de" {
		t.Errorf("got %+v, want what was given", got)
	}
}

func TestDescribeHasNoMemory(t *testing.T) {
	first := Describe(benchProduct)
	Describe([]byte(`{"name":"other","x":[{"y":[{"z":"words"}]}]}`))
	if again := Describe(benchProduct); again.Text != first.Text || again.Name != first.Name {
		t.Errorf("got %q, before %q", again.Text, first.Text)
	}
}

func FuzzDescribe(f *testing.F) {
	for _, c := range bugCases(f) {
		f.Add([]byte(c.Input))
	}
	f.Add(benchProduct)
	f.Add([]byte(`{"name":{"@list":[{"@value":[1,"x"]}]},"@graph":[[{"@graph":{}}]],"price":{},"streetAddress":[[]]}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		d := Describe(schema)
		for _, s := range []string{d.Text, d.Name, d.Language} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q: invalid UTF-8 in %+v", schema, d)
			}
		}
		if utf8.RuneCountInString(d.Text) > MaxTextRunes || utf8.RuneCountInString(d.Name) > MaxNameRunes || len(d.Types) > provider.MaxTypes {
			t.Fatalf("%q: over a limit", schema)
		}
		if json.Valid(schema) && withinLimits(schema) && d.Text == "" {
			t.Fatalf("%q: no text", schema)
		}
		if d.Language != "" && !isLanguageTag(d.Language) {
			t.Fatalf("%q: language %q", schema, d.Language)
		}
		doc := Fill(provider.Document{URL: "https://x.example/", Site: "x", Schema: schema})
		if provider.CheckSchema("s", schema) == nil {
			if _, err := doc.Check("d"); err != nil {
				t.Fatalf("%q: a filled document is refused: %v", schema, err)
			}
		}
	})
}

func TestYearsAndChoicesAreReadable(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"@type":"Book","name":"X","datePublished":"1818"}`, "X\n\n1818"},
		{`{"@type":"Book","name":"X","datePublished":1818}`, "X\n\n1818"},
		{`{"@type":"Book","name":"X","copyrightYear":1818}`, "X\n\n1818"},
		{`{"@type":"Dataset","name":"X","temporalCoverage":"2004-01/2025-12"}`, "X\n\n2004-01/2025-12"},
		{`{"@type":"Organization","name":"X","foundingDate":"1907-05"}`, "X\n\n1907-05"},
		{`{"@type":"Recipe","name":"X","suitableForDiet":["https://schema.org/LowLactoseDiet","http://schema.org/VeganDiet","Paleo"]}`, "X\n\nLow Lactose Diet, Vegan Diet, Paleo"},
		{`{"@type":"Book","name":"X","bookFormat":"https://schema.org/AudiobookFormat"}`, "X\n\nAudiobook Format"},
		{`{"@type":"Offer","name":"X","availability":"https://schema.org/InStock","position":7}`, "X"},
	} {
		if got := Describe([]byte(tt.object)).Text; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.object, got, tt.want)
		}
	}
}
