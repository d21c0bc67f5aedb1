package providertest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

var limitRules = []rule{
	{"ZeroMeansFifty", func(s *suite) {
		s.putMany(60)
		if n := len(s.urls(provider.Query{Text: "walnut", Scope: provider.AllSites()})); n != provider.DefaultLimit {
			s.Errorf("%d hits of 60, want %d", n, provider.DefaultLimit)
		}
	}},
	{"LimitIsFilledAfterTheCollapse", func(s *suite) {
		s.putMany(30)
		long := strings.Repeat("A walnut tree. Walnut wood. Walnut shells and walnut oil. ", 400)
		s.put(doc(siteA, "https://a.example/long", "Walnut walnut walnut", long))
		for _, limit := range []int{1, 2, 20, 31} {
			if n := len(s.urls(provider.Query{Text: "walnut", Scope: provider.InSites(siteA), Limit: limit})); n != limit {
				s.Errorf("%d hits at limit %d, want it filled: 31 documents match", n, limit)
			}
		}
	}},
	{"NegativeIsInvalid", func(s *suite) {
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.AllSites(), Limit: -1})
		s.wantInvalid("Search", err, "Limit")
		_, err = s.p.List(s.ctx(), provider.ListQuery{Site: siteA, Limit: -1})
		s.wantInvalid("List", err, "Limit")
	}},
	{"OverTheMaximumIsInvalid", func(s *suite) {
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.AllSites(), Limit: provider.MaxLimit + 1})
		s.wantInvalid("Search", err, "Limit")
		_, err = s.p.List(s.ctx(), provider.ListQuery{Site: siteA, Limit: provider.MaxLimit + 1})
		s.wantInvalid("List", err, "Limit")
	}},
}

// putMany stores n documents about walnuts in site A.
func (s *suite) putMany(n int) {
	s.Helper()
	var docs []provider.Document
	for i := range n {
		docs = append(docs, doc(siteA, fmt.Sprintf("https://a.example/%03d", i), fmt.Sprintf("Walnut bread %d", i), "Bread with walnut."))
	}
	s.put(docs...)
}

// oddSchemas are objects that a decoder and encoder would not give back as
// they were.
var oddSchemas = []string{
	`{"@type":"Product","name":"Walnut","price":19.90,"big":12345678901234567890,"tiny":1E-7,"huge":1e400,"zero":-0,"plus":1.0e+2}`,
	`{"name":"Walnut \u003cb\u003e \/ \u00e9 é 😀 \ud83d\ude00","b":1,"a":2,"b2":{"z":1,"y":2}}`,
	"{\n\t\"name\" : \"Walnut\",\r\n  \"list\" : [ 1 , 2,3 ]\n}",
	`{"name":"Walnut","name":"Twice","x":{"k":1,"k":2}}`,
	`{"name":"Walnut <script>alert(1)</script> & \"quotes\" \u2028 \u0000 \ud800"}`,
	`[{"@type":"Article","name":"Walnut"},{"@type":"Person","name":"Ann"}]`,
	`{"name":"Walnut","":"empty key","a.b":1,"*":2,"\u0000":3}`,
	`{"name":"Walnut","null":null,"t":true,"f":false,"e":[],"o":{}}`,
	"  {\"name\":\"Walnut\"}\n",
}

var schemaRules = []rule{
	{"BytesOfGetAreThoseIngested", func(s *suite) {
		for _, d := range s.putOdd() {
			s.wantObject(d)
		}
	}},
	{"BytesOfSearchAreThoseIngested", func(s *suite) {
		want := make(map[string][]byte)
		for _, d := range s.putOdd() {
			want[d.URL] = d.Schema
		}
		hits := s.search(provider.Query{Text: "walnut", Scope: provider.AllSites()}).Hits
		if len(hits) != len(want) {
			s.Errorf("%d hits, want %d", len(hits), len(want))
		}
		for _, h := range hits {
			if !bytes.Equal(h.Schema, want[h.URL]) {
				s.Errorf("Search gave for %s\n%s\nwant\n%s", h.URL, h.Schema, want[h.URL])
			}
		}
	}},
	{"WhatIsNoObjectIsInvalid", func(s *suite) {
		for _, schema := range []string{
			"", " ", "null", "1", `"text"`, "true", "[]", "[1]", `["a"]`, `[{"a":1},null]`, `[[{"a":1}]]`,
			"{", `{"a":}`, `{"a":1,}`, `{"a":1}{"b":2}`, `{"a":1} x`, "{'a':1}", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", "\xef\xbb\xbf{}", `{"a":NaN}`,
		} {
			s.wantPutInvalid(provider.Document{URL: "https://a.example/1", Site: siteA, Schema: []byte(schema)}, "Schema")
		}
	}},
	{"HitsPastTheReplyLimitComeWithoutTheirObject", func(s *suite) {
		var docs []provider.Document
		for i := range 5 {
			d := doc(siteA, fmt.Sprintf("https://a.example/%d", i), "Walnut", "bread")
			pad := strings.Repeat("x", provider.MaxObjectBytes-len(d.Schema)-20)
			d.Schema = append(d.Schema[:len(d.Schema)-1], `,"pad":"`+pad+`"}`...)
			d.Text = "Walnut bread"
			s.put(d)
			docs = append(docs, d)
		}
		res := s.search(provider.Query{Text: "walnut", Scope: provider.AllSites()})
		if len(res.Hits) != len(docs) {
			s.Fatalf("%d hits, want all %d", len(res.Hits), len(docs))
		}
		whole, size := 0, 0
		for _, h := range res.Hits {
			if len(h.Schema) > 0 {
				whole++
				size += len(h.Schema)
			}
		}
		if whole == 0 || size > provider.MaxReplyBytes {
			s.Errorf("%d hits came whole with %d bytes, want some, within %d", whole, size, provider.MaxReplyBytes)
		}
		if !res.Degraded || !slices.ContainsFunc(res.Statuses, func(st provider.Status) bool { return st.Code == provider.StatusResultTruncated }) {
			s.Errorf("statuses %+v, degraded %v; want %s", res.Statuses, res.Degraded, provider.StatusResultTruncated)
		}
		lookup := provider.Lookup{Scope: provider.AllSites()}
		for _, d := range docs {
			lookup.URLs = append(lookup.URLs, d.URL)
		}
		objects, err := s.p.Get(s.ctx(), lookup)
		if err != nil || len(objects) != len(docs) {
			s.Fatalf("Get of all of them: %d objects, %v", len(objects), err)
		}
		for i, o := range objects {
			if !bytes.Equal(o.Schema, docs[i].Schema) {
				s.Errorf("Get of all of them: object %d has %d bytes, want the %d ingested", i, len(o.Schema), len(docs[i].Schema))
			}
		}
	}},
}

