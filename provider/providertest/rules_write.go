package providertest

import (
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

var putRules = []rule{
	{"TheSameAgainIsUnchanged", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		s.put(d)
		s.wantOutcomes(s.tryPut(d, doc(siteA, "https://a.example/2", "Plum", "cake")), provider.Unchanged, provider.Stored)
		s.wantSites(map[string]int64{siteA: 2})
	}},
	{"AnotherByteOrNameIsStored", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		s.put(d)
		d.Schema = append(d.Schema, ' ')
		s.wantOutcomes(s.tryPut(d), provider.Stored)
		s.wantObject(d)
		d.Name = "Plum"
		s.wantOutcomes(s.tryPut(d), provider.Stored)
		s.wantURLs(provider.Query{Text: "plum", Scope: provider.AllSites()}, d.URL)
		d.Text = "Raisins"
		s.wantOutcomes(s.tryPut(d), provider.Stored)
		s.wantURLs(provider.Query{Text: "raisins", Scope: provider.AllSites()}, d.URL)
	}},
	{"TheLastOfABatchSupersedes", func(s *suite) {
		url := "https://a.example/1"
		first, other, last := doc(siteA, url, "Walnut", "one"), doc(siteB, url, "Walnut", "two"), doc(" "+siteA, url, "Plum", "three")
		s.wantOutcomes(s.tryPut(first, other, last), provider.Superseded, provider.Stored, provider.Stored)
		last.Site = siteA
		s.wantObject(last)
		s.wantObject(other)
		s.wantSites(map[string]int64{siteA: 1, siteB: 1})
	}},
	{"ABadDocumentFailsAlone", func(s *suite) {
		good := doc(siteA, "https://a.example/1", "Walnut", "bread")
		noURL, noJSON, noSite := good, good, good
		noURL.URL, noJSON.Schema, noSite.Site = "", []byte("{"), " "
		last := doc(siteA, "https://a.example/2", "Plum", "cake")
		s.wantOutcomes(s.tryPut(noURL, good, noJSON, noSite, last), provider.Failed, provider.Stored, provider.Failed, provider.Failed, provider.Stored)
		s.wantObject(good)
		s.wantObject(last)
		s.wantSites(map[string]int64{siteA: 2})
	}},
	{"ABadOneDoesNotSupersedeAGoodOne", func(s *suite) {
		good := doc(siteA, "https://a.example/1", "Walnut", "bread")
		bad := good
		bad.Schema = []byte("null")
		s.wantOutcomes(s.tryPut(good, bad), provider.Stored, provider.Failed)
		s.wantObject(good)
	}},
	{"NothingIsNoError", func(s *suite) {
		if results, err := s.p.Put(s.ctx(), nil); err != nil || len(results) != 0 {
			s.Errorf("Put of nothing: %d results, %v", len(results), err)
		}
	}},
	{"AWholeBatchIsStored", func(s *suite) {
		s.putMany(provider.MaxBatchDocuments)
		s.wantSites(map[string]int64{siteA: provider.MaxBatchDocuments})
	}},
	{"TheCallersBytesAreNotKept", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		given := d
		given.Schema = append([]byte(nil), d.Schema...)
		s.put(given)
		for i := range given.Schema {
			given.Schema[i] = 'x'
		}
		s.wantObject(d)
	}},
}

// wantOutcomes compares outcomes; Pending passes for Stored.
func (s *suite) wantOutcomes(results []provider.PutResult, want ...provider.Outcome) {
	s.Helper()
	for i, r := range results {
		got := r.Outcome
		if got == provider.Pending {
			got = provider.Stored
		}
		if got != want[i] {
			s.Errorf("document %d is %s (%v), want %s", i, r.Outcome, r.Err, want[i])
		}
	}
}

var deleteRules = []rule{
	{"ByURL", func(s *suite) {
		urls := s.putOnePerSite()
		s.delete(provider.Selector{Site: siteA, URLs: []string{urls[0], "https://a.example/missing", urls[1]}}, 1)
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, urls[1], urls[2])
		if s.get(provider.AllSites(), urls[0]).Found {
			s.Errorf("%s was deleted and is found", urls[0])
		}
		s.wantSites(map[string]int64{siteB: 1, siteC: 1})
	}},
	{"RepeatedURLsCountOnce", func(s *suite) {
		urls := s.putOnePerSite()
		s.delete(provider.Selector{Site: siteA, URLs: []string{urls[0], urls[0]}}, 1)
	}},
	{"AWholeSite", func(s *suite) {
		s.putMany(12)
		other := doc(siteB, "https://a.example/001", "Walnut", "bread")
		s.put(other)
		s.delete(provider.Selector{Site: siteA, WholeSite: true}, 12)
		s.wantSites(map[string]int64{siteB: 1})
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, other.URL)
		s.delete(provider.Selector{Site: siteA, WholeSite: true}, 0)
	}},
	{"WhatWasDeletedCanBePutAgain", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		s.put(d)
		s.delete(provider.Selector{Site: siteA, URLs: []string{d.URL}}, 1)
		s.put(d)
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, d.URL)
		s.delete(provider.Selector{Site: siteA, WholeSite: true}, 1)
		s.put(d)
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, d.URL)
		s.wantSites(map[string]int64{siteA: 1})
	}},
	{"AnUnclearSelectorIsInvalid", func(s *suite) {
		urls := s.putOnePerSite()
		for _, sel := range []provider.Selector{
			{}, {WholeSite: true}, {Site: " ", WholeSite: true}, {Site: siteA}, {Site: siteA, URLs: []string{}}, {Site: siteA, URLs: []string{""}},
			{Site: siteA, URLs: []string{urls[0], " "}}, {Site: siteA, URLs: urls, WholeSite: true}, {URLs: urls}, {Site: "all", URLs: urls}, {Site: "*", WholeSite: true},
		} {
			_, err := s.p.Delete(s.ctx(), sel)
			s.wantInvalid(fmt.Sprintf("Delete(%+v)", sel), err, "Selector.")
		}
		s.wantSites(map[string]int64{siteA: 1, siteB: 1, siteC: 1})
	}},
	{"HostileSitesDeleteOnlyThemselves", func(s *suite) {
		s.putOnePerSite()
		for _, site := range []string{"x' OR '1'='1", "%", "_.example", "a.exampl", ".*"} {
			s.delete(provider.Selector{Site: site, WholeSite: true}, 0)
		}
		s.wantSites(map[string]int64{siteA: 1, siteB: 1, siteC: 1})
	}},
}
