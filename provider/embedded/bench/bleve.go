package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/siteprovider/siteprovider/provider"
)

// bleveEngine is a bleve index in its own format (scorch) with BM25 scoring.
// Names count three times, English words are stemmed, objects are stored and
// not indexed, nothing is kept that these queries do not use.
type bleveEngine struct{ index bleve.Index }

// bleveDocument is what a document is to bleve.
type bleveDocument struct {
	Site   string `json:"site"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Schema string `json:"schema"`
}

func openBleve(_ context.Context, dir string, searching bool) (engine, error) {
	path := filepath.Join(dir, "bleve")
	// An index belongs to one process that writes or to several that only
	// read; without the bound another would wait for ever.
	x, err := bleve.OpenUsing(path, map[string]any{"bolt_timeout": "1s", "read_only": searching})
	if errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		x, err = bleve.New(path, bleveMapping())
	}
	if err != nil {
		return nil, err
	}
	return &bleveEngine{x}, nil
}

func bleveMapping() mapping.IndexMapping {
	words := bleve.NewTextFieldMapping()
	words.Analyzer = en.AnalyzerName
	words.Store, words.IncludeInAll, words.IncludeTermVectors, words.DocValues = false, false, false, false
	site := bleve.NewTextFieldMapping()
	site.Analyzer = keyword.Name
	site.Store, site.IncludeInAll, site.IncludeTermVectors, site.DocValues = false, false, false, false
	schema := bleve.NewTextFieldMapping()
	schema.Index, schema.Store, schema.IncludeInAll, schema.IncludeTermVectors, schema.DocValues = false, true, false, false, false

	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("site", site)
	document.AddFieldMappingsAt("name", words)
	document.AddFieldMappingsAt("text", words)
	document.AddFieldMappingsAt("schema", schema)
	document.AddSubDocumentMapping("_all", bleve.NewDocumentDisabledMapping())

	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	m.ScoringModel = index.BM25Scoring
	return m
}

// bleveID is a document's identity; no site and no URL has a control character.
func bleveID(site, url string) string { return site + "\t" + url }

func (e *bleveEngine) put(_ context.Context, docs []provider.Document) error {
	docs = filled(docs)
	batch := e.index.NewBatch()
	for i := range docs {
		d := &docs[i]
		err := batch.Index(bleveID(d.Site, d.URL), bleveDocument{Site: d.Site, Name: d.Name, Text: d.Text, Schema: string(d.Schema)})
		if err != nil {
			return err
		}
	}
	return e.index.Batch(batch) // returns once it is on disk
}

func (e *bleveEngine) search(ctx context.Context, text string, sites []string, limit int) ([]provider.Hit, error) {
	name, body := bleve.NewMatchQuery(text), bleve.NewMatchQuery(text)
	name.SetField("name")
	name.SetBoost(3)
	body.SetField("text")
	var q query.Query = bleve.NewDisjunctionQuery(name, body)
	if len(sites) > 0 {
		q = bleve.NewConjunctionQuery(q, ofSites(sites))
	}
	request := bleve.NewSearchRequestOptions(q, limit, 0, false)
	request.Fields = []string{"schema"}
	result, err := e.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	hits := make([]provider.Hit, len(result.Hits))
	for i, h := range result.Hits {
		schema, _ := h.Fields["schema"].(string)
		hits[i].Site, hits[i].URL, _ = strings.Cut(h.ID, "\t")
		hits[i].Schema = []byte(schema)
	}
	return hits, nil
}

// ofSites matches the documents of sites and adds nothing to their scores.
func ofSites(sites []string) query.Query {
	terms := make([]query.Query, len(sites))
	for i, site := range sites {
		t := bleve.NewTermQuery(site)
		t.SetField("site")
		t.SetBoost(0)
		terms[i] = t
	}
	if len(terms) == 1 {
		return terms[0]
	}
	any := bleve.NewDisjunctionQuery(terms...)
	any.SetBoost(0)
	return any
}

func (e *bleveEngine) count(context.Context) (int64, error) {
	n, err := e.index.DocCount()
	return int64(n), err
}

func (e *bleveEngine) close() error { return e.index.Close() }
