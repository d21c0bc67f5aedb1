package schemaorg

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// readText reads scripts of one page at https://site.example/page.
func readText(scripts ...string) Reading {
	p := Page{URL: "https://site.example/page"}
	for i, s := range scripts {
		p.Scripts = append(p.Scripts, Script{Text: []byte(s), Line: 1, Number: i + 1})
	}
	return Read(p)
}

// list returns what became of a page, one text a node: "Type url" of documents,
// "-Type reason" of what was skipped, "!url" of what was refused.
func list(r Reading) []string {
	var all []string
	for _, d := range r.Documents {
		all = append(all, strings.Join(d.Types, "+")+" "+strings.TrimPrefix(d.URL, "https://site.example/"))
	}
	for _, s := range r.Skipped {
		all = append(all, "-"+strings.Join(s.Types, "+")+" "+string(s.Reason))
	}
	for _, f := range r.Failures {
		all = append(all, "!"+f.URL)
	}
	return all
}

func TestEveryNodeIsADocumentOrSaysWhyNot(t *testing.T) {
	for _, tt := range []struct {
		name    string
		scripts []string
		want    []string
	}{
		{"one object", []string{`{"@type":"Article","name":"a"}`}, []string{"Article page"}},
		{"several without a URL",
			[]string{`[{"@type":"Article","name":"a"},{"@type":"Article","name":"b"},{"@type":"http://schema.org/Event","name":"c"}]`},
			[]string{"Article page#Article", "Article page#Article-2", "Event page#Event"}},
		{"one without a URL beside one with", []string{`[{"@type":"Article","name":"a"},{"@type":"Event","name":"b","url":"/b"}]`}, []string{"Article page", "Event b"}},
		{"one without a URL beside the page's", []string{`[{"@type":"Article","name":"a"},{"@type":"Event","name":"b","url":"/page"}]`}, []string{"Article page#Article", "Event page"}},
		{"a name that is taken", []string{`[{"@type":"Event","name":"a","url":"#Event"},{"@type":"Event","name":"b"},{"@type":"Movie","name":"c"}]`},
			[]string{"Event page#Event", "Event page#Event-2", "Movie page#Movie"}},
		{"the fragment of an id that is no web address", []string{`[{"@type":"Event","name":"a","@id":"urn:x#one"},{"@type":"Event","name":"b","@id":"_:b#"}]`},
			[]string{"Event page#one", "Event page#Event"}},
		{"a type that is no fragment", []string{`[{"@type":"A b#c","name":"a"},{"@type":"D","name":"d"}]`}, []string{"A b#c page#A%20b%23c", "D page#D"}},
		{"boilerplate beside content", []string{`{"@type":"Recipe","name":"a"}`, `[{"@type":"WebPage"},{"@type":["https://schema.org/WebSite","Organization"]},{"@type":"schema:BreadcrumbList"},{"@type":"Website"}]`},
			[]string{"Recipe page", "-WebPage boilerplate", "-WebSite+Organization boilerplate", "-BreadcrumbList boilerplate", "-Website boilerplate"}},
		{"a page that is also content", []string{`[{"@type":["WebPage","FAQPage"],"name":"a"},{"@type":"Organization","name":"o"}]`},
			[]string{"WebPage+FAQPage page", "-Organization boilerplate"}},
		{"only boilerplate", []string{`[{"@type":"Organization","name":"o","url":"/"},{"@type":"WebSite","name":"s","url":"/"}]`},
			[]string{"Organization ", "-WebSite boilerplate"}},
		{"only boilerplate, of which one is the page", []string{`[{"@type":"WebSite","name":"s","url":"/"},{"@type":"WebPage","name":"p"}]`},
			[]string{"WebPage page", "-WebSite boilerplate"}},
		{"only boilerplate, of which one has words", []string{`[{"@type":"WebPage"},{"@type":"BreadcrumbList","name":"b"}]`},
			[]string{"BreadcrumbList page", "-WebPage boilerplate"}},
		{"a page and its author", []string{`{"@graph":[{"@type":"WebSite","name":"s"},{"@type":"WebPage","name":"p","author":{"@id":"#me"}},{"@type":"Person","@id":"#me","name":"me"}]}`},
			[]string{"WebPage page", "-WebSite boilerplate", "-Person joined"}},
		{"a page that does not hold the author", []string{`[{"@type":"WebPage","name":"p"},{"@type":"Person","@id":"#me","name":"me"}]`},
			[]string{"Person page#me", "-WebPage boilerplate"}},
		{"the picture of a page beside content", []string{`{"@graph":[{"@type":"Recipe","name":"r"},{"@type":"WebPage","image":{"@id":"#i"}},{"@type":"ImageObject","@id":"#i","caption":"r"}]}`},
			[]string{"Recipe page", "-WebPage boilerplate", "-ImageObject boilerplate"}},
		{"a main entity within", []string{`{"@context":"https://schema.org","@type":"WebPage","url":"/g","mainEntity":{"@type":"Recipe","name":"r"}}`},
			[]string{"Recipe g", "-WebPage boilerplate"}},
		{"a main entity by id", []string{`[{"@type":"WebPage","url":"/g","mainEntity":{"@id":"_:r"}},{"@type":"Recipe","@id":"_:r","name":"r"}]`},
			[]string{"Recipe g", "-WebPage boilerplate"}},
		{"a main entity that has a URL", []string{`{"@type":"WebPage","url":"/g","mainEntity":{"@type":"Recipe","name":"r","url":"/r"}}`},
			[]string{"Recipe r", "-WebPage boilerplate"}},
		{"a main entity that supports", []string{`[{"@type":"ProfilePage","name":"x"},{"@type":"WebPage","url":"/g","mainEntity":{"@id":"#p"}},{"@type":"Person","@id":"#p","name":"p"}]`},
			[]string{"ProfilePage page", "Person page#p", "-WebPage boilerplate"}},
		{"a main entity that is boilerplate", []string{`{"@type":"WebPage","name":"p","mainEntity":{"@type":"ItemList","name":"l"}}`},
			[]string{"WebPage page"}},
		{"a main entity of content", []string{`{"@type":"FAQPage","name":"p","mainEntity":[{"@type":"Question","name":"q"}]}`}, []string{"FAQPage page"}},
		{"several main entities", []string{`{"@type":"WebPage","url":"/g","mainEntity":[{"@type":"Question","name":"q"},{"@type":"Question","name":"r"},"x"]}`},
			[]string{"Question g", "-WebPage boilerplate"}},
		{"supporting nodes", []string{`{"@graph":[{"@type":"Article","name":"a","author":{"@id":"#p"},"image":{"@id":"#i"}},{"@type":"Person","@id":"#p","name":"p"},{"@type":"ImageObject","@id":"#i"},{"@type":"ImageObject","@id":"#j","url":"/j.jpg"},{"@type":"Place","@id":"#l","name":"l"}]}`},
			[]string{"Article page", "Place page#l", "-Person joined", "-ImageObject joined", "-ImageObject no text"}},
		{"supporting nodes that hold one another", []string{`[{"@type":"PostalAddress","@id":"#a","addressLocality":"x"},{"@type":"Place","@id":"#p","name":"p","address":{"@id":"#a"}}]`},
			[]string{"Place page#p", "-PostalAddress joined"}},
		{"supporting nodes in a circle", []string{`[{"@type":"Person","@id":"#a","name":"a","knows":{"@id":"#b"}},{"@type":"Person","@id":"#b","name":"b","knows":{"@id":"#a"}}]`},
			[]string{"Person page#a", "-Person joined"}},
		{"without a type", []string{`[{"name":"x"},{"@type":[],"name":"y"},{"@type":null},{"@type":"Article","name":"a"}]`},
			[]string{"Article page", "- no type", "- no type", "- no type"}},
		{"what is no object", []string{`["x",1,null,true,{"@type":"Article","name":"a"}]`, `"y"`},
			[]string{"- not an object", "- not an object", "- not an object", "- not an object", "- not an object", "Article page"}},
		{"nothing", []string{``, `[]`, `{"@graph":[]}`, ` <!-- --> `}, []string{"- empty", "- empty", "- empty", "- empty"}},
		{"members of a list", []string{`[{"@type":"ItemList","itemListElement":[{"@type":"ListItem","item":{"@id":"#a"}},{"@id":"#b"}]},{"@type":"Movie","@id":"#a","name":"a"},{"@type":"Movie","@id":"#b","name":"b"},{"@type":"Article","name":"c"}]`},
			[]string{"Article page", "-ItemList boilerplate", "-Movie list member", "-Movie list member"}},
		{"members of a list that is all there is", []string{`[{"@type":"ItemList","itemListElement":{"@id":"#a"}},{"@type":"Movie","@id":"#a","name":"a"}]`},
			[]string{"Movie page#a", "-ItemList boilerplate"}},
		{"variants", []string{`[{"@type":"ProductGroup","name":"g","hasVariant":[{"@id":"#v"},{"@type":"Product","name":"w"}]},{"@type":"Product","@id":"#v","name":"v"}]`},
			[]string{"ProductGroup page", "-Product variant"}},
		{"the same node twice", []string{`{"@type":"Article","name":"a"}`, `{"@type":"Article","name":"a"}`}, []string{"Article page", "-Article repeated"}},
		{"two nodes with one URL", []string{`[{"@type":"Person","name":"p","url":"/x"},{"@type":["WebPage","FAQPage"],"name":"f","url":"/x"},{"@type":"Recipe","name":"r","url":"/x"}]`},
			[]string{"Recipe+WebPage+FAQPage+Person x"}},
		{"graphs in lists in graphs", []string{`[[{"@graph":[[{"@type":"A","name":"a"}],{"@graph":{"@type":"B","name":"b"}}]}]]`}, []string{"A page#A", "B page#B"}},
		{"a list as PHP writes it", []string{`{"@graph":{"0":{"@type":"A","name":"a"},"2":{"@type":"B","name":"b"}}}`}, []string{"A page#A", "B page#B"}},
		{"an object with a graph", []string{`{"@type":"Recipe","name":"r","@graph":[{"@type":"WebSite","name":"s"}]}`, `{"@type":"Event","@graph":[{"@type":"WebSite","name":"t"}]}`},
			[]string{"-Event container", "Recipe page", "-WebSite boilerplate", "-WebSite boilerplate"}},
		{"duplicate names, of which the last counts", []string{`{"@type":"WebPage","@type":"Article","name":"a","url":"/1","url":"/2"}`}, []string{"Article 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := readText(tt.scripts...)
			got := list(r)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(tt.want))
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			checkAccount(t, r)
			if again := readText(tt.scripts...); !reflect.DeepEqual(r, again) {
				t.Errorf("a second reading differs: %+v", again)
			}
		})
	}
}

