package goodmemtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

type retrieveMemoryRequest struct {
	Message       *string         `json:"message"`
	Context       []contextItem   `json:"context"`
	SpaceKeys     []spaceKey      `json:"spaceKeys"`
	RequestedSize int             `json:"requestedSize"`
	OutputBudget  *tokenBudget    `json:"outputBudget"`
	FetchMemory   *bool           `json:"fetchMemory"`
	FetchContent  *bool           `json:"fetchMemoryContent"`
	HNSW          *hnswOptions    `json:"hnsw"`
	PostProcessor *postProcessor  `json:"postProcessor"`
	Logging       *loggingOptions `json:"logging"`
}

type contextItem struct {
	Text   *string        `json:"text"`
	Binary *binaryContent `json:"binary"`
}

type binaryContent struct {
	ContentType string `json:"contentType"`
	Data        string `json:"data"`
}

type spaceKey struct {
	SpaceID string           `json:"spaceId"`
	Weights []embedderWeight `json:"embedderWeights"`
	Filter  string           `json:"filter"`
}

type embedderWeight struct {
	EmbedderID string  `json:"embedderId"`
	Weight     float64 `json:"weight"`
}

type tokenBudget struct {
	Tokens int `json:"tokens"`
}

type hnswOptions struct {
	EfSearch      *int     `json:"efSearch"`
	IterativeScan *string  `json:"iterativeScan"`
	MaxScanTuples *int     `json:"maxScanTuples"`
	ScanMem       *float64 `json:"scanMemMultiplier"`
}

type loggingOptions struct {
	Enabled    *bool          `json:"enabled"`
	Attributes map[string]any `json:"callerAttributes"`
}

type postProcessor struct {
	Name   string                     `json:"name"`
	Config map[string]json.RawMessage `json:"config"`
}

// defaultSize is what requestedSize is when it is absent or 0, as the reference
// of the Python SDK 0.1.43 says; an older page says 10.
const defaultSize = 20

func (s *Server) retrieve(c *call) reply {
	var in retrieveMemoryRequest
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	return s.run(c, &in)
}

// retrieveByQuery is the form with query parameters.
func (s *Server) retrieveByQuery(c *call) reply {
	message := c.query.Get("message")
	in := retrieveMemoryRequest{Message: &message}
	for _, list := range c.query["spaceIds"] {
		for id := range strings.SplitSeq(list, ",") {
			in.SpaceKeys = append(in.SpaceKeys, spaceKey{SpaceID: id})
		}
	}
	in.RequestedSize, _ = strconv.Atoi(c.query.Get("requestedSize"))
	for name, into := range map[string]**bool{"fetchMemory": &in.FetchMemory, "fetchMemoryContent": &in.FetchContent} {
		if c.query.Has(name) {
			on, _ := strconv.ParseBool(c.query.Get(name))
			*into = &on
		}
	}
	config := make(map[string]json.RawMessage)
	for _, name := range []string{"llm_id", "reranker_id", "relevance_threshold", "llm_temp", "max_results", "chronological_resort"} {
		v := c.query.Get("pp_" + name)
		switch {
		case v == "":
		case strings.HasSuffix(name, "_id"):
			config[name] = marshal(v)
		default:
			config[name] = json.RawMessage(v)
		}
	}
	if len(config) > 0 {
		in.PostProcessor = &postProcessor{Name: postProcessorName, Config: config}
	}
	return s.run(c, &in)
}

// check returns what is wrong with a request, and the filter of each space.
func (s *Server) check(in *retrieveMemoryRequest) ([]*filter.Expr, *reply) {
	var bad []fieldError
	if in.Message == nil || strings.TrimSpace(*in.Message) == "" {
		bad = append(bad, fieldError{"message", "Message is required"})
	}
	if len(in.SpaceKeys) == 0 {
		bad = append(bad, fieldError{"spaceKeys", "At least one space key is required"})
	}
	if in.RequestedSize < 0 {
		bad = append(bad, fieldError{"requestedSize", "Requested size must not be negative"})
	}
	for i := range in.SpaceKeys {
		key := &in.SpaceKeys[i]
		var ok bool
		if key.SpaceID, ok = parseUUID(key.SpaceID); !ok {
			bad = append(bad, fieldError{fmt.Sprintf("spaceKeys[%d].spaceId", i), "Invalid space ID format"})
		}
		for j, w := range key.Weights {
			if _, ok := parseUUID(w.EmbedderID); !ok {
				bad = append(bad, fieldError{fmt.Sprintf("spaceKeys[%d].embedderWeights[%d].embedderId", i, j), "Invalid embedder ID format"})
			}
		}
	}
	if len(bad) > 0 {
		r := invalid(bad...)
		return nil, &r
	}
	filters := make([]*filter.Expr, len(in.SpaceKeys))
	for i, key := range in.SpaceKeys {
		var wrong *reply
		if filters[i], wrong = s.parseFilter(key.Filter); wrong != nil {
			return nil, wrong
		}
	}
	return filters, nil
}

func (s *Server) run(c *call, in *retrieveMemoryRequest) reply {
	filters, wrong := s.check(in)
	if wrong != nil {
		return *wrong
	}
	if in.RequestedSize == 0 {
		in.RequestedSize = defaultSize
	}
	post, wrong := s.readPostProcessor(in)
	if wrong != nil {
		return *wrong
	}
	if strings.Contains(c.acceptHeader(), "text/event-stream") {
		return s.fail(http.StatusNotAcceptable, "goodmemtest streams application/x-ndjson alone")
	}
	out := &stream{}
	if len(c.fault.Instead) > 0 {
		out.statuses(c.fault.Instead)
		return newReply(http.StatusOK, contentNDJSON, out.b)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	spaces := make([]*space, len(in.SpaceKeys))
	for i, key := range in.SpaceKeys {
		var missing *reply
		if spaces[i], missing = s.findSpace(key.SpaceID); missing != nil {
			return *missing
		}
	}
	for _, sp := range spaces {
		for _, e := range sp.Embedders {
			if m := s.models[kindEmbedder][e.EmbedderID]; m == nil || m.embedder.Broken {
				out.status(Status{Code: "EMBEDDER_FAILED", Message: "Embedding failed: Failed to create inference client"})
				return newReply(http.StatusOK, contentNDJSON, out.b)
			}
		}
	}
	var hits []hit
	terms := words(*in.Message)
	for i, sp := range spaces {
		match := s.matcher(filters[i], "")
		hits = append(hits, sp.corpus.search(terms, in.RequestedSize, filters[i], match.accept, s.options.MatchesOnly)...)
		if match.err != nil {
			return s.fail(http.StatusInternalServerError, "Internal server error: %v", match.err)
		}
	}
	if len(spaces) > 1 {
		slices.SortStableFunc(hits, byScore)
		hits = hits[:min(len(hits), in.RequestedSize)]
	}
	result := resultSet{
		id: s.newID(), stage: "retrieve", hits: hits,
		definitions: in.FetchMemory == nil || *in.FetchMemory,
		content:     in.FetchContent != nil && *in.FetchContent,
	}
	out.statuses(c.fault.Before)
	finish := s.postProcess(post, *in.Message, &result, out)
	out.resultSet(&result)
	finish()
	out.statuses(c.fault.After)
	return newReply(http.StatusOK, contentNDJSON, out.b)
}

func (c *call) acceptHeader() string { return c.Header.Get("Accept") }
