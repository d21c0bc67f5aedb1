package providertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	siteA = "a.example"
	siteB = "b.example"
	siteC = "c.example"
)

var identityRules = []rule{
	{"PutReplacesSameIdentity", func(s *suite) {
		old := doc(siteA, "https://a.example/1", "Walnut bread", "An old recipe with walnuts.")
		s.put(old)
		s.put(doc(siteA, "https://a.example/1", "Plum cake", "A new recipe with plums."))
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()})
		s.wantURLs(provider.Query{Text: "plum", Scope: provider.AllSites()}, old.URL)
		s.wantSites(map[string]int64{siteA: 1})
	}},
	{"SameURLOfAnotherSiteIsAnotherDocument", func(s *suite) {
		url := "https://shared.example/1"
		a, b := doc(siteA, url, "Walnut bread", "from a"), doc(siteB, url, "Walnut cake", "from b")
		s.put(a, b)
		s.wantObject(a)
		s.wantObject(b)
		s.wantSites(map[string]int64{siteA: 1, siteB: 1})
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, url, url)
		s.delete(provider.Selector{Site: siteA, URLs: []string{url}}, 1)
		s.wantObject(b)
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, url)
	}},
	{"URLsAreComparedExactly", func(s *suite) {
		for _, url := range []string{"https://a.example/x", "https://a.example/x/", "https://a.example/X", "https://A.example/x", "https://a.example/x#f", "https://a.example/x?q"} {
			s.put(doc(siteA, url, "Walnut", "bread"))
		}
		s.wantSites(map[string]int64{siteA: 6})
	}},
}

var scopeRules = []rule{
	{"ZeroScopeIsInvalid", func(s *suite) { s.wantScopeRefused(provider.Scope{}) }},
	{"EmptyListIsInvalid", func(s *suite) { s.wantScopeRefused(provider.InSites()) }},
	{"ListOfBlanksIsInvalid", func(s *suite) { s.wantScopeRefused(provider.InSites("", " ", "\u3000")) }},
	{"AllSitesFindsEverySite", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, urls...)
	}},
	{"OneSiteIsAStrictFilter", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(siteB)}, urls[1])
	}},
	{"ListIsAStrictOr", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(siteC, siteA)}, urls[0], urls[2])
	}},
	{"BlankMembersOfAListAreLeftOut", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites("", siteB, " ")}, urls[1])
	}},
	{"RepeatedSitesGiveNoRepeatedHits", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(siteB, siteB, " "+siteB)}, urls[1])
	}},
	{"AnUnknownSiteWidensNothing", func(s *suite) {
		urls := s.putOnePerSite()
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites("nowhere.example", siteB)}, urls[1])
	}},
	{"TheWordAllInAListIsNoWildcard", func(s *suite) {
		s.putOnePerSite()
		for _, name := range []string{"all", "ALL", "*", "%", ".*"} {
			s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(name)})
		}
	}},
	{"GetKeepsToItsScope", func(s *suite) {
		urls := s.putOnePerSite()
		if o := s.get(provider.InSites(siteB), urls[0]); o.Found {
			s.Errorf("Get in site %s found a document of site %s", siteB, o.Site)
		}
	}},
}

// wantScopeRefused wants a search and a lookup of sc refused, with something
// stored that a widened scope would find.
func (s *suite) wantScopeRefused(sc provider.Scope) {
	s.Helper()
	urls := s.putOnePerSite()
	_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: sc})
	s.wantInvalid("Search", err, "Scope")
	_, err = s.p.Get(s.ctx(), provider.Lookup{URLs: urls, Scope: sc})
	s.wantInvalid("Get", err, "Scope")
}

// putOnePerSite stores one document about walnuts in each of three sites.
func (s *suite) putOnePerSite() []string {
	s.Helper()
	var urls []string
	for _, site := range []string{siteA, siteB, siteC} {
		url := "https://" + site + "/walnut"
		s.put(doc(site, url, "Walnut bread", "Bread with walnuts."))
		urls = append(urls, url)
	}
	return urls
}

