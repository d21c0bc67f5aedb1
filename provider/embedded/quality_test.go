package embedded_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// TestRankingIsAsGoodAsPlainBM25 measures the ranking on the judged sets. The
// floors are the figures of a plain BM25 over name and text of the same sets.
func TestRankingIsAsGoodAsPlainBM25(t *testing.T) {
	if testing.Short() {
		t.Skip("ingests 18,000 documents")
	}
	dir := dataDir(t)
	store := openStore(t)
	ingestInto(t, store, setFiles(dir)...)
	for _, set := range []struct {
		name  string
		floor float64 // nDCG@10
	}{
		{"cranfield", 0.342}, {"esci-sample", 0.707}, {"elastic-movies", 0.725},
	} {
		t.Run(set.name, func(t *testing.T) {
			site := set.name + ".example"
			queries, judged := judgedQueries(t, filepath.Join(dir, "ir", set.name))
			var ndcg, recall float64
			for id, text := range queries {
				res, err := store.Search(t.Context(), provider.Query{Text: text, Scope: provider.InSites(site), Limit: 50})
				if err != nil {
					t.Fatal(err)
				}
				var grades []float64
				for _, h := range res.Hits {
					grades = append(grades, judged[id][h.URL[strings.LastIndexByte(h.URL, '/')+1:]])
				}
				ndcg += nDCG(grades, judged[id], 10)
				recall += recallOf(grades, judged[id])
			}
			n := float64(len(queries))
			t.Logf("%d queries: nDCG@10 %.3f (plain BM25 %.3f), recall@50 %.3f", len(queries), ndcg/n, set.floor, recall/n)
			if ndcg/n < set.floor-0.005 {
				t.Errorf("nDCG@10 is %.3f, want at least the %.3f of plain BM25", ndcg/n, set.floor)
			}
		})
	}
}

// judgedQueries returns the queries of a set that have a relevant document, by
// id, and the grades of documents by query.
func judgedQueries(t *testing.T, dir string) (map[string]string, map[string]map[string]float64) {
	t.Helper()
	judged := make(map[string]map[string]float64)
	eachLine(t, filepath.Join(dir, "qrels", "test.tsv"), func(line string) {
		f := strings.Split(line, "\t")
		grade, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return // the header
		}
		if judged[f[0]] == nil {
			judged[f[0]] = make(map[string]float64)
		}
		judged[f[0]][f[1]] = grade
	})
	queries := make(map[string]string)
	eachLine(t, filepath.Join(dir, "queries.jsonl"), func(line string) {
		var q struct {
			ID   string `json:"_id"`
			Text string
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		for _, grade := range judged[q.ID] {
			if grade > 0 {
				queries[q.ID] = q.Text
			}
		}
	})
	return queries, judged
}

func eachLine(t *testing.T, path string, do func(string)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		do(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// nDCG is the normalised discounted cumulative gain of the first k hits.
func nDCG(hits []float64, judged map[string]float64, k int) float64 {
	var ideal []float64
	for _, grade := range judged {
		ideal = append(ideal, grade)
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	gain := func(grades []float64) float64 {
		sum := 0.0
		for i, grade := range grades[:min(k, len(grades))] {
			sum += grade / math.Log2(float64(i)+2)
		}
		return sum
	}
	if best := gain(ideal); best > 0 {
		return gain(hits) / best
	}
	return 0
}

func recallOf(hits []float64, judged map[string]float64) float64 {
	relevant, found := 0.0, 0.0
	for _, grade := range judged {
		if grade > 0 {
			relevant++
		}
	}
	for _, grade := range hits {
		if grade > 0 {
			found++
		}
	}
	return found / max(1, relevant)
}
