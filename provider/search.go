package provider

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Query asks for the documents of a scope that match a text.
type Query struct {
	Text   string // plain language; no character of it is query syntax
	Scope  Scope
	Filter Filter // conditions that every hit meets; empty: none
	Limit  int    // most hits wanted, 0 to MaxLimit; 0 means DefaultLimit
}

// Check returns q with its scope and filter in canonical form and its limit
// filled in.
func (q Query) Check() (Query, error) {
	var err error
	if q.Scope, err = q.Scope.Check("Query.Scope"); err != nil {
		return Query{}, err
	}
	if len(q.Text) > MaxQueryBytes {
		return Query{}, Invalidf("Query.Text", "%d bytes are more than MaxQueryBytes = %d", len(q.Text), MaxQueryBytes)
	}
	if !utf8.ValidString(q.Text) {
		return Query{}, Invalidf("Query.Text", "is not valid UTF-8")
	}
	if q.Filter, err = q.Filter.Check("Query.Filter"); err != nil {
		return Query{}, err
	}
	if q.Limit, err = checkLimit("Query.Limit", q.Limit, DefaultLimit); err != nil {
		return Query{}, err
	}
	return q, nil
}

// Blank reports whether q asks for nothing, which every provider answers with
// an empty result and no work.
func (q Query) Blank() bool { return strings.TrimSpace(q.Text) == "" }

func checkLimit(arg string, limit, whenZero int) (int, error) {
	switch {
	case limit < 0:
		return 0, Invalidf(arg, "%d is negative", limit)
	case limit > MaxLimit:
		return 0, Invalidf(arg, "%d is more than MaxLimit = %d", limit, MaxLimit)
	case limit == 0:
		return whenZero, nil
	}
	return limit, nil
}

// Hit is one document that matched. There is one hit per (Site, URL), and no
// score: the order of the hits is the ranking.
type Hit struct {
	URL   string
	Site  string
	Name  string
	Types []string // without the schema.org prefix, in the document's order
	// Schema is the object as it was ingested, byte for byte: one JSON
	// object or a list of objects. Empty when the backend did not have it
	// at hand; package lookup fetches it.
	Schema []byte
	// Passage is the stretch of the document's text that matches best, at
	// most MaxPassageBytes; empty when the backend has none.
	Passage string
}

// ScoreKind says what ordered the hits, as the backend did it, not as it was
// configured.
type ScoreKind string

// The score kinds of this version of the contract.
const (
	ScoreBM25     ScoreKind = "bm25"
	ScoreVector   ScoreKind = "vector"
	ScoreHybrid   ScoreKind = "hybrid"
	ScoreReranker ScoreKind = "reranker"
)

// Result is the answer to a Query.
type Result struct {
	Hits      []Hit     // best first, in the backend's own order
	Degraded  bool      // some status is not a notice
	Statuses  []Status  // in the order they came up
	Answer    *Answer   // nil when no language model is configured
	ScoreKind ScoreKind // empty only when there is no hit
}

// Answer is what a language model made of the hits.
type Answer struct {
	Text *string // nil when the model failed, which costs no hit
}

// StatusKind classes a Status.
type StatusKind string

// The kinds of Status.
const (
	StatusProblem StatusKind = "problem" // the answer is worse than it should be
	StatusUnknown StatusKind = "unknown" // a code this version does not know; counts as a problem
	StatusNotice  StatusKind = "notice"  // for information; degrades nothing
)

// Codes of the statuses that this project's own backends report.
const (
	StatusSiteUnknown     = "SITE_UNKNOWN"     // notice: a site of the scope holds nothing; the message names the nearest
	StatusResultTruncated = "RESULT_TRUNCATED" // problem: hits past MaxReplyBytes came without their Schema
)

// Status is something a backend had to say about an answer.
type Status struct {
	Code    string
	Message string
	Kind    StatusKind
}

// AddStatus appends st and keeps Degraded in step with it.
func (r *Result) AddStatus(st Status) {
	r.Statuses = append(r.Statuses, st)
	if st.Kind != StatusNotice {
		r.Degraded = true
	}
}

// Fit cuts r to MaxReplyBytes: it takes the Schema from the hits that do not
// fit, and where even that is not enough, name, types and passage. Hits are
// served in order, and a later hit that still fits keeps its Schema. What was
// taken is reported with one status RESULT_TRUNCATED. Every backend calls Fit
// on what it returns; a result that fits is left as it is.
func (r *Result) Fit() {
	room := MaxReplyBytes
	for i := range r.Hits {
		room -= len(r.Hits[i].URL) + len(r.Hits[i].Site)
	}
	bare, cut := 0, 0
	for i := range r.Hits {
		h := &r.Hits[i]
		n := len(h.Name) + len(h.Passage)
		for _, t := range h.Types {
			n += len(t)
		}
		if n > room {
			h.Name, h.Types, h.Passage = "", nil, ""
			bare++
			continue
		}
		room -= n
	}
	for i := range r.Hits {
		h := &r.Hits[i]
		if len(h.Schema) > max(room, 0) {
			h.Schema = nil
			cut++
			continue
		}
		room -= len(h.Schema)
	}
	if bare+cut > 0 {
		r.reportCut(bare, cut)
	}
}

// reportCut says how many hits came without something that they have.
func (r *Result) reportCut(bare, cut int) {
	var parts []string
	if cut > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d hits came without their object", cut, len(r.Hits)))
	}
	if bare > 0 {
		parts = append(parts, fmt.Sprintf("%d without name, types and passage", bare))
	}
	r.AddStatus(Status{
		Code:    StatusResultTruncated,
		Message: fmt.Sprintf("%s: the reply would have been over %d bytes; get objects by URL", strings.Join(parts, ", "), MaxReplyBytes),
		Kind:    StatusProblem,
	})
}
