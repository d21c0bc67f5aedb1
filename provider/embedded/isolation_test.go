package embedded_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/ingest"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/embedded"
)

const samplesDir = "../../cmd/siteprovider/samples"

// relevanceSets are the judged collections; each is one site, NAME.example.
var relevanceSets = []string{"cranfield", "esci-sample", "elastic-movies"}

// TestSitesAreIsolated fills one store with everything there is to ingest.
func TestSitesAreIsolated(t *testing.T) {
	sources, queries := []string{samplesDir}, []string{
		"noodle soup", "museum", "bicycle", "history of the city", "software", "apple cake", "Konzert", "vegetables with garlic", "a novel about the sea",
	}
	dir, ok := findData()
	if ok && !testing.Short() {
		sources = append(sources, setFiles(dir)...)
		queries = append(queries, setQueries(t, dir)...)
	}
	together := openStore(t)
	ingestInto(t, together, sources...)
	sites, err := together.Sites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(sites) < 6 {
		t.Fatalf("%d sites, want at least the six of the samples", len(sites))
	}

	t.Run("ResultsDoNotDependOnOtherSites", func(t *testing.T) {
		found := 0
		for _, site := range sites {
			alone := openStore(t)
			copySite(t, together, alone, site.Site)
			for i := 0; i < len(queries); i += 1 + len(queries)/40 {
				q := provider.Query{Text: queries[i], Scope: provider.InSites(site.Site), Limit: 30}
				want, got := hitList(t, alone, q), hitList(t, together, q)
				if !slices.Equal(got, want) {
					t.Errorf("Search(%q) in %s beside other sites:\n%s\nalone:\n%s", q.Text, site.Site, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				found += len(want)
			}
		}
		if found == 0 {
			t.Error("no query found anything, which proves nothing")
		}
		t.Logf("%d sites, %d hits: the same alone and beside others", len(sites), found)
	})

	t.Run("AThousandScopedSearchesReturnNothingOfAnotherSite", func(t *testing.T) {
		if !ok {
			t.Skip(noData)
		}
		if testing.Short() {
			t.Skip("needs the relevance sets, which take too long to load for -short")
		}
		hostile := putHostileSites(t, together)
		found := 0
		for i := range 1000 {
			site, text := sites[i%len(sites)].Site, queries[i%len(queries)]
			res, err := together.Search(t.Context(), provider.Query{Text: text, Scope: provider.InSites(site), Limit: 20})
			if err != nil {
				t.Fatalf("Search(%q) in %q: %v", text, site, err)
			}
			found += len(res.Hits)
			for _, h := range res.Hits {
				if h.Site != site {
					t.Fatalf("Search(%q) in site %q returned %s of site %q", text, site, h.URL, h.Site)
				}
			}
		}
		if found < 1000 {
			t.Errorf("1000 searches gave only %d hits: the questions do not fit the documents, which proves nothing", found)
		}
		for site, url := range hostile {
			res, err := together.Search(t.Context(), provider.Query{Text: "aeroelastic kitchen towels", Scope: provider.InSites(site)})
			if err != nil {
				t.Fatalf("Search in site %.60q: %v", site, err)
			}
			if len(res.Hits) != 1 || res.Hits[0].URL != url || res.Hits[0].Site != site {
				t.Errorf("Search in site %.60q gave %d hits, want exactly its own document", site, len(res.Hits))
			}
		}
		t.Logf("1000 searches over %d sites, %d hits, none of another site", len(sites), found)
	})
}

// hitList gives the URL and passage of each hit, in order.
func hitList(t *testing.T, s *embedded.Store, q provider.Query) []string {
	t.Helper()
	res, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", q.Text, err)
	}
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.URL+" "+h.Passage)
	}
	return out
}

// copySite puts the documents of one site of from into to, last URL first, so
// that the order in which documents come in differs as well.
func copySite(t *testing.T, from, to *embedded.Store, site string) {
	t.Helper()
	var urls []string
	for after := ""; ; {
		page, err := from.List(t.Context(), provider.ListQuery{Site: site, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			urls = append(urls, e.URL)
			after = e.URL
		}
		if len(page) < provider.MaxLimit {
			break
		}
	}
	slices.Reverse(urls)
	for batch := range slices.Chunk(urls, 500) {
		objects, err := from.Get(t.Context(), provider.Lookup{URLs: batch, Scope: provider.InSites(site)})
		if err != nil {
			t.Fatal(err)
		}
		var docs []provider.Document
		for _, o := range objects {
			docs = append(docs, provider.Document{URL: o.URL, Site: site, Schema: o.Schema})
		}
		results, err := to.Put(t.Context(), docs)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
}

// putHostileSites puts one document, with the same words, into each of a few
// sites whose names mean something to some query language.
func putHostileSites(t *testing.T, s *embedded.Store) map[string]string {
	t.Helper()
	urls := make(map[string]string)
	var docs []provider.Document
	for i, site := range []string{"x' OR '1'='1", "site:*", `"`, strings.Repeat("4K", provider.MaxSiteBytes/2), "🍜"} {
		url := fmt.Sprintf("https://hostile.example/%d", i)
		urls[site] = url
		docs = append(docs, provider.Document{URL: url, Site: site, Schema: []byte(`{"@type":"Article","name":"Aeroelastic kitchen towels"}`)})
	}
	results, err := s.Put(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return urls
}

func openStore(t *testing.T) *embedded.Store {
	t.Helper()
	s, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ingestInto(t *testing.T, s *embedded.Store, sources ...string) {
	t.Helper()
	report, err := ingest.Run(context.WithoutCancel(t.Context()), ingest.Options{Store: s, Sources: sources})
	if err != nil {
		t.Fatalf("ingest %q: %v", sources, err)
	}
	if report.Stored == 0 {
		t.Fatalf("ingest %q stored nothing: %+v", sources, report)
	}
}

const noData = "the test data is not there; set SITEPROVIDER_DATA to the directory that holds ir/"

// findData returns the directory of the shared test data, if it is there.
func findData() (string, bool) {
	dir := os.Getenv("SITEPROVIDER_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	_, err := os.Stat(filepath.Join(dir, "ir"))
	return dir, err == nil
}

// dataDir is findData for a test that cannot do without.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, ok := findData()
	if !ok {
		t.Skip(noData)
	}
	return dir
}

func setFiles(dir string) []string {
	var files []string
	for _, set := range relevanceSets {
		files = append(files, filepath.Join(dir, "ir", set, "schema.jsonl.gz"))
	}
	return files
}

// setQueries returns the first 225 queries of each set.
func setQueries(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, set := range relevanceSets {
		f, err := os.Open(filepath.Join(dir, "ir", set, "queries.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for n := 0; n < 225 && lines.Scan(); n++ {
			var q struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
				t.Fatal(err)
			}
			out = append(out, q.Text)
		}
		f.Close()
	}
	return out
}
