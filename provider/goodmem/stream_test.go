package goodmem

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	begin    = `{"resultSetBoundary":{"resultSetId":"s","kind":"BEGIN","stageName":"retrieve","expectedItems":2}}` + "\n"
	beginRe  = `{"resultSetBoundary":{"resultSetId":"s","kind":"BEGIN","stageName":"rerank"}}` + "\n"
	end      = `{"resultSetBoundary":{"resultSetId":"s","kind":"END","stageName":""}}` + "\n"
	memory1  = `{"memoryDefinition":{"memoryId":"` + idA + `","metadata":{"year":2026.0,"site":"a"},"createdAt":1.0e3}}` + "\n"
	chunk1   = `{"retrievedItem":{"chunk":{"resultSetId":"s","chunk":{"chunkId":"c1","memoryId":"` + idA + `","chunkText":"one\n"},"memoryIndex":0.0,"relevanceScore":-0.5}}}` + "\n"
	chunk2   = `{"retrievedItem":{"chunk":{"resultSetId":"s","chunk":{"chunkId":"c2","memoryId":"` + idA + `","chunkText":"two"},"relevanceScore":0.25}}}` + "\n"
	failed   = `{"status":{"code":"RERANKING_FAILED","message":"m"}}` + "\n"
	strange  = `{"status":{"code":"MOON_PHASE","message":"reranker","details":{"n":1.5}}}` + "\n"
	llmGone  = `{"status":{"code":"NOT_FOUND","message":"LLM not found","details":{"llm_id":"x"}}}` + "\n"
	reGone   = `{"status":{"code":"NOT_FOUND","message":"gone","details":{"rerankerId":"x"}}}` + "\n"
	newEvent = `{"weather":{"a":[1]},"status":5}` + "\n\n"
)

