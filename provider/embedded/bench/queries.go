package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/schemaorg"
)

// question is a query and the sites it is put to.
type question struct {
	text string
	site string   // of the document its words are from
	five []string // that site and four others; nil where there are fewer than five
}

// scope is a row of the table: how much a query searches.
type scope struct {
	name  string
	sites func(q question) []string // nil: every site
	few   int                       // sites that the corpus must have
}

func scopes(sites int) []scope {
	all := []scope{
		{"one site", func(q question) []string { return []string{q.site} }, 1},
		{"five sites", func(q question) []string { return q.five }, 5},
		{"AllSites", func(question) []string { return nil }, 1},
	}
	return slices.DeleteFunc(all, func(s scope) bool { return s.few > sites })
}

// questions draws n of two to five words of one document each. Function words
// are drawn as they occur, but at least two words are none.
func (c *corpus) questions(n, sites int) ([]question, error) {
	rng := c.rng(0, 4)
	var list []question
	for tries := 0; len(list) < n; tries++ {
		if tries > 100*n {
			return nil, fmt.Errorf("the documents have too few words to make %d queries of", n)
		}
		i := rng.IntN(c.n)
		d, err := c.document(i)
		if err != nil {
			return nil, err
		}
		described := schemaorg.Describe(d.Schema)
		text, ok := drawWords(described.Name+" "+described.Text, rng)
		if !ok {
			continue
		}
		q := question{text: text, site: d.Site}
		if sites >= 5 {
			q.five = c.fiveSites(d.Site, rng)
		}
		list = append(list, q)
	}
	return list, nil
}

func drawWords(text string, rng *rand.Rand) (string, bool) {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notOfWord) {
		if len(w) > 1 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[:min(len(words), 2+rng.IntN(4))]
	telling := 0
	for _, w := range words {
		if !stopWords[w] {
			telling++
		}
	}
	return strings.Join(words, " "), telling >= 2
}

// fiveSites draws four sites beside site; large ones come up more often.
func (c *corpus) fiveSites(site string, rng *rand.Rand) []string {
	list := []string{site}
	for len(list) < 5 {
		if s := c.site(rng.IntN(c.n)); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
