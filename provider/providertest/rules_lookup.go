package providertest

import (
	"fmt"
	"slices"

	"github.com/siteprovider/siteprovider/provider"
)

var getRules = []rule{
	{"OneObjectPerURLInOrder", func(s *suite) {
		urls := s.putOnePerSite()
		ask := []string{urls[2], "https://a.example/missing", urls[0], urls[2]}
		objects, err := s.p.Get(s.ctx(), provider.Lookup{URLs: ask, Scope: provider.AllSites()})
		if err != nil || len(objects) != len(ask) {
			s.Fatalf("Get of %d URLs: %d objects, %v", len(ask), len(objects), err)
		}
		for i, o := range objects {
			if o.URL != ask[i] || o.Found != (i != 1) {
				s.Errorf("object %d: URL %q found %v, want %q found %v", i, o.URL, o.Found, ask[i], i != 1)
			}
		}
		if o := objects[1]; o.Site != "" || o.Ambiguous || len(o.Schema) != 0 {
			s.Errorf("an object that was not found holds %+v", o)
		}
	}},
	{"NormalFormIsFound", func(s *suite) {
		stored := doc(siteA, "https://a.example/b/c?q=%C3%A9#f", "Walnut", "bread")
		s.put(stored)
		for _, ask := range []string{
			"HTTPS://A.Example/b/c?q=%C3%A9#f", "https://a.example:443/b/c?q=%C3%A9#f", "https://a.example/b/./x/../c?q=%C3%A9#f",
			"https://a.example/%62/c?q=%c3%a9#f", "https://a.example/b/%2e/c?q=%C3%A9#f",
		} {
			o := s.get(provider.AllSites(), ask)
			if !o.Found || o.URL != stored.URL || o.Site != siteA {
				s.Errorf("Get(%q) = %q of %q, found %v; want the document under its stored URL", ask, o.URL, o.Site, o.Found)
			}
		}
		for _, ask := range []string{
			"https://a.example/b/c?q=%C3%A9", "https://a.example/b/c/?q=%C3%A9#f", "http://a.example/b/c?q=%C3%A9#f", "https://a.example/B/c?q=%C3%A9#f",
			"https://a.example:8443/b/c?q=%C3%A9#f", "https://a.example//b/c?q=%C3%A9#f", "https://a.example/b/c?q=é#f", "a.example/b/c?q=%C3%A9#f",
		} {
			if o := s.get(provider.AllSites(), ask); o.Found {
				s.Errorf("Get(%q) found %q: the two are different URLs", ask, o.URL)
			}
		}
	}},
	{"ANormalFormOfWhatIsStoredIsFound", func(s *suite) {
		stored := doc(siteA, "HTTPS://A.Example:443/x/../y", "Walnut", "bread")
		s.put(stored)
		s.wantObject(stored)
		if o := s.get(provider.AllSites(), "https://a.example/y"); !o.Found || o.URL != stored.URL {
			s.Errorf("found %v %q, want %q", o.Found, o.URL, stored.URL)
		}
	}},
	{"TheExactURLComesBeforeTheNormalForm", func(s *suite) {
		exact := doc(siteB, "https://A.example/x", "Exact", "walnut")
		s.put(doc(siteA, "https://a.example/x", "Normal", "walnut"), exact)
		if o := s.get(provider.AllSites(), exact.URL); o.Site != siteB || o.URL != exact.URL || o.Ambiguous {
			s.Errorf("Get(%q) gave %q of %q, ambiguous %v; want the exact URL, which one site holds", exact.URL, o.URL, o.Site, o.Ambiguous)
		}
	}},
	{"TheSiteOfTheHostWins", func(s *suite) {
		for _, url := range []string{"https://www.b.example/x", "https://b.example:8443/x", "https://B.EXAMPLE/y"} {
			s.put(doc(siteA, url, "A", "walnut"), doc(siteB, url, "B", "walnut"), doc(siteC, url, "C", "walnut"))
			if o := s.get(provider.AllSites(), url); o.Site != siteB || !o.Ambiguous {
				s.Errorf("Get(%q) chose %q, ambiguous %v; want %q, ambiguous", url, o.Site, o.Ambiguous, siteB)
			}
			if o := s.get(provider.InSites(siteC, siteA), url); o.Site != siteA || !o.Ambiguous {
				s.Errorf("Get(%q) in %q and %q chose %q, ambiguous %v; want the first by name, ambiguous", url, siteC, siteA, o.Site, o.Ambiguous)
			}
			if o := s.get(provider.InSites(siteC), url); o.Site != siteC || o.Ambiguous {
				s.Errorf("Get(%q) in %q chose %q, ambiguous %v; want it, not ambiguous", url, siteC, o.Site, o.Ambiguous)
			}
		}
	}},
	{"NoURLOrABlankOneIsInvalid", func(s *suite) {
		for _, urls := range [][]string{nil, {}, {""}, {"https://a.example/", " "}, {"\xff"}, {"a\nb"}} {
			_, err := s.p.Get(s.ctx(), provider.Lookup{URLs: urls, Scope: provider.AllSites()})
			s.wantInvalid(fmt.Sprintf("Get of %q", urls), err, "Lookup.URLs")
		}
	}},
	{"HostileURLsMatchExactlyThemselves", func(s *suite) {
		var docs []provider.Document
		for i, tail := range []string{"' OR '1'='1", `"`, "%", "_", "*", "?a=1&b='x'", "日本", "🍜", `\`, "a b", "<b>", "{}", "$.x", "--"} {
			docs = append(docs, doc(siteA, "https://a.example/"+tail, fmt.Sprintf("Walnut %d", i), "bread"))
		}
		s.put(docs...)
		for _, d := range docs {
			s.wantObject(d)
		}
	}},
}

var listRules = []rule{
	{"PagesAreSortedAndComplete", func(s *suite) {
		s.putMany(25)
		s.put(doc(siteB, "https://b.example/1", "Walnut", "bread"), doc(siteA, "https://a.example/É", "Walnut", "bread"))
		var got []string
		after := ""
		for {
			page, err := s.p.List(s.ctx(), provider.ListQuery{Site: siteA, After: after, Limit: 10})
			if err != nil {
				s.Fatalf("List: %v", err)
			}
			for _, e := range page {
				if e.URL <= after {
					s.Fatalf("List gave %q after %q, want ascending URLs", e.URL, after)
				}
				after = e.URL
				got = append(got, e.URL)
			}
			if len(page) < 10 {
				break
			}
		}
		if len(got) != 26 || !slices.Contains(got, "https://a.example/É") || slices.Contains(got, "https://b.example/1") {
			s.Errorf("List gave %d URLs %q, want the 26 of the site", len(got), got)
		}
	}},
	{"HashIsThatOfTheDocument", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		named := doc(siteA, "https://a.example/2", "Walnut", "bread")
		named.Name = "Given"
		s.put(d, named)
		page, err := s.p.List(s.ctx(), provider.ListQuery{Site: siteA})
		if err != nil || len(page) != 2 {
			s.Fatalf("List: %d entries, %v", len(page), err)
		}
		for i, d := range []provider.Document{d, named} {
			if page[i].Hash != d.Hash() || !page[i].Indexed {
				s.Errorf("entry %d: hash %s, indexed %v; want %s, indexed", i, page[i].Hash, page[i].Indexed, d.Hash())
			}
		}
	}},
	{"AnUnknownSiteIsEmpty", func(s *suite) {
		s.putOnePerSite()
		if page, err := s.p.List(s.ctx(), provider.ListQuery{Site: "nowhere.example"}); err != nil || len(page) != 0 {
			s.Errorf("List of an unknown site: %d entries, %v; want none", len(page), err)
		}
	}},
	{"ABlankSiteIsInvalid", func(s *suite) {
		for _, site := range []string{"", " ", "all", "*"} {
			_, err := s.p.List(s.ctx(), provider.ListQuery{Site: site})
			s.wantInvalid(fmt.Sprintf("List of site %q", site), err, "Site")
		}
	}},
}