func readText(t *testing.T, text string, reranker bool) *Retrieval {
	t.Helper()
	r, err := readStream(t.Context(), strings.NewReader(text), reranker)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

func codesOf(r *Retrieval) string {
	var codes []string
	for _, s := range r.Statuses {
		codes = append(codes, s.Code)
	}
	return strings.Join(codes, " ")
}

func TestAStreamIsReadWhateverItsOrderAndAdditions(t *testing.T) {
	r := readText(t, begin+newEvent+chunk1+chunk1+chunk2+memory1+end+strange, false)
	if len(r.Chunks) != 2 || r.Chunks[0].ID != "c1" || r.Chunks[1].ID != "c2" {
		t.Errorf("chunks %+v, want c1 and c2", r.Chunks)
	}
	m := r.Memories[r.Chunks[0].MemoryID]
	if m.CreatedAt != 1000 || m.MetadataText("site") != "a" || m.MetadataText("year") != "" {
		t.Errorf("memory %+v", m)
	}
	if s := r.Statuses; len(s) != 1 || s[0].Code != "MOON_PHASE" || s[0].Kind != provider.StatusUnknown || s[0].Details["n"] != "1.5" || !r.Degraded() {
		t.Errorf("statuses %+v, want the unknown one as it came", s)
	}
}

func TestWhatBreaksOffKeepsWhatArrived(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		chunks int
	}{
		"cut in a line":      {begin + chunk1 + chunk2[:40], 1},
		"cut between lines":  {begin + chunk1 + chunk2, 2},
		"no JSON":            {begin + chunk1 + "<html>\n" + chunk2 + end, 1},
		"no object":          {begin + chunk1 + "[]\n" + end, 1},
		"broken UTF-8":       {begin + chunk1 + "{\"a\":\"\xff\"}\n" + end, 1},
		"nested too deep":    {begin + chunk1 + `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}\n" + end, 1},
		"nothing":            {"", 0},
		"a page of a proxy":  {"<html>busy</html>", 0},
		"blanks alone":       {"\n\n", 0},
		"cut in a character": {begin + chunk1 + "{\"a\":\"\xe2\x82", 1},
	} {
		r := readText(t, c.text, false)
		if codesOf(r) != StatusMalformedStream || len(r.Chunks) != c.chunks || !r.Degraded() {
			t.Errorf("%s: %d chunks, statuses %+v, want %d and %s", name, len(r.Chunks), r.Statuses, c.chunks, StatusMalformedStream)
		}
	}
	if r := readText(t, begin+chunk1+strings.TrimSpace(end), false); len(r.Statuses) != 0 {
		t.Errorf("a last line without its end gives %+v", r.Statuses)
	}
}

func TestABrokenConnectionKeepsWhatArrived(t *testing.T) {
	cut := io.MultiReader(strings.NewReader(begin+chunk1), iotest.ErrReader(io.ErrUnexpectedEOF))
	r, err := readStream(t.Context(), cut, false)
	if err != nil || len(r.Chunks) != 1 || codesOf(r) != StatusMalformedStream {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := readStream(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), false); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("broken before anything arrived: %v, want what broke it", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readStream(ctx, io.MultiReader(strings.NewReader(begin), iotest.ErrReader(io.ErrClosedPipe)), false); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v, want the context's error", err)
	}
}

func TestALongAnswerIsBounded(t *testing.T) {
	s := newStream(false)
	s.line = len(begin) + len(chunk1)
	r, err := s.read(t.Context(), strings.NewReader(begin+chunk1+`{"a":"`+strings.Repeat("x", 100_000)+`"}`+"\n"+end))
	if err != nil || len(r.Chunks) != 1 || codesOf(r) != StatusMalformedStream {
		t.Errorf("a long line: %+v, %v", r, err)
	}
	s = newStream(false)
	s.total = 2 * len(begin+chunk1)
	endless := io.MultiReader(strings.NewReader(begin+chunk1), iotest.DataErrReader(blanks{}))
	if r, err = s.read(t.Context(), endless); err != nil || len(r.Chunks) != 1 || codesOf(r) != StatusMalformedStream {
		t.Errorf("an endless answer: %+v, %v", r, err)
	}
}

// blanks is an answer of line breaks that never ends.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestTheScoreKindIsWhatTheServerDid(t *testing.T) {
	const noStage = `{"resultSetBoundary":{"resultSetId":"s","kind":"BEGIN"}}` + "\n"
	for name, c := range map[string]struct {
		text     string
		reranker bool
		want     provider.ScoreKind
	}{
		"vector":                         {begin + chunk1 + end, false, provider.ScoreVector},
		"reranked":                       {beginRe + chunk2 + end, true, provider.ScoreReranker},
		"the reranker was passed over":   {begin + chunk1 + end, true, provider.ScoreVector},
		"it failed before the hits":      {failed + begin + chunk1 + end, true, provider.ScoreVector},
		"it failed behind the hits":      {beginRe + chunk1 + end + failed, true, provider.ScoreVector},
		"it was not found":               {reGone + noStage + chunk1 + end, true, provider.ScoreVector},
		"an LLM was not found":           {llmGone + beginRe + chunk2 + end, true, provider.ScoreReranker},
		"an unknown status names it":     {strange + beginRe + chunk2 + end, true, provider.ScoreReranker},
		"no stage, and one asked for":    {noStage + chunk2 + end, true, provider.ScoreReranker},
		"no stage, and none asked for":   {noStage + chunk1 + end, false, provider.ScoreVector},
		"no chunk":                       {beginRe + end, true, ""},
		"no boundary and none asked for": {chunk1, false, provider.ScoreVector},
	} {
		if r := readText(t, c.text, c.reranker); r.ScoreKind != c.want {
			t.Errorf("%s: %q, want %q", name, r.ScoreKind, c.want)
		}
	}
}

func TestScoresOfTwoKindsAreNotMixed(t *testing.T) {
	first := strings.NewReplacer(`"s"`, `"v"`).Replace(begin + chunk1 + chunk2 + end)
	r := readText(t, first+beginRe+chunk2+end, true)
	if len(r.Chunks) != 1 || r.Chunks[0].ResultSetID != "s" || r.ScoreKind != provider.ScoreReranker || r.ResultSetID != "s" {
		t.Errorf("got %+v of %s, want the reranked chunk alone", r.Chunks, r.ResultSetID)
	}
}

func FuzzAStreamIsReadWithoutHarm(f *testing.F) {
	for _, s := range []string{begin + memory1 + chunk1 + end, beginRe + chunk2 + end + strange + llmGone, failed + newEvent, begin + chunk1[:50], `{"abstractReply":{"text":"\ud800"}}`} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, reranker bool) {
		s := newStream(reranker)
		s.line, s.total = 1<<12, 1<<14
		r, err := s.read(t.Context(), strings.NewReader(string(data)))
		if err != nil {
			t.Fatalf("text alone gave the error %v", err)
		}
		ids := map[string]bool{}
		for _, c := range r.Chunks {
			if c.Kind != r.ScoreKind || c.ID != "" && ids[c.ID] || !utf8.ValidString(c.Text+c.ID+c.MemoryID+string(c.Metadata)) {
				t.Fatalf("chunk %+v of a result of %q", c, r.ScoreKind)
			}
			ids[c.ID] = true
		}
		for _, s := range r.Statuses {
			if !utf8.ValidString(s.Code + s.Message) {
				t.Fatalf("status %+v", s)
			}
		}
		for id, m := range r.Memories {
			if id != m.ID || !utf8.ValidString(m.SpaceID+m.ContentType+m.MetadataText("site")) {
				t.Fatalf("memory %+v", m)
			}
		}
		if r.Answer != nil && !utf8.ValidString(*r.Answer) {
			t.Fatalf("answer %+q", *r.Answer)
		}
	})
}
