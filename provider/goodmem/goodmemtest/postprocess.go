package goodmemtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const postProcessorName = "com.goodmem.retrieval.postprocess.ChatPostProcessorFactory"

// Embedder is an embedder to add. Its vectors are the words of the texts.
type Embedder struct {
	ID string // a UUID; empty makes one
	// Broken makes every search of its spaces an EMBEDDER_FAILED.
	Broken bool
}

// Reranker is a reranker to add.
type Reranker struct {
	ID string // a UUID; empty makes one
	// Score scores a chunk for a query, the best highest. nil gives -0.05 to
	// 0.9 by the share of the query's words. It must not call the server.
	Score func(query, chunk string) float64
	// Fail makes each use a RERANKING_FAILED for this reason; the hits keep
	// the scores and the order of the vectors.
	Fail string
	// SilentAbove, when positive, leaves longer lists as they are and says
	// nothing, as some servers were seen to do.
	SilentAbove int
}

// LLM is an LLM to add.
type LLM struct {
	ID string // a UUID; empty makes one
	// Answer writes the answer. nil quotes the first chunk. It must not call
	// the server.
	Answer func(query string, chunks []string) string
	// Fail makes each use a SUMMARIZATION_FAILED for this reason, as "429:
	// rate limit reached".
	Fail string
}

// AddEmbedder adds an embedder and returns its id. An id that is taken, or is
// no UUID, panics, here and in the two functions below.
func (s *Server) AddEmbedder(e Embedder) string {
	return s.addNamed(kindEmbedder, e.ID, map[string]any{"dimensionality": 1024, "distributionType": "DENSE"}, func(m *model) { m.embedder = e })
}

// AddReranker adds a reranker and returns its id.
func (s *Server) AddReranker(r Reranker) string {
	return s.addNamed(kindReranker, r.ID, nil, func(m *model) { m.reranker = r })
}

// AddLLM adds an LLM and returns its id.
func (s *Server) AddLLM(l LLM) string {
	return s.addNamed(kindLLM, l.ID, map[string]any{"providerType": "VLLM"}, func(m *model) { m.llm = l })
}

func (s *Server) addNamed(kind modelKind, id string, values map[string]any, set func(*model)) string {
	if id == "" {
		id = s.newID()
	}
	canonical, ok := parseUUID(id)
	if !ok {
		panic("goodmemtest: an id that is no UUID")
	}
	all := map[string]any{"displayName": "test", "providerType": "TEI", "endpointUrl": "http://model.test", "modelIdentifier": "test-" + canonical}
	maps.Copy(all, values)
	raw := make(map[string]json.RawMessage)
	for name, v := range all {
		raw[name] = marshal(v)
	}
	m, _, conflict := s.addModel(kind, canonical, raw)
	if conflict != "" {
		panic("goodmemtest: " + conflict)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	set(m)
	return canonical
}

// postProcessing is what a request asks for after the search. The zero value
// asks for nothing.
type postProcessing struct {
	rerankerID, llmID string
	threshold         *float64
	size              int
	chronological     bool
}

func (p postProcessing) active() bool { return p.rerankerID != "" || p.llmID != "" }

// readPostProcessor reads the configuration. Keys that it does not know do
// nothing, and so do all of them without a reranker or an LLM.
func (s *Server) readPostProcessor(in *retrieveMemoryRequest) (postProcessing, *reply) {
	p := postProcessing{size: cmp.Or(in.RequestedSize, 10), chronological: s.options.ChronologicalResort}
	if in.PostProcessor == nil {
		return p, nil
	}
	bad := func(format string, args ...any) (postProcessing, *reply) {
		r := s.fail(http.StatusBadRequest, format, args...)
		return p, &r
	}
	if in.PostProcessor.Name != postProcessorName {
		return bad("Unknown post-processor: %s", in.PostProcessor.Name)
	}
	var temperature, budget *float64
	var size *int
	for name, into := range map[string]any{
		"reranker_id": &p.rerankerID, "llm_id": &p.llmID, "relevance_threshold": &p.threshold, "max_results": &size,
		"chronological_resort": &p.chronological, "llm_temp": &temperature, "gen_token_budget": &budget, "prompt": new(string), "sys_prompt": new(string),
	} {
		if raw, ok := in.PostProcessor.Config[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return bad("Invalid post-processor parameter: %s", name)
			}
		}
	}
	switch {
	case size != nil && *size <= 0:
		return bad("max_results must be positive")
	case temperature != nil && (*temperature < 0 || *temperature > 2):
		return bad("llm_temp must be between 0.0 and 2.0")
	case budget != nil && *budget <= 0:
		return bad("gen_token_budget must be positive")
	case size != nil:
		p.size = *size
	}
	return p, nil
}

