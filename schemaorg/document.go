package schemaorg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// name gives each document its URL, makes one of those that share theirs, and
// adds them to the reading.
func (g *graph) name(p Page, docs []draft) {
	urls, docs := g.urls(p, docs)
	groups := make(map[string][]draft, len(docs))
	var order []string
	for i, d := range docs {
		if groups[urls[i]] == nil {
			order = append(order, urls[i])
		}
		groups[urls[i]] = append(groups[urls[i]], d)
	}
	for _, u := range order {
		g.found(p, u, mainFirst(groups[u]))
	}
}

// urls returns the URL of each document. The only one that names none gets the
// page's, whatever stands beside it, so that a page keeps its address when an
// author is described on it; of several each gets one below the page's. Where
// the page has no URL they are refused.
func (g *graph) urls(p Page, docs []draft) ([]string, []draft) {
	page, err := g.pageURL(p)
	if p.Wrapper && p.URL != "" {
		if err != nil {
			for _, d := range docs {
				g.fail(d.node, p.URL, err)
			}
			return nil, nil
		}
		return slices.Repeat([]string{page}, len(docs)), docs
	}
	urls := make([]string, 0, len(docs))
	named := make([]draft, 0, len(docs))
	taken := make(map[string]bool, len(docs))
	unnamed := 0
	for _, d := range docs {
		u, err := g.address(d.node)
		if err != nil {
			g.fail(d.node, firstString(gjson.Parse(d.url)), err)
			continue
		}
		urls, named = append(urls, u), append(named, d)
		if taken[u] = true; u == "" {
			unnamed++
		}
	}
	free := freeNames{page: page, taken: taken, next: map[string]int{}}
	out := 0
	for i, d := range named {
		u := urls[i]
		switch {
		case u != "":
		case err != nil:
			if written, wrong := g.unusable(d.node); wrong != nil {
				g.fail(d.node, written, wrong)
			} else {
				g.fail(d.node, d.id, err)
			}
			continue
		case unnamed == 1 && !taken[page]:
			u = page
		default:
			u = free.of(d.node)
		}
		urls[out], named[out] = u, d
		out++
	}
	return urls[:out], named[:out]
}

func (g *graph) pageURL(p Page) (string, error) {
	if strings.TrimSpace(p.URL) == "" {
		return "", ErrNoURL
	}
	u, err := resolve(p.URL, p.Base)
	if err != nil {
		return "", fmt.Errorf("name object: the URL of its page %w", err)
	}
	return u, nil
}

// freeNames makes URLs below the page's for documents that have none.
type freeNames struct {
	page  string
	taken map[string]bool
	next  map[string]int // by type, the number to try next
}

func (f *freeNames) of(n *node) string {
	page, _ := cutFragment(f.page)
	if _, fragment := cutFragment(n.id); fragment != "" {
		return page + "#" + fragment
	}
	t := escapeFragment(n.types[0])
	for {
		f.next[t]++
		u := page + "#" + t
		if f.next[t] > 1 {
			u += "-" + strconv.Itoa(f.next[t])
		}
		if !f.taken[u] {
			f.taken[u] = true
			return u
		}
	}
}

// mainFirst orders the nodes of one document: what the page is about, then
// content, then content that is also the page, such as a FAQPage, then what
// supports it, each in source order.
func mainFirst(docs []draft) []draft {
	rank := func(d draft) int {
		switch {
		case d.main:
			return 0
		case isSupporting(d.types):
			return 3
		case slices.ContainsFunc(d.types, boilerplateTypes.has):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(docs, func(a, b draft) int { return rank(a) - rank(b) })
	return docs
}

// found adds a document that holds docs, or refuses them where they are too
// large for one.
func (g *graph) found(p Page, url string, docs []draft) {
	first := docs[0]
	f := Found{URL: url, Site: p.Site, Line: first.line, Script: first.script, Nodes: len(docs)}
	if len(docs) == 1 {
		f.Schema = []byte(first.schema)
	} else {
		f.Schema = []byte{'['}
		for i, d := range docs {
			if i > 0 {
				f.Schema = append(f.Schema, ',')
			}
			f.Schema = append(f.Schema, d.schema...)
		}
		f.Schema = append(f.Schema, ']')
	}
	if err := checkSize(f.Schema); err != nil {
		for _, d := range docs {
			g.fail(d.node, url, err)
		}
		return
	}
	f.Language = p.Language
	for _, d := range docs {
		for _, t := range d.types {
			if len(f.Types) < provider.MaxTypes && !slices.Contains(f.Types, t) {
				f.Types = append(f.Types, t)
			}
		}
		name, language := head(gjson.Parse(d.schema))
		if f.Name == "" {
			f.Name = name
		}
		if language != "" {
			f.Language = ""
		}
	}
	g.reading.Documents = append(g.reading.Documents, f)
}

func checkSize(schema []byte) error {
	if len(schema) > provider.MaxObjectBytes {
		return invalidf("read object: %d bytes are more than %d", len(schema), provider.MaxObjectBytes)
	}
	if depth := provider.JSONDepth(schema); depth > provider.MaxJSONDepth {
		return invalidf("read object: nested %d deep, more than %d", depth, provider.MaxJSONDepth)
	}
	return nil
}