func TestObjectsNameTheirURL(t *testing.T) {
	for _, tt := range []struct{ name, object, want string }{
		{"url", `"url":"https://a.example/x","@id":"https://b.example/y"`, "https://a.example/x"},
		{"a url as it is written", `"url":" HTTPS://A.example:443/%7ex/../y?b= c#d "`, "HTTPS://A.example:443/%7ex/../y?b= c#d"},
		{"a relative url", `"url":"../x?y#z"`, "https://site.example/x?y#z"},
		{"a url without a scheme", `"url":"//b.example/x"`, "https://b.example/x"},
		{"a list of urls", `"url":[null,"","https://a.example/1","https://a.example/2"]`, "https://a.example/1"},
		{"an object as url", `"url":{"@type":"URL","@id":"https://a.example/o"}`, "https://a.example/o"},
		{"a tagged value as url", `"url":{"@type":"xsd:anyURI","@value":"https://a.example/v"}`, "https://a.example/v"},
		{"a list whose first is of another scheme", `"url":["android-app://a/b","https://a.example/2"]`, "https://a.example/2"},
		{"no url but an id", `"url":null,"@id":"https://a.example/#it"`, "https://a.example/#it"},
		{"a relative id", `"url":true,"@id":"#it"`, "https://site.example/page#it"},
		{"an id that is no address, and a page", `"@id":"urn:uuid:1","mainEntityOfPage":"https://a.example/m"`, "https://a.example/m"},
		{"a page as an object", `"mainEntityOfPage":{"@type":"WebPage","@id":"https://a.example/m"}`, "https://a.example/m"},
		{"a page that is none", `"mainEntityOfPage":true`, "https://site.example/page"},
		{"an absolute identifier", `"identifier":["12",{"@type":"PropertyValue","value":"https://doi.example/10"}]`, "https://doi.example/10"},
		{"an identifier that is no address", `"identifier":"12"`, "https://site.example/page"},
		{"nothing", `"url":"  "`, "https://site.example/page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := readText(`{"@type":"Article","name":"a",` + tt.object + `}`)
			if len(r.Documents) != 1 || r.Documents[0].URL != tt.want {
				t.Errorf("got %q, want %q", list(r), tt.want)
			}
		})
	}
}

