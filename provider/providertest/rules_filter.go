package providertest

import (
	"fmt"
	"math"

	"github.com/siteprovider/siteprovider/provider"
)

// shelf is what the filter rules search: every object says "walnut", and the
// last part of its URL is its name here.
var shelf = map[string]map[string]any{
	"number":   {"@type": "Product", "offers": map[string]any{"price": 19.5}},
	"decimal":  {"@type": "Product", "offers": map[string]any{"price": "20.00"}},
	"words":    {"@type": "Product", "offers": map[string]any{"price": "about 5"}},
	"several":  {"@type": "Product", "offers": []any{map[string]any{"price": 90}, map[string]any{"price": "7"}}},
	"none":     {"@type": "Product"},
	"null":     {"@type": "Product", "offers": nil, "author": map[string]any{"name": nil}},
	"prefixed": {"@type": []string{"http://schema.org/Recipe", "NewsArticle"}},
	"tagged":   {"@type": "Recipe", "genre": map[string]any{"@value": "Suppe", "@language": "de"}},
	"genre":    {"@type": "Book", "genre": []any{"suppe", "Brot"}, "isAccessibleForFree": true},
	"free":     {"@type": "Book", "isAccessibleForFree": "https://schema.org/True", "sku": "0042"},
	"paid":     {"@type": "Book", "isAccessibleForFree": false, "sku": "42"},
	"day":      {"@type": "Article", "datePublished": "2026-03-01"},
	"noon":     {"@type": "Article", "datePublished": "2026-03-01T12:00:00Z"},
	"zone":     {"@type": "Article", "datePublished": "2026-03-02T00:30:00+02:00"},
	"later":    {"@type": "Article", "datePublished": "2026-03-02T00:30:00Z"},
	"year":     {"@type": "Book", "dateCreated": "1818", "copyrightYear": 1818},
	"month":    {"@type": "Book", "dateCreated": "1820-05"},
	"century":  {"@type": "Book", "dateCreated": "1895-02-03T10:00:00Z"},
	"stocked":  {"@type": "Offer", "availability": "https://schema.org/InStock"},
	"gone":     {"@type": "Offer", "availability": "http://schema.org/SoldOut"},
	"blank":    {"@type": "Intangible", "sku": " 42 "},
	"odd":      {"@type": "Thing", "a.b": "dotted", "*": "star", "x|y": "pipe", "#": "hash"},
}

func filterRule(name string, c provider.Condition, want ...string) rule {
	return rule{name, func(s *suite) { s.wantFiltered(provider.Filter{c}, want...) }}
}

// wantFiltered wants the objects of the shelf for which f holds.
func (s *suite) wantFiltered(f provider.Filter, want ...string) {
	s.Helper()
	var docs []provider.Document
	for name, properties := range shelf {
		d := object(siteA, "https://a.example/"+name, properties)
		d.Name, d.Text = "Walnut", "Walnut "+name
		docs = append(docs, d)
	}
	s.put(docs...)
	var urls []string
	for _, name := range want {
		urls = append(urls, "https://a.example/"+name)
	}
	s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites(), Filter: f}, urls...)
}

