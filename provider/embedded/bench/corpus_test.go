package main

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// testCorpus makes n documents of a file of some.
func testCorpus(t *testing.T, some, n, sites int, seed uint64) *corpus {
	t.Helper()
	originals, err := loadOriginals(writeDocuments(t, some))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCorpus(originals, n, sites, seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCorpusIsTheSameEveryTimeAndCopiesDiffer(t *testing.T) {
	load := func(n int, seed uint64) []provider.Document {
		c := testCorpus(t, 60, n, 5, seed)
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
	for _, test := range []struct {
		sites int
		want  map[string]float64 // shares
	}{
		{0, map[string]float64{"host0.example": 1. / 3, "host1.example": 1. / 3, "host2.example": 1. / 3}},
		{3, map[string]float64{"host0.example": 1. / 3, "host1.example": 1. / 3, "host2.example": 1. / 3}},
		{1, map[string]float64{"site0001.example": 1}},
		{2, map[string]float64{"site0001.example": 2. / 3, "site0002.example": 1. / 3}},
	} {
		sizes := testCorpus(t, 300, 3000, test.sites, 1).siteSizes()
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
	c := testCorpus(t, 100, 4, 0, 1)
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
