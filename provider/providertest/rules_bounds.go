package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

var boundRules = []rule{
	{"URL", func(s *suite) {
		long := "https://a.example/" + strings.Repeat("u", provider.MaxURLBytes-len("https://a.example/"))
		d := doc(siteA, long, "Walnut", "bread")
		s.put(d)
		s.wantObject(d)
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()}, long)
		s.wantPutInvalid(doc(siteA, long+"u", "Walnut", "bread"), "URL")
		_, err := s.p.Get(s.ctx(), provider.Lookup{URLs: []string{long + "u"}, Scope: provider.AllSites()})
		s.wantInvalid("Get", err, "Lookup.URLs[0]")
	}},
	{"Site", func(s *suite) {
		long := strings.Repeat("s", provider.MaxSiteBytes+1)
		s.wantPutInvalid(doc(long, "https://a.example/1", "Walnut", "bread"), "Site")
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.InSites(long)})
		s.wantInvalid("Search", err, "Query.Scope")
	}},
	{"Query", func(s *suite) {
		urls := s.putOnePerSite()
		long := "walnut" + strings.Repeat(" x", (provider.MaxQueryBytes-len("walnut"))/2)
		s.wantURLs(provider.Query{Text: long, Scope: provider.InSites(siteA)}, urls[0])
		_, err := s.p.Search(s.ctx(), provider.Query{Text: long + " x", Scope: provider.AllSites()})
		s.wantInvalid("Search", err, "Query.Text")
	}},
	{"QueryOfOneEndlessWord", func(s *suite) {
		s.putOnePerSite()
		s.wantURLs(provider.Query{Text: strings.Repeat("w", provider.MaxQueryBytes), Scope: provider.AllSites()})
	}},
	{"InvalidUTF8", func(s *suite) {
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "wal\xffnut", Scope: provider.AllSites()})
		s.wantInvalid("Search", err, "Query.Text")
		_, err = s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.InSites("a\xff")})
		s.wantInvalid("Search", err, "Query.Scope")
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		name, text, language, kind := d, d, d, d
		name.Name, text.Text, language.Language, kind.Types = "\xff", "\xff", "\xff", []string{"\xff"}
		s.wantPutInvalid(name, "Name")
		s.wantPutInvalid(text, "Text")
		s.wantPutInvalid(language, "Language")
		s.wantPutInvalid(kind, "Types")
	}},
	{"Object", func(s *suite) {
		d := doc(siteA, "https://a.example/1", "Walnut", "bread")
		d.Schema = append(d.Schema, strings.Repeat(" ", provider.MaxObjectBytes-len(d.Schema))...)
		s.put(d)
		s.wantObject(d)
		d.Schema = append(d.Schema, ' ')
		s.wantPutInvalid(d, "Schema")
	}},
	{"Depth", func(s *suite) {
		nested := func(depth int) []byte {
			return []byte(`{"name":"Walnut","x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}")
		}
		d := provider.Document{URL: "https://a.example/1", Site: siteA, Schema: nested(provider.MaxJSONDepth)}
		s.put(d)
		s.wantObject(d)
		d.Schema = nested(provider.MaxJSONDepth + 1)
		s.wantPutInvalid(d, "Schema")
		d.Schema = []byte(strings.Repeat("[", 1<<20))
		s.wantPutInvalid(d, "Schema")
	}},
	{"BatchCount", func(s *suite) {
		docs := make([]provider.Document, provider.MaxBatchDocuments+1)
		for i := range docs {
			docs[i] = doc(siteA, fmt.Sprintf("https://a.example/%d", i), "Walnut", "bread")
		}
		_, err := s.p.Put(s.ctx(), docs)
		s.wantInvalid("Put", err, "documents")
		s.wantSites(map[string]int64{})
	}},
	{"BatchBytes", func(s *suite) {
		var docs []provider.Document
		for i := range 4 {
			d := doc(siteA, fmt.Sprintf("https://a.example/%d", i), "Walnut", "bread")
			d.Schema = append(d.Schema, strings.Repeat(" ", provider.MaxObjectBytes-len(d.Schema))...)
			docs = append(docs, d)
		}
		_, err := s.p.Put(s.ctx(), docs)
		s.wantInvalid("Put", err, "documents")
		s.wantSites(map[string]int64{})
	}},
	{"URLsOfOneCall", func(s *suite) {
		urls := slices.Repeat([]string{"https://a.example/1"}, provider.MaxURLs+1)
		_, err := s.p.Get(s.ctx(), provider.Lookup{URLs: urls, Scope: provider.AllSites()})
		s.wantInvalid("Get", err, "Lookup.URLs")
		_, err = s.p.Delete(s.ctx(), provider.Selector{Site: siteA, URLs: urls})
		s.wantInvalid("Delete", err, "Selector.URLs")
	}},
	{"SitesOfOneScope", func(s *suite) {
		urls := s.putOnePerSite()
		sites := make([]string, provider.MaxSites)
		for i := range sites {
			sites[i] = fmt.Sprintf("n%d.example", i)
		}
		sites[len(sites)-1] = siteB
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.InSites(sites...)}, urls[1])
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.InSites(append(sites, "x")...)})
		s.wantInvalid("Search", err, "Query.Scope")
	}},
	{"Conditions", func(s *suite) {
		f := slices.Repeat(provider.Filter{{Path: "a", Op: provider.Exists}}, provider.MaxConditions+1)
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.AllSites(), Filter: f})
		s.wantInvalid("Search", err, "Query.Filter")
	}},
}

var concurrencyRules = []rule{
	{"CallsSideBySide", func(s *suite) {
		const writers, each = 4, 25
		var wg sync.WaitGroup
		for w := range writers {
			site := fmt.Sprintf("w%d.example", w)
			wg.Go(func() {
				for i := range each {
					d := doc(site, fmt.Sprintf("https://%s/%d", site, i), "Walnut bread", "Bread with walnut.")
					results, err := s.p.Put(s.ctx(), []provider.Document{d})
					if err != nil || results[0].Err != nil {
						s.Errorf("Put beside others: %v %v", err, results)
						return
					}
				}
			})
			wg.Go(func() {
				for range each {
					res, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.InSites(site)})
					if err != nil {
						s.Errorf("Search beside others: %v", err)
						return
					}
					s.checkResult(provider.Query{Scope: provider.InSites(site)}, res)
				}
			})
			wg.Go(func() {
				for range each {
					if _, err := s.p.Sites(s.ctx()); err != nil {
						s.Errorf("Sites beside others: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		want := make(map[string]int64)
		for w := range writers {
			want[fmt.Sprintf("w%d.example", w)] = each
		}
		s.wantSites(want)
	}},
	{"TheSameDocumentsAtOnce", func(s *suite) {
		var docs []provider.Document
		for i := range 20 {
			docs = append(docs, doc(siteA, fmt.Sprintf("https://a.example/%d", i), "Walnut bread", "Bread with walnut."))
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				results, err := s.p.Put(s.ctx(), docs)
				if err != nil {
					s.Errorf("Put of what another call puts: %v", err)
				}
				for _, r := range results {
					if r.Err != nil {
						s.Errorf("Put(%s) of what another call puts: %s, %v", r.URL, r.Outcome, r.Err)
					}
				}
			})
		}
		wg.Wait()
		s.wantSites(map[string]int64{siteA: 20})
		if n := len(s.urls(provider.Query{Text: "walnut", Scope: provider.AllSites()})); n != 20 {
			s.Errorf("%d hits, want each of the 20 documents once", n)
		}
	}},
	{"ADoneContextEndsEveryCall", func(s *suite) {
		urls := s.putOnePerSite()
		canceled, cancel := context.WithCancel(s.Context())
		cancel()
		expired, cancel := context.WithDeadline(s.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for want, ctx := range map[error]context.Context{context.Canceled: canceled, context.DeadlineExceeded: expired} {
			for name, call := range map[string]func() error{
				"Search": func() error {
					_, err := s.p.Search(ctx, provider.Query{Text: "walnut", Scope: provider.AllSites()})
					return err
				},
				"Get": func() error {
					_, err := s.p.Get(ctx, provider.Lookup{URLs: urls, Scope: provider.AllSites()})
					return err
				},
				"List":  func() error { _, err := s.p.List(ctx, provider.ListQuery{Site: siteA}); return err },
				"Sites": func() error { _, err := s.p.Sites(ctx); return err },
				"Put": func() error {
					_, err := s.p.Put(ctx, []provider.Document{doc(siteA, "https://a.example/late", "Walnut", "late")})
					return err
				},
				"Delete": func() error {
					_, err := s.p.Delete(ctx, provider.Selector{Site: siteA, WholeSite: true})
					return err
				},
				"Info": func() error { _, err := s.p.Info(ctx); return err },
			} {
				if err := call(); !errors.Is(err, want) {
					s.Errorf("%s with a done context: %v, want %v", name, err, want)
				}
			}
		}
		s.wantSites(map[string]int64{siteA: 1, siteB: 1, siteC: 1})
	}},
}

var infoRules = []rule{
	{"NamesTheBackendAndCounts", func(s *suite) {
		s.putOnePerSite()
		info, err := s.p.Info(s.ctx())
		if err != nil {
			s.Fatalf("Info: %v", err)
		}
		if info.Name == "" || info.Version == "" || info.Backend == "" {
			s.Errorf("Info = %+v, want a name, a version and a backend", info)
		}
		if info.Documents != 3 && info.Documents != -1 {
			s.Errorf("Documents = %d, want 3, or -1 for unknown", info.Documents)
		}
		if !slices.IsSorted(info.Capabilities) {
			s.Errorf("capabilities %q are not sorted", info.Capabilities)
		}
		for _, c := range []provider.Capability{provider.CanFilter, provider.CanList, provider.CanWrite} {
			if !slices.Contains(info.Capabilities, c) {
				s.Errorf("capabilities %q lack %q, which the suite needs", info.Capabilities, c)
			}
		}
	}},
	{"AnEmptyProviderHoldsNothing", func(s *suite) {
		s.wantSites(map[string]int64{})
		s.wantURLs(provider.Query{Text: "walnut", Scope: provider.AllSites()})
		info, err := s.p.Info(s.ctx())
		if err != nil || info.Documents > 0 {
			s.Errorf("Info of an empty provider: %d documents, %v", info.Documents, err)
		}
	}},
}

var closeRules = []rule{
	{"CallsAfterwardsAreUnavailable", func(s *suite) {
		s.putOnePerSite()
		for range 2 {
			if err := s.p.Close(); err != nil {
				s.Errorf("Close: %v", err)
			}
		}
		_, err := s.p.Search(s.ctx(), provider.Query{Text: "walnut", Scope: provider.AllSites()})
		if !errors.Is(err, provider.ErrUnavailable) {
			s.Errorf("Search after Close: %v, want ErrUnavailable", err)
		}
		if _, err := s.p.Info(s.ctx()); !errors.Is(err, provider.ErrUnavailable) {
			s.Errorf("Info after Close: %v, want ErrUnavailable", err)
		}
	}},
}