// hostileSites are names that mean something to some query language, path or
// pattern, and names that differ only a little.
var hostileSites = []string{
	"x' OR '1'='1", `x" OR "1"="1`, `x\' OR 1=1 --`, "site:*", `"`, "'", "%", "_", "a%", "[a-z]", "../a.example", "a.example/b",
	"a.example", "A.example", "a.example.", "a,b", "a b", "🍜", "日本語.example", "münchen.example", "mu\u0308nchen.example",
	"$.site", "a\\", "a\\\\", "NULL", "true", "0", "00", "{}", "<b>", "&amp;",
	strings.Repeat("s", provider.MaxSiteBytes),
}

var siteRules = []rule{
	{"HostileNamesMatchExactlyThemselves", func(s *suite) {
		var docs []provider.Document
		for i, site := range hostileSites {
			docs = append(docs, doc(site, fmt.Sprintf("https://host.example/%d", i), "Walnut bread", "Bread."))
		}
		s.put(docs...)
		want := make(map[string]int64)
		for i, site := range hostileSites {
			want[site] = 1
			s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(site)}, docs[i].URL)
			s.wantObject(docs[i])
		}
		s.wantSites(want)
	}},
	{"SurroundingBlanksAreTrimmed", func(s *suite) {
		d := doc("  a.example\u00a0", "https://a.example/1", "Walnut", "bread")
		s.put(d)
		s.wantSites(map[string]int64{siteA: 1})
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(" a.example ")}, d.URL)
		s.delete(provider.Selector{Site: " a.example ", WholeSite: true}, 1)
	}},
	{"ControlCharactersAreInvalid", func(s *suite) {
		for _, site := range []string{"a\n", "\ta", "a\x00b", "a\u0085b", "a\x7f"} {
			_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.InSites(siteA, site)})
			s.wantInvalid(fmt.Sprintf("Search of site %q", site), err, "Scope")
			_, err = s.p.Get(s.ctx(), provider.Lookup{URLs: []string{"https://a.example/"}, Scope: provider.InSites(site)})
			s.wantInvalid(fmt.Sprintf("Get in site %q", site), err, "Scope")
			_, err = s.p.List(s.ctx(), provider.ListQuery{Site: site})
			s.wantInvalid(fmt.Sprintf("List of site %q", site), err, "Site")
			_, err = s.p.Delete(s.ctx(), provider.Selector{Site: site, WholeSite: true})
			s.wantInvalid(fmt.Sprintf("Delete of site %q", site), err, "Site")
			s.wantPutInvalid(doc(site, "https://a.example/1", "Walnut", "bread"), "Site")
		}
	}},
	{"NamesThatMeanEverySiteAreRefused", func(s *suite) {
		s.putOnePerSite()
		for _, site := range []string{"all", "ALL", " All ", "*", " * "} {
			s.wantPutInvalid(doc(site, "https://a.example/2", "Walnut", "bread"), "Site")
			_, err := s.p.Delete(s.ctx(), provider.Selector{Site: site, WholeSite: true})
			s.wantInvalid(fmt.Sprintf("Delete of site %q", site), err, "Site")
		}
		s.wantSites(map[string]int64{siteA: 1, siteB: 1, siteC: 1})
	}},
	{"AnUnknownSiteIsEmptyAndAtMostNoticed", func(s *suite) {
		s.putOnePerSite()
		res := s.search(provider.Query{Text: "walnut", Scope: provider.InSites("a.exmaple")})
		if len(res.Hits) != 0 || res.Degraded {
			s.Errorf("%d hits, degraded %v; want none, and a notice at most", len(res.Hits), res.Degraded)
		}
		for _, st := range res.Statuses {
			if st.Code == provider.StatusSiteUnknown && st.Kind != provider.StatusNotice {
				s.Errorf("%s is a %s, want a notice", st.Code, st.Kind)
			}
		}
	}},
}

