package goodmem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// recording returns a recorded answer of a real server.
func recording(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("SITEPROVIDER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	data, err := os.ReadFile(filepath.Join(dir, "..", "goodmem", "fixtures", filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the recordings are not there (%v); SITEPROVIDER_DATA names the directory beside goodmem/fixtures", err)
	}
	return data
}

func TestRecordedAnswersDecode(t *testing.T) {
	disabled := "FEATURE_DISABLED"
	for _, c := range []struct {
		name     string
		reranker bool
		chunks   string // their scores, cut to two places
		memories int
		statuses []string
		degraded bool
		answer   string // what it begins with
	}{
		{"nlweb/retrieve_all.ndjson", false, "-0.56 -0.56 -0.28", 3, nil, false, ""},
		{"nlweb/retrieve_site.ndjson", false, "-0.56 -0.56", 2, nil, false, ""},
		{"nlweb/retrieve_empty.ndjson", false, "", 0, nil, false, ""},
		{"nlweb/retrieve_broken_reranker.ndjson", true, "-0.56 -0.56", 2, []string{"NOT_FOUND", disabled, "RERANKING_FAILED"}, true, ""},
		{"camel/retrieve_llm_ok.ndjson", false, "-0.68", 1, nil, false, "The fixture canary is **ORYX-2290**"},
		{"camel/retrieve_llm_not_found.ndjson", false, "-0.68", 1, []string{"NOT_FOUND", "SUMMARIZATION_FAILED"}, true, ""},
		{"deepeval/retrieve_vector.ndjson", false, "-0.58 -0.37 -0.35", 3, nil, false, ""},
		{"deepeval/retrieve_broken_reranker.ndjson", true, "-0.58 -0.37 -0.35", 3, []string{"NOT_FOUND", disabled, "RERANKING_FAILED"}, true, ""},
		{"deepeval/retrieve_empty.ndjson", false, "", 0, nil, false, ""},
		{"ai-sdk/retrieve_reranked.ndjson", true, "0.81 0.17", 2, []string{disabled}, false, ""},
		{"ai-sdk/retrieve_with_content.ndjson", false, "", -1, nil, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := recording(t, c.name)
			r, err := readStream(t.Context(), bytes.NewReader(data), c.reranker)
			if err != nil {
				t.Fatal(err)
			}
			checkAgainstLines(t, data, r)
			var scores, codes []string
			for _, chunk := range r.Chunks {
				score, _, _ := strings.Cut(gjson.Parse(mustJSON(t, chunk.RawScore)).Raw, "e")
				dot := strings.IndexByte(score, '.')
				scores = append(scores, score[:dot+3])
				if chunk.Kind != r.ScoreKind || (chunk.Kind == provider.ScoreReranker) != (chunk.RawScore > 0) || chunk.Score() <= 0 {
					t.Errorf("score %v of kind %v counts as %v", chunk.RawScore, chunk.Kind, chunk.Score())
				}
			}
			for _, s := range r.Statuses {
				codes = append(codes, s.Code)
			}
			if c.memories >= 0 {
				if got := strings.Join(scores, " "); got != c.chunks {
					t.Errorf("scores %q, want %q", got, c.chunks)
				}
				if len(r.Memories) != c.memories {
					t.Errorf("%d memories, want %d", len(r.Memories), c.memories)
				}
			}
			if strings.Join(codes, " ") != strings.Join(c.statuses, " ") || r.Degraded() != c.degraded {
				t.Errorf("statuses %q, degraded %v, want %q, %v", codes, r.Degraded(), c.statuses, c.degraded)
			}
			if (r.Answer != nil) != (c.answer != "") || r.Answer != nil && !strings.HasPrefix(*r.Answer, c.answer) {
				t.Errorf("answer %v, want %q", r.Answer, c.answer)
			}
		})
	}
}

// checkAgainstLines compares what was read with what encoding/json reads.
func checkAgainstLines(t *testing.T, data []byte, r *Retrieval) {
	t.Helper()
	chunk := 0
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var e struct {
			MemoryDefinition *struct {
				MemoryID, SpaceID, ContentType, ProcessingStatus, OriginalContentSha256 string

				Metadata  map[string]any
				CreatedAt int64
			}
			RetrievedItem *struct {
				Chunk struct {
					ResultSetID    string
					RelevanceScore float64
					Chunk          struct{ ChunkID, MemoryID, ChunkText string }
				}
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if d := e.MemoryDefinition; d != nil {
			m, ok := r.Memories[d.MemoryID]
			if !ok || m.SpaceID != d.SpaceID || m.ContentType != d.ContentType || m.ProcessingStatus != d.ProcessingStatus || m.CreatedAt != d.CreatedAt {
				t.Errorf("memory %+v, want %+v", m, d)
			}
			for k, v := range d.Metadata {
				if s, ok := v.(string); ok && m.MetadataText(k) != s {
					t.Errorf("metadata %q is %q, want %q", k, m.MetadataText(k), s)
				}
			}
			if m.Content != nil {
				if sum := sha256.Sum256(m.Content); hex.EncodeToString(sum[:]) != d.OriginalContentSha256 {
					t.Errorf("the content of %s has another digest than its memory says", d.MemoryID)
				}
			}
		}
		if i := e.RetrievedItem; i != nil {
			if chunk >= len(r.Chunks) {
				t.Fatalf("only %d chunks", len(r.Chunks))
			}
			got := r.Chunks[chunk]
			chunk++
			if got.ID != i.Chunk.Chunk.ChunkID || got.MemoryID != i.Chunk.Chunk.MemoryID || got.Text != i.Chunk.Chunk.ChunkText ||
				got.ResultSetID != i.Chunk.ResultSetID || got.RawScore != i.Chunk.RelevanceScore || !got.HasScore {
				t.Errorf("chunk %+v, want %+v", got, i.Chunk)
			}
			if _, ok := r.Memories[got.MemoryID]; !ok {
				t.Errorf("chunk %s has no memory", got.ID)
			}
		}
	}
	if chunk != len(r.Chunks) {
		t.Errorf("%d chunks, want %d", len(r.Chunks), chunk)
	}
}

func TestRecordedContentIsDecoded(t *testing.T) {
	r, err := readStream(t.Context(), bytes.NewReader(recording(t, "ai-sdk/retrieve_with_content.ndjson")), false)
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, m := range r.Memories {
		if m.Content != nil {
			with++
		}
	}
	if with != len(r.Memories) || with < 2 {
		t.Errorf("%d of %d memories have their content", with, len(r.Memories))
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
