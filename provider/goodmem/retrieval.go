package goodmem

import (
	"encoding/json"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// Retrieval is what a server answered to one retrieval.
type Retrieval struct {
	// Chunks are in the server's order, each once.
	Chunks []Chunk
	// Memories are those that the server described, by id.
	Memories map[string]Memory
	// Statuses are in the order in which they came.
	Statuses []Status
	// ScoreKind is ScoreReranker or ScoreVector: what the scores of all chunks
	// are, as the server did it. Empty when there is no chunk.
	ScoreKind provider.ScoreKind
	// Answer is what a language model wrote; nil when none did.
	Answer *string
	// ResultSetID is that of the set that the chunks are of, as far as known.
	ResultSetID string
}

// Degraded reports whether some status is not a notice.
func (r *Retrieval) Degraded() bool {
	for _, s := range r.Statuses {
		if s.Kind != provider.StatusNotice {
			return true
		}
	}
	return false
}

// Chunk is a piece of a memory that matched.
type Chunk struct {
	ID          string // in lower case
	MemoryID    string // of a memory that Retrieval.Memories may lack
	ResultSetID string
	Text        string          // servers may have added a line break
	Metadata    json.RawMessage // a JSON object, or nil
	// RawScore is the number that the server gave; see HasScore.
	RawScore float64
	HasScore bool
	// Kind is what RawScore is.
	Kind provider.ScoreKind
}

// Score is RawScore turned so that more is better: the scores of a vector
// search are negative inner products, of which the lowest is the best.
func (c Chunk) Score() float64 {
	if c.Kind == provider.ScoreVector {
		return -c.RawScore
	}
	return c.RawScore
}

// Status is something a server said about its answer.
type Status struct {
	provider.Status
	Details map[string]string
}

// StatusMalformedStream is the code of the status of an answer that broke off
// or could not be read to its end.
const StatusMalformedStream = "MALFORMED_STREAM"

func newStatus(code, message string, details map[string]string) Status {
	return Status{Status: provider.Status{Code: code, Message: message, Kind: statusKind(code)}, Details: details}
}

// statusKind classes a code by itself, never by its details: a server that
// says FEATURE_DISABLED about another feature says it for information, too.
func statusKind(code string) provider.StatusKind {
	switch code {
	case "FEATURE_DISABLED", "LLM_CAPABILITY_INFERRED":
		return provider.StatusNotice
	case StatusMalformedStream,
		"GOODMEM_STATUS_CODE_UNSPECIFIED", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION",
		"EMBEDDER_FAILED", "EMBEDDER_UNAVAILABLE", "EMBEDDER_TIMEOUT",
		"VECTOR_SEARCH_FAILED", "VECTOR_SEARCH_PARTIAL", "VECTOR_SEARCH_TIMEOUT",
		"SPACE_INACCESSIBLE", "SPACE_NOT_FOUND", "SPACE_NO_EMBEDDERS",
		"CHUNK_NOT_FOUND", "MEMORY_LOAD_FAILED", "MEMORY_CONTENT_UNAVAILABLE",
		"RERANKING_FAILED", "SUMMARIZATION_FAILED", "SUMMARIZATION_TIMEOUT",
		"RATE_LIMITED", "RESOURCE_EXHAUSTED", "CONFIGURATION_ERROR":
		return provider.StatusProblem
	}
	return provider.StatusUnknown
}

// saysNotReranked reports whether a server said that its reranker did not
// work. A NOT_FOUND about something else leaves the scores what they are.
func saysNotReranked(statuses []Status) bool {
	for _, s := range statuses {
		switch s.Code {
		case "RERANKING_FAILED":
			return true
		case "NOT_FOUND":
			_, snake := s.Details["reranker_id"]
			_, camel := s.Details["rerankerId"]
			if snake || camel || strings.Contains(strings.ToLower(s.Message), "reranker") {
				return true
			}
		}
	}
	return false
}