func TestWhatCannotBeLookedUpIsRefusedAndTheRestGoesIn(t *testing.T) {
	for _, tt := range []struct{ name, url, says string }{
		{"javascript", "javascript:alert(1)", `scheme "javascript"`},
		{"data", "data:text/html,x", `scheme "data"`},
		{"mail", "MAILTO:a@b.example", `scheme "mailto"`},
		{"a scheme in disguise", " JavaScript:alert(1)//http://", `scheme "javascript"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := readText("[\n" + fmt.Sprintf(`{"@type":"Article","name":"a","url":%q}`, tt.url) + `,{"@type":"Event","name":"b","url":"/b"}]`)
			if got := list(r); len(r.Documents) != 1 || len(r.Failures) != 1 {
				t.Fatalf("got %q, want one document and one failure", got)
			}
			f := r.Failures[0]
			if f.URL != strings.TrimSpace(tt.url) || f.Line != 2 || f.Script != 1 || !f.Node || !strings.Contains(f.Err.Error(), tt.says) {
				t.Errorf("failure %+v, want line 2, script 1 and %s", f, tt.says)
			}
			checkAccount(t, r)
		})
	}
}

func TestWithoutAPageAnObjectNeedsAURL(t *testing.T) {
	r := Read(Page{Scripts: []Script{{Text: []byte(`[{"@type":"Article","name":"a"},{"@type":"Article","name":"r","url":"/r"},{"@type":"Article","name":"b","url":"https://a.example/b"}]`), Line: 7, Number: 1}}})
	if len(r.Documents) != 1 || len(r.Failures) != 2 || r.Failures[0].Line != 7 {
		t.Errorf("got %q, want one document and two failures on line 7", list(r))
	}
	r = Read(Page{Base: "https://a.example/dir/", Scripts: []Script{{Text: []byte(`{"@type":"Article","name":"r","url":"r"}`), Line: 1, Number: 1}}})
	if got := list(r); !slices.Equal(got, []string{"Article https://a.example/dir/r"}) {
		t.Errorf("with a base alone got %q, want the URL resolved", got)
	}
}

func TestAWrapperIsOneDocument(t *testing.T) {
	p := Page{URL: "https://site.example/w", Site: "s", Wrapper: true, Scripts: []Script{{Line: 1, Number: 1,
		Text: []byte(`[{"@type":"WebSite"},{"@type":"Recipe","name":"r","url":"https://other.example/"},{"@type":"Article","name":"a"}]`)}}}
	r := Read(p)
	if len(r.Documents) != 1 || r.Documents[0].URL != p.URL || r.Documents[0].Site != "s" || r.Documents[0].Nodes != 2 {
		t.Fatalf("got %+v, want one document at %s of two nodes", r.Documents, p.URL)
	}
	want := `[{"@type":"Recipe","name":"r","url":"https://other.example/"},{"@type":"Article","name":"a"}]`
	if got := string(r.Documents[0].Schema); got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	p.URL = "javascript:1"
	if r = Read(p); len(r.Documents) != 0 || len(r.Failures) != 2 {
		t.Errorf("a wrapper at %s gives %q, want its two nodes refused", p.URL, list(r))
	}
	checkAccount(t, r)
}

func TestBytesThatNeedNoJoinStayAsTheyWere(t *testing.T) {
	object := "{ \"@context\" : \"https:\\/\\/schema.org\",\t\"z\":1.50e+1, \"@type\":\"Product\",\n\"name\":\"S\\u00fc\\u00DF <b> & é\", \"url\":\"/p\", \"a\":[ ], \"a\":-0 }"
	for _, text := range []string{object, "\n " + object + "\n", "[" + object + "]", "[{\"@type\":\"WebSite\"}, " + object + " ]", object + ";"} {
		r := readText(text)
		if len(r.Documents) != 1 || string(r.Documents[0].Schema) != object {
			t.Errorf("%q became %q", text, r.Documents[0].Schema)
		}
	}
}

func TestReferencesAreReplacedByWhatTheyReferTo(t *testing.T) {
	const ctx = `"@context":"https://schema.org",`
	for _, tt := range []struct{ name, graph, want string }{
		{"a reference", `{"@type":"Article","name":"a","author":{ "@id" : "#p" }, "x":1},{"@type":"Person","@id":"#p","name":"p"}`,
			`{CTX"@type":"Article","name":"a","author":{"@type":"Person","@id":"#p","name":"p"}, "x":1}`},
		{"in lists and nested objects", `{"@type":"Article","name":"a","x":[1,[{"@id":"#p"}],{"y":{"@id":"#p"}}]},{"@type":"Person","@id":"#p"}`,
			`{CTX"@type":"Article","name":"a","x":[1,[{"@type":"Person","@id":"#p"}],{"y":{"@type":"Person","@id":"#p"}}]}`},
		{"with a type, a name that agrees", `{"@type":"Article","name":"a","author":{"@type":"Person","name":"p","@id":"#p"}},{"@type":["Person","Author"],"@id":"#p","name":"p"}`,
			`{CTX"@type":"Article","name":"a","author":{"@type":["Person","Author"],"@id":"#p","name":"p"}}`},
		{"not where something would be lost", `{"@type":"Article","name":"a","author":{"name":"q","@id":"#p"},"editor":{"@type":"Robot","@id":"#p"}},{"@type":"Person","@id":"#p","name":"p","url":"/p"}`,
			`{CTX"@type":"Article","name":"a","author":{"name":"q","@id":"#p"},"editor":{"@type":"Robot","@id":"#p"}}`},
		{"absolute and relative ids", `{"@type":"Article","name":"a","author":{"@id":"https://site.example/page#p"}},{"@type":"Person","@id":"#p"}`,
			`{CTX"@type":"Article","name":"a","author":{"@type":"Person","@id":"#p"}}`},
		{"not itself", `{"@type":"Article","@id":"#a","name":"a","x":{"@id":"#a"}}`, `{CTX"@type":"Article","@id":"#a","name":"a","x":{"@id":"#a"}}`},
		{"not in a circle", `{"@type":"Article","@id":"#a","name":"a","author":{"@id":"#p"}},{"@type":"Person","@id":"#p","knows":[{"@id":"#a"},{"@id":"#p"}]}`,
			`{CTX"@type":"Article","@id":"#a","name":"a","author":{"@type":"Person","@id":"#p","knows":[{"@id":"#a"},{"@id":"#p"}]}}`},
		{"not what it is part of or about", `{"@type":"Article","name":"a","isPartOf":{"@id":"#p"},"schema:about":[{"@id":"#p"}],"mainEntityOfPage":{"x":{"@id":"#p"}}},{"@type":"Person","@id":"#p"}`,
			`{CTX"@type":"Article","name":"a","isPartOf":{"@id":"#p"},"schema:about":[{"@id":"#p"}],"mainEntityOfPage":{"x":{"@id":"#p"}}}`},
		{"not what is not there", `{"@type":"Article","name":"a","author":{"@id":"#q"}},{"@type":"Person","@id":"#p"}`, `{CTX"@type":"Article","name":"a","author":{"@id":"#q"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := readText(`{"@context":"https://schema.org","@graph":[` + tt.graph + `]}`)
			if len(r.Documents) == 0 {
				t.Fatalf("no document: %q", list(r))
			}
			got, want := string(r.Documents[0].Schema), strings.Replace(tt.want, "CTX", ctx, 1)
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestReferencesAreFollowedFiveDeep(t *testing.T) {
	var graph []string
	for i := range 8 {
		graph = append(graph, fmt.Sprintf(`{"@type":"Person","@id":"#%d","name":"n%d","knows":{"@id":"#%d"}}`, i, i, i+1))
	}
	graph[0] = strings.Replace(graph[0], "Person", "Article", 1)
	r := readText(`[` + strings.Join(graph, ",") + `]`)
	schema := string(r.Documents[0].Schema)
	if !strings.Contains(schema, `"n5"`) || strings.Contains(schema, `"n6"`) || !json.Valid(r.Documents[0].Schema) {
		t.Errorf("got %s, want n0 to n5", schema)
	}
	if len(r.Documents) != 2 || r.Documents[1].Name != "n6" {
		t.Errorf("got %q, want a second document for what was not reached", list(r))
	}
}

func TestWhatIsPutInPlaceIsBounded(t *testing.T) {
	big := strings.Repeat("word ", 30_000) // 150 KB: one fits, two do not
	r := readText(`[{"@type":"Article","name":"a","author":{"@id":"#p"},"editor":{"@id":"#q"}},` +
		`{"@type":"Person","@id":"#p","name":"p","description":"` + big + `"},{"@type":"Person","@id":"#q","name":"q","description":"` + big + `"}]`)
	if n := len(r.Documents[0].Schema); n > maxJoinedBytes+1000 || n < len(big) {
		t.Errorf("the joined object has %d bytes, want one of the two in place", n)
	}
	if got, want := list(r), []string{"Article page", "Person page#q", "-Person joined"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: what found no room is a document", got, want)
	}
}

func TestABlankNodeBelongsToItsScript(t *testing.T) {
	r := readText(`[{"@type":"Article","name":"a","url":"/a","author":{"@id":"_:b"}},{"@type":"Person","@id":"_:b","name":"one"}]`,
		`[{"@type":"Article","name":"c","url":"/c","author":{"@id":"_:b"}},{"@type":"Person","@id":"_:b","name":"two"}]`)
	if len(r.Documents) != 2 || !strings.Contains(string(r.Documents[0].Schema), "one") || !strings.Contains(string(r.Documents[1].Schema), "two") {
		t.Errorf("got %q, want each script its own", list(r))
	}
}

func TestAContextGoesWhereItIsNeeded(t *testing.T) {
	r := readText(`{"@context":{"@vocab":"http://schema.org/"},"@graph":[{"@type":"Article","name":"a","url":"/a","author":{"@id":"#p"}},{"@context":"https://x.example","@type":"Event","name":"e","url":"/e","organizer":{"@id":"#p"}},{"@type":"Person","@id":"#p","name":"p"}]}`)
	want := []string{
		`{"@context":{"@vocab":"http://schema.org/"},"@type":"Article","name":"a","url":"/a","author":{"@type":"Person","@id":"#p","name":"p"}}`,
		`{"@context":"https://x.example","@type":"Event","name":"e","url":"/e","organizer":{"@context":{"@vocab":"http://schema.org/"},"@type":"Person","@id":"#p","name":"p"}}`,
	}
	for i, w := range want {
		if got := string(r.Documents[i].Schema); got != w {
			t.Errorf("got  %s\nwant %s", got, w)
		}
	}
}

func TestAnObjectTooLargeOrDeepIsRefusedAlone(t *testing.T) {
	deep := `{"@type":"Article","name":"d","url":"/d","x":` + strings.Repeat("[", 199) + strings.Repeat("]", 199) + `}`
	large := `{"@type":"Article","name":"l","url":"/l","text":"` + strings.Repeat("a", 4<<20) + `"}`
	small := `{"@type":"Article","name":"s","url":"/s"}`
	if got, want := list(readText(small, large, deep)), []string{"Article s", "Article d", "!https://site.example/l"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	same := strings.Replace(deep, `"d"`, `"d2"`, 1)
	if got, want := list(readText(small, deep, same)), []string{"Article s", "!https://site.example/d", "!https://site.example/d"}; !slices.Equal(got, want) {
		t.Errorf("a list that is too deep: got %q, want %q", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range bugCases(f) {
		f.Add([]byte(c.Input), "https://site.example/page", false)
	}
	f.Add([]byte(`[{"@type":"A","@id":"#a","x":{"@id":"#b"}},{"@type":"Person","@id":"#b","y":[{"@id":"#a"}]}]`), "", true)
	f.Add([]byte(`{"@context":{},"@graph":{"0":{"@type":"WebPage","mainEntity":{"@type":"B"}}}}`), "x:y", false)
	f.Fuzz(func(t *testing.T, text []byte, url string, wrapper bool) {
		p := Page{URL: url, Base: "https://site.example/", Wrapper: wrapper, Scripts: []Script{{Text: text, Line: 1, Number: 1}}}
		r := Read(p)
		checkAccount(t, r)
		for _, d := range r.Documents {
			if !json.Valid(d.Schema) {
				t.Fatalf("schema %q is not JSON", d.Schema)
			}
			if !strings.HasPrefix(strings.ToLower(d.URL), "http") || len(d.Types) == 0 || d.Line < 1 || d.Nodes < 1 {
				t.Fatalf("document %+v", d)
			}
			if got := Describe(d.Schema); got.Fallback == Readable(d.Schema) || got.Name != d.Name {
				t.Fatalf("Describe says %q, fallback %v, Read %q", got.Name, got.Fallback, d.Name)
			}
		}
		if again := Read(p); len(again.Documents) != len(r.Documents) || again.Nodes != r.Nodes {
			t.Fatal("a second reading differs")
		}
	})
}

func TestWhatIsWrongWithTheOnlyURLIsSaid(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"/soup", "is relative"},
		{"//a.example/x", "is relative"},
		{"https://", "has no host"},
		{"https://a.example/" + strings.Repeat("x", 9000), "bytes"},
		{`https://a.example/\u001b`, "U+001B"},
		{"https://[::1", "has the host"},
		{"https://a.example:x/", "has the host"},
		{"https://.example/", "has the host"},
		{"https://a.example%00.b/", "has the host"},
		{`https://a\u202e.example/`, "has the host"},
	} {
		r := Read(Page{Scripts: []Script{{Text: []byte(`{"@type":"Recipe","name":"a","url":"` + tt.url + `"}`), Line: 1}}})
		if len(r.Failures) != 1 || r.Failures[0].URL == "" || !strings.Contains(r.Failures[0].Err.Error(), tt.want) {
			t.Errorf("%.40q: documents %v, failures %v; want one that names the URL and says %q", tt.url, r.Documents, r.Failures, tt.want)
		}
	}
}

func TestABaseThatIsNoURLIsPassedOver(t *testing.T) {
	for _, base := range []string{"http://[::1", "http://%zz/", "http://a b/", "javascript:x"} {
		p := ReadHTML([]byte(`<base href="`+base+`"><script type="application/ld+json">{"@type":"Recipe","name":"R","url":"foo"}</script>`), "https://b.example/dir/page")
		r := Read(p)
		if len(r.Documents) != 1 || r.Documents[0].URL != "https://b.example/dir/foo" {
			t.Errorf("base %q: documents %v, want one at https://b.example/dir/foo", base, r.Documents)
		}
	}
}