// wantPutInvalid wants d refused alone, beside a good document.
func (s *suite) wantPutInvalid(d provider.Document, arg string) {
	s.Helper()
	good := doc("good.example", "https://good.example/1", "Good", "A good document.")
	results := s.tryPut(good, d)
	if results[0].Outcome == provider.Failed {
		s.Errorf("a good document beside a bad one failed: %v", results[0].Err)
	}
	if results[1].Outcome != provider.Failed {
		s.Errorf("Put of a document with a bad %s = %s, want failed", arg, results[1].Outcome)
		return
	}
	s.wantInvalid("Put", results[1].Err, "documents[1]."+arg)
	s.delete(provider.Selector{Site: good.Site, WholeSite: true}, 1)
}

var blankRules = []rule{
	{"BlankQueryIsEmpty", func(s *suite) {
		s.putOnePerSite()
		for _, text := range []string{"", " ", "\t\r\n", "\u3000\u00a0"} {
			res := s.search(provider.Query{Text: text, Scope: provider.AllSites()})
			if len(res.Hits) != 0 || res.Degraded || len(res.Statuses) != 0 {
				s.Errorf("Search(%q) = %d hits, statuses %v; want an empty result", text, len(res.Hits), res.Statuses)
			}
		}
	}},
	{"BlankQueryDoesNotExcuseABadScope", func(s *suite) {
		_, err := s.p.Search(s.ctx(), provider.Query{Text: " "})
		s.wantInvalid("Search", err, "Scope")
	}},
	{"PunctuationIsWordsOrNothing", func(s *suite) {
		s.put(doc(siteA, "https://a.example/1", "C++ in e-mail", `O'Reilly says "hello" (x:y) AND [z] NEAR/3 -minus`))
		for _, text := range []string{`"`, `'`, "*", "(", ")", "C++", "e-mail", "O'Reilly", `"x`, "/re[/", "x^y", "AND", "OR NOT", "NEAR(", "name:", "a\x00b", "-", "--", "\\", "%", "?", "🍜"} {
			s.search(provider.Query{Text: text, Scope: provider.AllSites()})
		}
		s.wantURLs(provider.Query{Text: "O'Reilly", Scope: provider.AllSites()}, "https://a.example/1")
		s.wantURLs(provider.Query{Text: `zebra" OR "hello`, Scope: provider.InSites(siteB)})
	}},
}

var orderRules = []rule{
	{"BestFirst", func(s *suite) {
		s.put(
			doc(siteA, "https://a.example/weak", "Bread", "Many words about flour, water, salt, yeast, ovens and patience, and one walnut."),
			doc(siteA, "https://a.example/strong", "Walnut", "Walnut walnut."),
			doc(siteA, "https://a.example/none", "Rye", "Nothing of the kind."),
		)
		got := s.urls(provider.Query{Text: "walnut", Scope: provider.AllSites()})
		want := []string{"https://a.example/strong", "https://a.example/weak"}
		if !slices.Equal(got, want) {
			s.Errorf("order %q, want %q", got, want)
		}
	}},
	{"OrderIsStable", func(s *suite) {
		var docs []provider.Document
		for i := range 40 {
			docs = append(docs, doc(siteA, fmt.Sprintf("https://a.example/%02d", i), "Walnut bread", "The same text in each."))
		}
		s.put(docs...)
		q := provider.Query{Text: "walnut", Scope: provider.AllSites(), Limit: 40}
		first := s.urls(q)
		for range 3 {
			if again := s.urls(q); !slices.Equal(first, again) {
				s.Errorf("the same search gave\n%q\nand then\n%q", first, again)
			}
		}
		q.Limit = 10
		if top := s.urls(q); !slices.Equal(first[:10], top) {
			s.Errorf("the top 10 are %q; with a higher limit they were %q", top, first[:10])
		}
	}},
}

var answerRules = []rule{
	{"NoAnswerWithoutALanguageModel", func(s *suite) {
		s.putOnePerSite()
		info, err := s.p.Info(s.ctx())
		if err != nil {
			s.Fatalf("Info: %v", err)
		}
		if slices.Contains(info.Capabilities, provider.CanAnswer) {
			s.Skipf("this provider has a language model")
		}
		if res := s.search(provider.Query{Text: "walnut", Scope: provider.AllSites()}); res.Answer != nil {
			s.Errorf("Answer is %+v without a language model, want nil", res.Answer)
		}
	}},
}
