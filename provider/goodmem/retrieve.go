package goodmem

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// RetrieveQuery asks for chunks.
type RetrieveQuery struct {
	Text   string // as for provider.Query; blank: an empty result without a request
	Filter Expr   // beside the metadata_filter of the settings, which it cannot widen
	Limit  int    // most chunks wanted, 1 to provider.MaxLimit; 0: provider.DefaultLimit
	FetchK int    // most chunks the server is asked for; 0: what the settings say
}

// StatusMinScore is the code of the status of a result that min_score emptied.
const StatusMinScore = "MIN_SCORE_EMPTIED_RESULT"

// Retrieve returns the chunks that match q best, in the server's order. It makes
// one request, and a second one where a space named by space_name is gone.
// Problems inside an answer are in its statuses; the error is for the case that
// there is none.
func (c *Client) Retrieve(ctx context.Context, q RetrieveQuery) (*Retrieval, error) {
	if len(q.Text) > provider.MaxQueryBytes || !utf8.ValidString(q.Text) {
		return nil, provider.Invalidf("RetrieveQuery.Text", "is longer than MaxQueryBytes = %d, or not valid UTF-8", provider.MaxQueryBytes)
	}
	if q.Limit < 0 || q.Limit > provider.MaxLimit {
		return nil, provider.Invalidf("RetrieveQuery.Limit", "%d is not from 0 to MaxLimit = %d", q.Limit, provider.MaxLimit)
	}
	if q.FetchK < 0 || q.FetchK > MaxFetchK {
		return nil, provider.Invalidf("RetrieveQuery.FetchK", "%d is not from 0 to MaxFetchK = %d", q.FetchK, MaxFetchK)
	}
	if q.Limit == 0 {
		q.Limit = provider.DefaultLimit
	}
	if q.FetchK == 0 {
		if q.FetchK = c.settings.FetchK; q.FetchK == 0 {
			q.FetchK = min(3*q.Limit, MaxFetchK)
		}
	}
	if strings.TrimSpace(q.Text) == "" {
		return &Retrieval{Memories: map[string]Memory{}}, nil
	}
	spaces, err := c.spaceIDs(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.retrieve(ctx, q, spaces)
	if hasStatus(err, http.StatusNotFound) && c.forgetSpaces(spaces[0]) {
		if spaces, err = c.spaceIDs(ctx); err != nil {
			return nil, err
		}
		r, err = c.retrieve(ctx, q, spaces)
	}
	if err != nil {
		return nil, err
	}
	for i := range r.Statuses {
		r.Statuses[i].Message = c.words(r.Statuses[i].Message)
	}
	applyMinScore(r, c.settings.MinScore)
	r.Chunks = r.Chunks[:min(len(r.Chunks), q.Limit)]
	return r, nil
}

func (c *Client) retrieve(ctx context.Context, q RetrieveQuery, spaces []string) (*Retrieval, error) {
	filter, err := c.filterText(ctx, spaces[0], All(q.Filter, c.settings.metadataExpr()))
	if err != nil {
		return nil, err
	}
	var keys []map[string]any
	for i, id := range spaces {
		if id, err = checkID(fmt.Sprintf("space_ids[%d]", i), id); err != nil {
			return nil, err
		}
		key := map[string]any{"spaceId": id}
		if filter != "" {
			key["filter"] = filter
		}
		keys = append(keys, key)
	}
	body := map[string]any{"message": q.Text, "spaceKeys": keys, "requestedSize": q.FetchK, "fetchMemory": true}
	config, err := c.postProcessing(q)
	if err != nil {
		return nil, err
	}
	if config != nil {
		body["postProcessor"] = map[string]any{"name": postProcessor, "config": config}
	}
	var out *Retrieval
	ask := call{op: "retrieve", method: http.MethodPost, path: []string{"v1", "memories:retrieve"}, body: body, accept: "application/x-ndjson"}
	err = c.send(ctx, ask, func(r io.Reader) error {
		var err error
		out, err = readStream(ctx, r, c.settings.RerankerID != "")
		return err
	})
	return out, err
}

const postProcessor = "com.goodmem.retrieval.postprocess.ChatPostProcessorFactory"

// postProcessing returns the configuration of the server's post-processor; nil
// where there is none. It never asks for a threshold, whose scale nobody knows,
// and never for the order of time, which would undo that of relevance.
func (c *Client) postProcessing(q RetrieveQuery) (map[string]any, error) {
	s := c.settings
	if s.RerankerID == "" && s.LLMID == "" {
		return nil, nil
	}
	config := map[string]any{"chronological_resort": false, "max_results": q.FetchK}
	for _, id := range []struct{ option, value string }{{"reranker_id", s.RerankerID}, {"llm_id", s.LLMID}} {
		if id.value == "" {
			continue
		}
		canonical, err := checkID(id.option, id.value)
		if err != nil {
			return nil, err
		}
		config[id.option] = canonical
	}
	if s.LLMTemp != nil {
		config["llm_temp"] = *s.LLMTemp
	}
	if s.GenTokenBudget > 0 {
		config["gen_token_budget"] = s.GenTokenBudget
	}
	return config, nil
}

// applyMinScore leaves out chunks that a reranker scored below least. Other
// scores have no scale to compare it with, and a chunk without a score stays.
func applyMinScore(r *Retrieval, least *float64) {
	if least == nil || r.ScoreKind != provider.ScoreReranker {
		return
	}
	var scores []float64
	kept := r.Chunks[:0:0]
	for _, c := range r.Chunks {
		if c.HasScore {
			scores = append(scores, c.RawScore)
		}
		if !c.HasScore || c.RawScore >= *least {
			kept = append(kept, c)
		}
	}
	r.Chunks = kept
	if len(kept) > 0 {
		return
	}
	r.ScoreKind = ""
	r.Statuses = append(r.Statuses, Status{Status: provider.Status{
		Code:    StatusMinScore,
		Message: fmt.Sprintf("min_score %v left nothing of %d chunks, whose scores are from %v to %v", *least, len(scores), slices.Min(scores), slices.Max(scores)),
		Kind:    provider.StatusProblem,
	}})
}
