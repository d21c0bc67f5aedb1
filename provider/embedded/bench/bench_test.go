package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
	args := []string{"-docs", writeDocuments(t, 200), "-runs", "300x7:20", "-alone", "200x1:5",
		"-opens", "2", "-batch", "16", "-quiet", "20ms", "-check", "-dir", t.TempDir()}
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	document := out.String()
	both, overview, _ := strings.Cut(document, "## All of them")
	several, alone, _ := strings.Cut(both, "## 200 documents, one site")
	for _, of := range []struct {
		name, text string
		want       []string
	}{
		{"300 documents", several, []string{
			"## 300 documents, 7 sites", "sites: 7,", "queries in each scope: 20,", "|  | embedded | fts5 | bleve | embedded against the best other |",
			"| ingest, durable, batches of 16:", "| settling after it:", "| one site: ms", "| five sites: ms", "| AllSites: ms", "| open: ms",
			"| first query, biggest site", "| first query, AllSites", "| one process: MB, prop", "| two processes: MB, prop", "| disk: MB", "| bytes written",
			"Checked 180 answers", // 20 queries, 3 scopes, 3 engines
		}},
		{"200 documents", alone, []string{"|  | embedded |\n", "| one site: ms", "| AllSites: ms", "Checked 10 answers"}},
		{"overview", overview, []string{"| ingest docs/s |", "\n| 300 documents, 7 sites |", "\n| 200 documents, one site |"}},
	} {
		for _, want := range of.want {
			if !strings.Contains(of.text, want) {
				t.Errorf("%s: there is no %q in\n%s", of.name, want, document)
			}
		}
	}
	if strings.Contains(alone, "five sites") || strings.Contains(document, "refused") && runtime.GOOS == "linux" {
		t.Errorf("five of one site, or a second process was refused:\n%s", document)
	}
}

func TestEveryEngineReplacesADocumentPutAgain(t *testing.T) {
	for _, c := range contenders() {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			e, err := c.open(ctx, t.TempDir(), false)
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
	c := testCorpus(t, 10, 0, 0, 1)
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

// What an engine leaves behind is measured; a log that its next opening would
// do away with is no part of it.
func TestFTS5LeavesNoLogBehind(t *testing.T) {
	dir := t.TempDir()
	e, err := openFTS5(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := testCorpus(t, 20, 0, 0, 1).documents(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.put(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if _, err := e.search(t.Context(), "kettle", nil, 10); err != nil {
		t.Fatal(err)
	}
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "fts5.db" {
		t.Errorf("there are %v, want only fts5.db", left)
	}
}