// putOdd stores the odd objects.
func (s *suite) putOdd() []provider.Document {
	s.Helper()
	var docs []provider.Document
	for i, schema := range oddSchemas {
		docs = append(docs, provider.Document{URL: fmt.Sprintf("https://a.example/%d", i), Site: siteA, Schema: []byte(schema), Name: "Walnut"})
	}
	s.put(docs...)
	return docs
}

var documentRules = []rule{
	{"EmptyFieldsAreTakenFromTheObject", func(s *suite) {
		d := object(siteA, "https://a.example/1", map[string]any{
			"@type": []string{"https://schema.org/Recipe", "NewsArticle"}, "headline": "Walnut &amp; plum", "articleBody": "Soak the raisins.",
		})
		s.put(d)
		hits := s.search(provider.Query{Text: "raisins", Scope: provider.AllSites()}).Hits
		if len(hits) != 1 {
			s.Fatalf("a word of the object's text found %d documents, want 1", len(hits))
		}
		if want := "Walnut & plum"; hits[0].Name != want {
			s.Errorf("Name is %q, want %q", hits[0].Name, want)
		}
		if want := []string{"Recipe", "NewsArticle"}; !slices.Equal(hits[0].Types, want) {
			s.Errorf("Types are %q, want %q", hits[0].Types, want)
		}
	}},
	{"GivenFieldsWin", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Of the object", "pebbles")
		d.Name, d.Types, d.Text = "Given name", []string{"Recipe"}, "Soak the raisins."
		s.put(d)
		s.wantURLs(provider.Query{Text: "pebbles", Scope: provider.AllSites()})
		hits := s.search(provider.Query{Text: "raisins", Scope: provider.AllSites()}).Hits
		if len(hits) != 1 || hits[0].Name != "Given name" || !slices.Equal(hits[0].Types, []string{"Recipe"}) {
			s.Errorf("hits %+v, want one with the given name and type", hits)
		}
	}},
	{"MarkupIsNotFound", func(s *suite) {
		s.put(object(siteA, "https://a.example/1", map[string]any{"@type": "Recipe", "name": "Walnut", "description": "<p>Soak <b>raisins</b></p>", "sku": nil}))
		for _, word := range []string{"null", "schema", "description", "context", "map", "nil"} {
			s.wantURLs(provider.Query{Text: word, Scope: provider.AllSites()})
		}
	}},
	{"URLIsRequired", func(s *suite) {
		for _, url := range []string{"", " ", "https://a.example/\n", "https://a.example/\x00", "https://a.example/\xff"} {
			s.wantPutInvalid(doc(siteA, url, "Walnut", "bread"), "URL")
		}
	}},
	{"SiteIsRequired", func(s *suite) {
		for _, site := range []string{"", "  "} {
			s.wantPutInvalid(doc(site, "https://a.example/1", "Walnut", "bread"), "Site")
		}
	}},
	{"PassageComesFromTheDocument", func(s *suite) {
		filler := strings.Repeat("Nothing to see in this sentence about weather. ", 80)
		s.put(doc(siteA, "https://a.example/1", "Weather", filler+"But a kingfisher sat by the river. "+filler))
		hits := s.search(provider.Query{Text: "kingfisher", Scope: provider.AllSites()}).Hits
		if len(hits) != 1 {
			s.Fatalf("%d hits, want 1", len(hits))
		}
		if p := hits[0].Passage; p != "" && !strings.Contains(p, "kingfisher sat") {
			s.Errorf("the passage %q lacks the words that matched", p)
		}
	}},
}
