package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// TestMain makes the test binary serve as the child processes, too.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		beChild(name)
		return
	}
	os.Exit(m.Run())
}

// writeDocuments writes n objects on three hosts, every other one wrapped.
func writeDocuments(t *testing.T, n int) string {
	t.Helper()
	words := strings.Fields("anchor bridge candle desert engine forest garden harbour island jacket kettle ladder mirror needle orchard pepper quarry ribbon saddle tunnel")
	var file bytes.Buffer
	for i := range n {
		site := fmt.Sprintf("host%d.example", i%3)
		url := fmt.Sprintf("https://%s/%d", site, i)
		object, err := json.Marshal(map[string]any{
			"@context": "https://schema.org", "@type": "Article", "@id": url + "#it", "url": url,
			"name":        fmt.Sprintf("%s %s %d", words[i%20], words[i/20%20], i),
			"description": fmt.Sprintf("The %s of a %s in the %s with the %s", words[i*7%20], words[i*3%20], words[i/3%20], words[i/7%20]),
		})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			object = fmt.Appendf(nil, `{"url":%q,"site":%q,"schema":%s}`, url, site, object)
		}
		file.Write(append(object, '\n'))
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBenchRunsEveryEngineOnTheSameDocumentsAndQueries(t *testing.T) {
	var out bytes.Buffer
	args := []string{"-docs", writeDocuments(t, 200), "-n", "300", "-sites", "7", "-queries", "20", "-opens", "2", "-batch", "64", "-check", "-dir", t.TempDir()}
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	table := out.String()
	for _, want := range []string{
		"Documents: 300,", "sites: 7,", "| embedded |", "| fts5 (modernc.org/sqlite v1.", "| bleve (github.com/blevesearch/bleve/v2 v2.",
		"| ingest, durable", "| one site: ms", "| five sites: ms", "| AllSites: ms", "| open: ms", "| first query, biggest site", "| disk: MB",
		"Checked 180 answers", // 20 queries, 3 scopes, 3 engines
	} {
		// Versions are not known to a test binary.
		if want, _, _ := strings.Cut(want, " ("); !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestEveryEngineReplacesADocumentPutAgain(t *testing.T) {
	for _, c := range contenders() {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			e, err := c.open(ctx, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer e.close()
			object := `{"@type":"Article","name":"%s","description":"about %s"}`
			for _, word := range []string{"kettle", "ladder"} {
				err := e.put(ctx, []provider.Document{
					{URL: "https://a.example/1", Site: "a.example", Schema: fmt.Appendf(nil, object, word, word)},
					{URL: "https://a.example/1", Site: "b.example", Schema: fmt.Appendf(nil, object, word, word)},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range []struct {
				text  string
				sites []string
				hits  int
			}{
				{"kettle", nil, 0},
				{"ladder", nil, 2},
				{"the ladder", []string{"a.example"}, 1},
				{"ladder", []string{"a.example", "b.example"}, 2},
				{"ladder", []string{"c.example"}, 0},
			} {
				hits, err := e.search(ctx, q.text, q.sites, 10)
				if err != nil {
					t.Fatal(err)
				}
				if len(hits) != q.hits {
					t.Errorf("%q in %q: %d hits, want %d", q.text, q.sites, len(hits), q.hits)
				}
			}
			if n, err := e.count(ctx); err != nil || n != 2 {
				t.Errorf("count: %d, %v, want 2", n, err)
			}
		})
	}
}

func TestCheckFindsWhatIsWrongWithAnAnswer(t *testing.T) {
	c, err := loadCorpus(writeDocuments(t, 10), 0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := (&bench{corpus: c}).objects()
	if err != nil {
		t.Fatal(err)
	}
	hit := func(i int) provider.Hit {
		d, err := c.document(i)
		if err != nil {
			t.Fatal(err)
		}
		return provider.Hit{URL: d.URL, Site: d.Site, Schema: d.Schema}
	}
	other := hit(0)
	other.Schema = hit(1).Schema
	for _, test := range []struct {
		name  string
		hits  []provider.Hit
		sites []string
		want  string // in the error; empty: none
	}{
		{"right", []provider.Hit{hit(0), hit(3)}, []string{"host0.example"}, ""},
		{"right everywhere", []provider.Hit{hit(0), hit(1)}, nil, ""},
		{"another site", []provider.Hit{hit(0), hit(1)}, []string{"host0.example"}, "is of site host1.example"},
		{"twice", []provider.Hit{hit(0), hit(0)}, nil, "comes twice"},
		{"another object", []provider.Hit{other}, nil, "is not the one put"},
		{"invented", []provider.Hit{{URL: "https://x.example/", Site: "host0.example"}}, nil, "was never put"},
		{"none", nil, nil, "no hit"},
		{"too many", []provider.Hit{hit(0), hit(1), hit(2)}, nil, "3 hits"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkHits(test.hits, test.sites, 2, stored)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestCorpusIsTheSameEveryTimeAndCopiesDiffer(t *testing.T) {
	file := writeDocuments(t, 60)
	load := func(n int, seed uint64) []provider.Document {
		c, err := loadCorpus(file, n, 5, seed)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := c.documents(0, n)
		if err != nil {
			t.Fatal(err)
		}
		return docs
	}
	docs, again, otherwise := load(600, 1), load(600, 1), load(600, 2)
	if !reflect.DeepEqual(docs, again) {
		t.Error("the same settings give other documents")
	}
	if reflect.DeepEqual(docs, otherwise) {
		t.Error("another seed gives the same documents")
	}
	seen := map[string]bool{}
	changed, words := 0, 0
	for i, d := range docs {
		if seen[d.URL] {
			t.Fatalf("document %d has the URL %s of an earlier one", i, d.URL)
		}
		seen[d.URL] = true
		if err := provider.CheckSchema("Schema", d.Schema); err != nil {
			t.Fatal(err)
		}
		var object struct{ URL, ID, Description string }
		if err := json.Unmarshal(bytes.Replace(d.Schema, []byte(`"@id"`), []byte(`"id"`), 1), &object); err != nil {
			t.Fatal(err)
		}
		if object.URL != d.URL || object.ID != d.URL+"#it" {
			t.Fatalf("document %s says it is %s and %s", d.URL, object.URL, object.ID)
		}
		var original struct{ Description string }
		if err := json.Unmarshal(docs[i%60].Schema, &original); err != nil {
			t.Fatal(err)
		}
		before, after := strings.Fields(original.Description), strings.Fields(object.Description)
		if i < 60 {
			continue
		}
		words += len(before)
		for k := range before {
			if before[k] != after[k] {
				changed++
			}
		}
	}
	// 5,940 draws of 1/7, some of which give the same word again.
	if share := float64(changed) / float64(words); share < 0.11 || share > 0.16 {
		t.Errorf("%.3f of the words of copies are changed, want about 1/7 = 0.143", share)
	}
}

func TestSitesAreAssignedByZipfUnlessTheFileHasAsMany(t *testing.T) {
	file := writeDocuments(t, 300)
	for _, test := range []struct {
		sites int
		want  map[string]float64 // shares
	}{
		{0, map[string]float64{"host0.example": 1. / 3, "host1.example": 1. / 3, "host2.example": 1. / 3}},
		{3, map[string]float64{"host0.example": 1. / 3, "host1.example": 1. / 3, "host2.example": 1. / 3}},
		{1, map[string]float64{"site0001.example": 1}},
		{2, map[string]float64{"site0001.example": 2. / 3, "site0002.example": 1. / 3}},
	} {
		c, err := loadCorpus(file, 3000, test.sites, 1)
		if err != nil {
			t.Fatal(err)
		}
		sizes := c.siteSizes()
		if len(sizes) != len(test.want) {
			t.Errorf("%d sites asked for: %v", test.sites, sizes)
		}
		for site, want := range test.want {
			if got := float64(sizes[site]) / 3000; math.Abs(got-want) > 0.03 {
				t.Errorf("%d sites asked for: %s has %.3f of the documents, want %.3f", test.sites, site, got, want)
			}
		}
	}
}

func TestFewerDocumentsAreTakenFromAllOverTheFile(t *testing.T) {
	c, err := loadCorpus(writeDocuments(t, 100), 4, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://host0.example/0", "https://host1.example/25", "https://host2.example/50", "https://host0.example/75"}
	var got []string
	for i := range c.n {
		d, err := c.document(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.URL)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
}

func TestPercentileIsByNearestRank(t *testing.T) {
	var list []time.Duration
	for i := range 200 { // 200 ms down to 1 ms
		list = append(list, time.Duration(200-i)*time.Millisecond)
	}
	for _, test := range []struct {
		p    int
		want float64
	}{{50, 100}, {95, 190}, {99, 198}, {100, 200}} {
		if got := percentile(list, test.p); got != test.want {
			t.Errorf("p%d is %v ms, want %v", test.p, got, test.want)
		}
	}
	if got := percentile(list[:1], 50); got != 200 {
		t.Errorf("p50 of one figure is %v, want it", got)
	}
}

func TestRatioIsAgainstTheBestOther(t *testing.T) {
	for _, test := range []struct {
		name string
		row  row
		want string
	}{
		{"less is better", row{figures: [][]float64{{2, 10}, {8, 10}, {6, 30}}}, "3.0 / 1.0 times"},
		{"more is better", row{figures: [][]float64{{100}, {50}, {200}}, more: true}, "0.50 times"},
		{"one rival has none", row{figures: [][]float64{{2}, nil, {5}}}, "2.5 times"},
		{"no rival has any", row{figures: [][]float64{{2}, nil, nil}}, ""},
		{"we have none", row{figures: [][]float64{nil, {1}}}, ""},
		{"neutral", row{figures: [][]float64{{2}, {4}}, neutral: true}, ""},
	} {
		if got := test.row.ratio(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	docs := writeDocuments(t, 10)
	for _, args := range [][]string{
		{},
		{"-docs", docs, "-engines", "embedded,lucene"},
		{"-docs", docs, "-engines", "bleve,bleve"},
		{"-docs", docs, "-batch", "1001"},
		{"-docs", docs, "-queries", "0"},
		{"-docs", docs, "-sites", "-1"},
		{"-docs", docs, "more"},
		{"-docs", docs + ".absent"},
	} {
		if err := run(context.Background(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
