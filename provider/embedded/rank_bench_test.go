package embedded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// rankedText is what a document is indexed by.
type rankedText struct{ name, text string }

func rankedTexts(b *testing.B) []rankedText {
	b.Helper()
	var list []rankedText
	for _, d := range DebianDocuments(b) {
		var schema struct{ Name, Description string }
		if err := json.Unmarshal(d.Schema, &schema); err != nil {
			b.Fatal(err)
		}
		list = append(list, rankedText{schema.Name, schema.Name + " " + schema.Description})
	}
	return list
}

// rankedSites returns the indexes of n documents on sites of which the k-th has a
// share of 1/k. Documents beyond the texts are copies with other words in every
// seventh place. A site's segments are halves of what the ones before leave.
func rankedSites(texts []rankedText, n, sites int) *searched {
	random := rand.New(rand.NewPCG(1, uint64(sites)))
	upTo, total := make([]float64, sites), 0.0
	for k := range sites {
		total += 1 / float64(k+1)
		upTo[k] = total
	}
	of := make([][]int, sites)
	for i := range n {
		k, _ := slices.BinarySearch(upTo, random.Float64()*total)
		of[k] = append(of[k], i)
	}
	x := new(searched)
	shop, builder := newAnalyser(newLexicon()), new(segmentBuilder)
	for k, list := range of {
		index := &siteIndex{site: siteRow{id: int64(k), name: fmt.Sprintf("%04d.example", k)}}
		for len(list) > 0 {
			size := len(list)
			if size > 500 {
				size /= 2
			}
			var docs []indexed
			for _, i := range list[:size] {
				t := texts[i%len(texts)]
				if i >= len(texts) {
					words := strings.Fields(t.text)
					for at := random.IntN(7); at < len(words); at += 7 {
						other := strings.Fields(texts[random.IntN(len(texts))].text)
						words[at] = other[random.IntN(len(other))]
					}
					t.text = strings.Join(words, " ")
				}
				docs = append(docs, indexed{fmt.Sprintf("https://%d.example/%08d", k, i), shop.document(t.name, t.text, "en")})
			}
			slices.SortFunc(docs, func(a, b indexed) int { return cmp.Compare(a.url, b.url) })
			seg, err := parseSegment(builder.build(shop.lexicon.terms(), docs))
			if err != nil {
				panic(err)
			}
			p := part{segment: seg}
			stats := p.statistics()
			index.stats.add(&stats)
			index.bytes += int64(seg.size)
			index.parts = append(index.parts, indexPart{part: p})
			list = list[size:]
		}
		x.indexes = append(x.indexes, index)
	}
	x.hold()
	return x
}

// BenchmarkRank ranks the documents of all sites of indexes that are in memory.
func BenchmarkRank(b *testing.B) {
	texts := rankedTexts(b)
	random := rand.New(rand.NewPCG(3, 4))
	var queries []string
	for len(queries) < 300 {
		words := strings.Fields(texts[random.IntN(len(texts))].text)
		var q []string
		for range 2 + random.IntN(4) {
			q = append(q, words[random.IntN(len(words))])
		}
		queries = append(queries, strings.Join(q, " "))
	}
	sizes := []struct{ documents, sites int }{{64_000, 1}, {64_000, 58}, {64_000, 1000}}
	if long() {
		sizes = append(sizes, []struct{ documents, sites int }{{1_000_000, 58}, {1_000_000, 1000}}...)
	}
	for _, size := range sizes {
		var x *searched
		b.Run(fmt.Sprintf("%dOn%d", size.documents, size.sites), func(b *testing.B) {
			if x == nil {
				x = rankedSites(texts, size.documents, size.sites)
			}
			bytes := int64(0)
			for _, index := range x.indexes {
				bytes += index.bytes
			}
			st, sc := newStemmer(), new(scratch)
			b.ResetTimer()
			var times []time.Duration
			for i := range b.N {
				start := time.Now()
				w := want(st, queryWords(queries[i%len(queries)]), x.stats)
				list, err := x.rank(b.Context(), sc, w, 50, nil)
				if err != nil || len(list) == 0 {
					b.Fatalf("%d candidates, %v", len(list), err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(len(x.held)), "segments")
			b.ReportMetric(float64(bytes)/(1<<20), "MiB")
		})
	}
}