var filterRules = []rule{
	filterRule("NumbersCompareWithNumbersAndDecimals", provider.Condition{Path: "offers.price", Op: provider.LessEqual, Value: 20}, "number", "decimal", "several"),
	filterRule("LessIsStrict", provider.Condition{Path: "offers.price", Op: provider.Less, Value: 20}, "number", "several"),
	filterRule("Greater", provider.Condition{Path: "offers.price", Op: provider.Greater, Value: 19.5}, "decimal", "several"),
	filterRule("GreaterEqual", provider.Condition{Path: "offers.price", Op: provider.GreaterEqual, Value: 19.5}, "number", "decimal", "several"),
	filterRule("NumberEqualsByValue", provider.Condition{Path: "offers.price", Op: provider.Equal, Value: 20}, "decimal"),
	filterRule("DecimalTextIsOrderedAsANumber", provider.Condition{Path: "offers.price", Op: provider.Less, Value: "8"}, "several"),
	filterRule("TextIsExact", provider.Condition{Path: "sku", Op: provider.Equal, Value: "42"}, "paid"),
	filterRule("TextIsCaseSensitive", provider.Condition{Path: "genre", Op: provider.Equal, Value: "suppe"}, "genre"),
	filterRule("LanguageTaggedTextIsItsText", provider.Condition{Path: "genre", Op: provider.Equal, Value: "Suppe"}, "tagged"),
	filterRule("AnyMemberOfAList", provider.Condition{Path: "genre", Op: provider.Equal, Value: "Brot"}, "genre"),
	filterRule("NotEqualNeedsThePropertyAndNoEqualMember", provider.Condition{Path: "genre", Op: provider.NotEqual, Value: "Brot"}, "tagged"),
	filterRule("InIsEqualToOne", provider.Condition{Path: "genre", Op: provider.In, Value: []any{"Suppe", "Brot", 5}}, "tagged", "genre"),
	filterRule("ExistsNeedsAValue", provider.Condition{Path: "offers", Op: provider.Exists}, "number", "decimal", "words", "several"),
	filterRule("NullDoesNotExist", provider.Condition{Path: "author.name", Op: provider.Exists}),
	filterRule("TypeWithoutPrefix", provider.Condition{Path: "@type", Op: provider.Equal, Value: "Recipe"}, "prefixed", "tagged"),
	filterRule("TypeWithPrefix", provider.Condition{Path: "@type", Op: provider.Equal, Value: "https://schema.org/Recipe"}, "prefixed", "tagged"),
	filterRule("TypeIn", provider.Condition{Path: "@type", Op: provider.In, Value: []string{"NewsArticle", "Thing"}}, "prefixed", "odd"),
	filterRule("BooleansAndTheirNames", provider.Condition{Path: "isAccessibleForFree", Op: provider.Equal, Value: true}, "genre", "free"),
	filterRule("FalseIsNotAbsent", provider.Condition{Path: "isAccessibleForFree", Op: provider.Equal, Value: false}, "paid"),
	filterRule("DatesAreInstants", provider.Condition{Path: "datePublished", Op: provider.Equal, Value: "2026-03-01T22:30:00Z"}, "zone"),
	filterRule("ABareDateIsThatDay", provider.Condition{Path: "datePublished", Op: provider.Equal, Value: "2026-03-01"}, "day", "noon", "zone"),
	filterRule("UpToABareDateHoldsThatDay", provider.Condition{Path: "datePublished", Op: provider.LessEqual, Value: "2026-03-01"}, "day", "noon", "zone"),
	filterRule("AfterABareDateIsTheNextDay", provider.Condition{Path: "datePublished", Op: provider.Greater, Value: "2026-03-01"}, "later"),
	filterRule("BeforeAnInstant", provider.Condition{Path: "datePublished", Op: provider.Less, Value: "2026-03-01T12:00:00Z"}, "day"),
	filterRule("AYearInADocumentIsItsStart", provider.Condition{Path: "dateCreated", Op: provider.Less, Value: "1818-01-02"}, "year"),
	filterRule("AMonthIsThatMonth", provider.Condition{Path: "dateCreated", Op: provider.Equal, Value: "1820-05"}, "month"),
	filterRule("AYearComparesWithDates", provider.Condition{Path: "dateCreated", Op: provider.GreaterEqual, Value: 1820}, "month", "century"),
	filterRule("AYearEqualsItsDates", provider.Condition{Path: "dateCreated", Op: provider.Equal, Value: 1895}, "century"),
	filterRule("ADateComparesWithYears", provider.Condition{Path: "copyrightYear", Op: provider.Less, Value: "1900-01-01"}, "year"),
	filterRule("ASchemaOrgPrefixCountsForNothing", provider.Condition{Path: "availability", Op: provider.Equal, Value: "InStock"}, "stocked"),
	filterRule("NorDoesItInTheValue", provider.Condition{Path: "availability", Op: provider.In, Value: []any{"http://schema.org/InStock", "schema:SoldOut"}}, "stocked", "gone"),
	filterRule("AnUnknownPathHoldsForNothing", provider.Condition{Path: "no.such.path", Op: provider.Equal, Value: "x"}),
	filterRule("NamesArePlainNames", provider.Condition{Path: "*", Op: provider.Exists}, "odd"),
	{"AllConditionsMustHold", func(s *suite) {
		s.wantFiltered(provider.Filter{
			{Path: "@type", Op: provider.Equal, Value: "Product"},
			{Path: "offers.price", Op: provider.Greater, Value: 10},
			{Path: "offers.price", Op: provider.Less, Value: 20},
		}, "number", "several")
	}},
	{"LimitIsFilledBehindTheFilter", func(s *suite) {
		var docs []provider.Document
		for i := range 300 {
			kind := "Article"
			if i%100 == 99 {
				kind = "Book"
			}
			d := object(siteA, fmt.Sprintf("https://a.example/%03d", i), map[string]any{"@type": kind, "name": "Walnut"})
			docs = append(docs, d)
		}
		s.put(docs...)
		q := provider.Query{Text: "walnut", Scope: provider.AllSites(), Limit: 3, Filter: provider.Filter{{Path: "@type", Op: provider.Equal, Value: "Book"}}}
		s.wantURLs(q, "https://a.example/099", "https://a.example/199", "https://a.example/299")
	}},
	{"WhatCannotBeComparedIsInvalid", func(s *suite) {
		s.putOnePerSite()
		for _, c := range []provider.Condition{
			{Path: "price", Op: provider.Equal, Value: nil},
			{Path: "price", Op: provider.Equal, Value: math.NaN()},
			{Path: "price", Op: provider.Less, Value: math.Inf(1)},
			{Path: "price", Op: provider.Equal, Value: []any{1}},
			{Path: "price", Op: provider.Equal, Value: map[string]any{}},
			{Path: "price", Op: provider.Less, Value: "cheap"},
			{Path: "price", Op: provider.Less, Value: true},
			{Path: "price", Op: provider.In, Value: "a"},
			{Path: "price", Op: provider.In, Value: []any{}},
			{Path: "price", Op: provider.In, Value: []any{"a", nil}},
			{Path: "price", Op: provider.Exists, Value: 1},
			{Path: "price", Op: "~", Value: 1},
			{Path: "price", Op: "", Value: 1},
			{Path: "", Op: provider.Equal, Value: 1},
			{Path: "a..b", Op: provider.Equal, Value: 1},
			{Path: ".a", Op: provider.Equal, Value: 1},
			{Path: "price", Op: provider.Equal, Value: "\xff"},
			{Path: "\xff", Op: provider.Equal, Value: 1},
		} {
			_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.AllSites(), Filter: provider.Filter{c}})
			s.wantInvalid(fmt.Sprintf("Search with %+v", c), err, "Query.Filter[0]")
		}
	}},
}