// postProcess reranks, cuts and sorts the hits, writes the statuses that come
// before them and returns what writes those that come after. The caller holds
// the lock.
func (s *Server) postProcess(p postProcessing, query string, r *resultSet, out *stream) (finish func()) {
	if !p.active() {
		return func() {}
	}
	reranker, noReranker := s.models[kindReranker][strings.ToLower(p.rerankerID)], false
	llm, noLLM := s.models[kindLLM][strings.ToLower(p.llmID)], false
	if p.rerankerID != "" && reranker == nil {
		noReranker = true
		out.status(notFound("Reranker", "reranker_id", p.rerankerID))
	}
	if p.llmID != "" && llm == nil {
		noLLM = true
		out.status(notFound("LLM", "llm_id", p.llmID))
	}
	if p.llmID == "" {
		out.status(Status{
			Code: "FEATURE_DISABLED", Message: "Abstract reply generation disabled: no LLM configured. Add 'llm_id' parameter to enable AI-generated summaries.",
			Details: map[string]string{"required_param": "llm_id", "feature": "summarization"},
		})
	}
	switch {
	case noReranker:
		out.status(Status{"RERANKING_FAILED", "Failed to create reranker client: Exception: Reranker not found: " + p.rerankerID, map[string]string{"reranker_id": p.rerankerID}})
	case reranker == nil:
	case reranker.reranker.Fail != "":
		out.status(Status{"RERANKING_FAILED", "Reranking failed: " + reranker.reranker.Fail, map[string]string{"reranker_id": p.rerankerID}})
	case reranker.reranker.SilentAbove > 0 && len(r.hits) > reranker.reranker.SilentAbove:
	default:
		r.stage = "rerank"
		r.hits = rerank(reranker.reranker, query, r.hits, p.threshold)
	}
	r.hits = r.hits[:min(len(r.hits), p.size)]
	if p.chronological {
		slices.SortStableFunc(r.hits, func(a, b hit) int { return compareMemories(a.chunk.memory, b.chunk.memory) })
	}
	return func() {
		switch {
		case p.llmID == "":
		case noLLM:
			out.status(Status{"SUMMARIZATION_FAILED", "Failed to create LLM inference client: Exception: LLM not found: " + p.llmID, map[string]string{"llm_id": p.llmID}})
		case llm.llm.Fail != "":
			out.status(Status{Code: "SUMMARIZATION_FAILED",
				Message: "StatusOr{status=INTERNAL: Summary unavailable due to LLM processing error: " + llm.llm.Fail + "}"})
		default:
			out.reply(llm.llm.answer(query, r.hits), r.id)
		}
	}
}

func notFound(what, key, id string) Status {
	return Status{"NOT_FOUND", fmt.Sprintf("%[1]s validation failed: Exception: %[1]s not found: %[2]s (ID: %[2]s). Verify the %[3]s exists and is accessible.",
		what, id, map[string]string{"Reranker": "reranker", "LLM": "LLM"}[what]), map[string]string{key: id}}
}

func rerank(r Reranker, query string, hits []hit, threshold *float64) []hit {
	score := r.Score
	if score == nil {
		terms := words(query)
		score = func(_, text string) float64 {
			in := make(map[string]bool)
			for _, w := range words(text) {
				in[w] = true
			}
			n := 0
			for _, t := range terms {
				if in[t] {
					n++
				}
			}
			return -0.05 + 0.95*float64(n)/float64(max(len(terms), 1))
		}
	}
	out := make([]hit, 0, len(hits))
	for _, h := range hits {
		h.score = single(score(query, h.chunk.text))
		if threshold == nil || h.score >= *threshold {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return out
}

func (l LLM) answer(query string, hits []hit) string {
	chunks := make([]string, len(hits))
	for i, h := range hits {
		chunks[i] = h.chunk.text
	}
	switch {
	case l.Answer != nil:
		return l.Answer(query, chunks)
	case len(chunks) == 0:
		return "Nothing was retrieved for: " + query
	}
	return fmt.Sprintf("For %q the first of %d sources says: %s", query, len(chunks), strings.TrimSpace(chunks[0]))
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
