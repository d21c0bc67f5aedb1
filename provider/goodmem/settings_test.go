package goodmem

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

const testKey = "gm_a-key-that-nobody-sees"

func goodSettings() Settings {
	return Settings{BaseURL: "https://goodmem.example:8080/", APIKey: testKey, SpaceID: strings.ToUpper(idA)}
}

func TestSettingsAreFilledInAndPutInOrder(t *testing.T) {
	s, err := goodSettings().Check()
	if err != nil {
		t.Fatal(err)
	}
	if s.BaseURL != "https://goodmem.example:8080" || s.SpaceID != idA || s.SiteField != "site" || s.URLField != "url" ||
		s.Timeout != DefaultTimeout || s.MaxConnections != DefaultMaxConnections || s.BatchSize != DefaultBatchSize ||
		s.Concurrency != DefaultConcurrency || s.Wait != DefaultWait || s.FetchK != 0 || s.Log == nil {
		t.Errorf("got %+v", s)
	}
}

func TestAWrongSettingIsNamed(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	for i, c := range []struct {
		option string
		spoil  func(*Settings)
	}{
		{"base_url", func(s *Settings) { s.BaseURL = "" }},
		{"base_url", func(s *Settings) { s.BaseURL = "goodmem.example" }},
		{"base_url", func(s *Settings) { s.BaseURL = "ftp://goodmem.example" }},
		{"base_url", func(s *Settings) { s.BaseURL = "https://:8080" }},
		{"base_url", func(s *Settings) { s.BaseURL = "https://u:pw@goodmem.example" }},
		{"base_url", func(s *Settings) { s.BaseURL = "https://goodmem.example?a=b" }},
		{"base_url", func(s *Settings) { s.BaseURL = "https://goodmem.example#" }},
		{"base_url", func(s *Settings) { s.BaseURL = "https://goodmem.example/%zz" }},
		{"api_key", func(s *Settings) { s.APIKey = "" }},
		{"api_key", func(s *Settings) { s.APIKey += "\n" }},
		{"api_key", func(s *Settings) { s.APIKey += "é" }},
		{"space_id", func(s *Settings) { s.SpaceID = "" }},
		{"space_id", func(s *Settings) { s.SpaceName = "x" }},
		{"space_id", func(s *Settings) { s.SpaceID = "../" + idA }},
		{"space_ids[1]", func(s *Settings) { s.SpaceID, s.SpaceIDs = "", []string{idA, "x"} }},
		{"space_name", func(s *Settings) { s.SpaceID, s.SpaceName = "", " x" }},
		{"space_name", func(s *Settings) { s.SpaceID, s.SpaceName = "", "x\x00" }},
		{"create_space", func(s *Settings) { s.CreateSpace = true }},
		{"embedder_id", func(s *Settings) { s.SpaceID, s.SpaceName, s.CreateSpace = "", "x", true }},
		{"embedder_id", func(s *Settings) { s.EmbedderID = "x" }},
		{"reranker_id", func(s *Settings) { s.RerankerID = "x" }},
		{"llm_id", func(s *Settings) { s.LLMID = " " }},
		{"llm_temp", func(s *Settings) { s.LLMTemp = number(0) }},
		{"llm_temp", func(s *Settings) { s.LLMID, s.LLMTemp = idC, number(2.1) }},
		{"llm_temp", func(s *Settings) { s.LLMID, s.LLMTemp = idC, number(math.NaN()) }},
		{"gen_token_budget", func(s *Settings) { s.GenTokenBudget = 5 }},
		{"gen_token_budget", func(s *Settings) { s.LLMID, s.GenTokenBudget = idC, -5 }},
		{"min_score", func(s *Settings) { s.MinScore = number(math.Inf(-1)) }},
		{"site_field", func(s *Settings) { s.SiteField = "a-b" }},
		{"url_field", func(s *Settings) { s.URLField = "a.b" }},
		{"url_field", func(s *Settings) { s.URLField = "site" }},
		{"metadata_filter", func(s *Settings) { s.MetadataFilter = map[string]any{"a": nil} }},
		{"metadata_filter", func(s *Settings) { s.MetadataFilter = map[string]any{"a-b": 1} }},
		{"metadata_filter", func(s *Settings) { s.MetadataExpression = "a) OR (b" }},
		{"metadata_filter", func(s *Settings) {
			s.MetadataFilter, s.MetadataExpression = map[string]any{"a": 1}, "b"
		}},
		{"fetch_k", func(s *Settings) { s.FetchK = 1001 }},
		{"max_connections", func(s *Settings) { s.MaxConnections = -1 }},
		{"batch_size", func(s *Settings) { s.BatchSize = 1001 }},
		{"concurrency", func(s *Settings) { s.Concurrency = 65 }},
		{"timeout", func(s *Settings) { s.Timeout = -time.Second }},
	} {
		s := goodSettings()
		c.spoil(&s)
		_, err := s.Check()
		var e *provider.Error
		if !errors.As(err, &e) || !errors.Is(err, provider.ErrInvalid) || e.Arg != c.option {
			t.Errorf("case %d: %v, want an error about %s", i, err, c.option)
		}
		if err != nil && (strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "pw")) {
			t.Errorf("case %d shows a secret: %v", i, err)
		}
	}
}

func TestTheKeyIsNeverWritten(t *testing.T) {
	s := goodSettings()
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "settings", s, "key", s.APIKey)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", s.APIKey)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, s)
		fmt.Fprintf(&out, verb, s.APIKey)
	}
	s.Log = nil
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if text := out.String() + string(b); strings.Contains(text, testKey) || strings.Contains(text, fmt.Sprintf("%x", testKey)) {
		t.Errorf("the key is in %s", text)
	}
}

func TestTheConfiguredFilterHoldsInOrderOfItsFields(t *testing.T) {
	s := goodSettings()
	s.MetadataFilter = map[string]any{"b": true, "a": "x"}
	got, err := s.metadataExpr().render(AnyDialect)
	if want := "(CAST(val('$.a') AS TEXT) = 'x') AND (CAST(val('$.b') AS BOOLEAN) = true)"; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
