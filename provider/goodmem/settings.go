package goodmem

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Settings says which server to use and how. BaseURL, APIKey and one of
// SpaceID, SpaceIDs and SpaceName are required. The name in the comment is that
// of the option, which an error about it gives.
type Settings struct {
	BaseURL string // base_url: http or https, without query; slashes at its end count for nothing
	APIKey  Secret // api_key

	SpaceID     string   // space_id
	SpaceIDs    []string // space_ids
	SpaceName   string   // space_name: compared exactly
	EmbedderID  string   // embedder_id: what the space called SpaceName has to have
	CreateSpace bool     // create_space: create SpaceName where there is none; needs EmbedderID

	RerankerID     string   // reranker_id
	LLMID          string   // llm_id
	LLMTemp        *float64 // llm_temp: 0 to 2; needs LLMID
	GenTokenBudget int      // gen_token_budget: tokens of an answer, 1 and more; 0: the server's own; needs LLMID

	FetchK    int    // fetch_k: chunks asked for, up to MaxFetchK; 0: three times the limit of the query
	SiteField string // site_field: of the metadata; "" is "site"
	URLField  string // url_field: of the metadata; "" is "url"

	// MetadataFilter and MetadataExpression are metadata_filter: fields and the
	// values that they must have, or an expression that is sent as it is. Both
	// hold for every search, and only one of them can be given.
	MetadataFilter     map[string]any
	MetadataExpression string
	MinScore           *float64 // min_score: least score of a reranker; other scores have no scale

	CAFile             string        // ca_file: PEM, of the authorities to trust beside the system's
	InsecureSkipVerify bool          // insecure_skip_verify: take any certificate
	Timeout            time.Duration // timeout: of one request; 0: DefaultTimeout
	MaxConnections     int           // max_connections: to the server, up to 1000; 0: DefaultMaxConnections
	BatchSize          int           // batch_size: memories of one request, up to 1000; 0: DefaultBatchSize
	Concurrency        int           // concurrency: requests of a Put at once, up to 64; 0: DefaultConcurrency
	Wait               time.Duration // wait: for indexing; 0: DefaultWait; less: not at all

	// Log is told what an operator should know; nil: slog.Default.
	Log *slog.Logger
}

// What the settings are where they are not given.
const (
	DefaultTimeout        = 60 * time.Second
	DefaultMaxConnections = 32
	DefaultBatchSize      = 50
	DefaultConcurrency    = 4
	DefaultWait           = 3 * time.Minute
	MaxFetchK             = 1000
)

// Secret is a text that no log, error or JSON shows.
type Secret string

const hidden = "[secret]"

// Format writes a placeholder, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns a placeholder.
func (s Secret) String() string { return hidden }

// MarshalJSON returns a placeholder.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// LogValue returns a placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// Check returns s in canonical form: ids in lower case, base_url without slashes
// at its end, and defaults filled in. An error matches provider.ErrInvalid, names
// the option, and repeats no id and no key.
func (s Settings) Check() (Settings, error) {
	for _, check := range []func(*Settings) error{checkServer, checkSpaces, checkModels, checkFields, checkNumbers} {
		if err := check(&s); err != nil {
			return Settings{}, err
		}
	}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	return s, nil
}

func checkServer(s *Settings) error {
	if s.BaseURL == "" {
		return provider.Invalidf("base_url", "is missing; it is the address of the server, such as https://localhost:8080")
	}
	u, err := url.Parse(s.BaseURL)
	switch {
	case err != nil:
		return provider.Invalidf("base_url", "is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return provider.Invalidf("base_url", "does not begin with http:// or https://")
	case u.Hostname() == "":
		return provider.Invalidf("base_url", "names no host")
	case u.User != nil:
		return provider.Invalidf("base_url", "holds a user or a password; the key belongs into api_key")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(s.BaseURL, "#"):
		return provider.Invalidf("base_url", "has a query or a fragment")
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	if s.APIKey == "" {
		return provider.Invalidf("api_key", "is missing")
	}
	for _, r := range string(s.APIKey) {
		if r <= ' ' || r > '~' {
			return provider.Invalidf("api_key", "has a blank, a line break or another character that no key has")
		}
	}
	return nil
}

func checkSpaces(s *Settings) error {
	given := 0
	for _, is := range []bool{s.SpaceID != "", len(s.SpaceIDs) > 0, s.SpaceName != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return provider.Invalidf("space_id", "want one of space_id, space_ids and space_name; %d are given", given)
	}
	var err error
	switch {
	case s.SpaceID != "":
		s.SpaceID, err = checkID("space_id", s.SpaceID)
	case s.SpaceName != "":
		if strings.TrimSpace(s.SpaceName) != s.SpaceName {
			return provider.Invalidf("space_name", "has blanks around it")
		}
		err = checkLiteral("space_name", s.SpaceName)
	default:
		s.SpaceIDs, err = checkIDs("space_ids", s.SpaceIDs)
	}
	if err != nil {
		return err
	}
	if s.CreateSpace && s.SpaceName == "" {
		return provider.Invalidf("create_space", "needs space_name, the name to create")
	}
	if s.CreateSpace && s.EmbedderID == "" {
		return provider.Invalidf("embedder_id", "is missing; create_space needs it")
	}
	return nil
}

func checkModels(s *Settings) error {
	for _, id := range []struct {
		option string
		value  *string
	}{{"embedder_id", &s.EmbedderID}, {"reranker_id", &s.RerankerID}, {"llm_id", &s.LLMID}} {
		if *id.value == "" {
			continue
		}
		var err error
		if *id.value, err = checkID(id.option, *id.value); err != nil {
			return err
		}
	}
	if t := s.LLMTemp; t != nil {
		if s.LLMID == "" {
			return provider.Invalidf("llm_temp", "needs llm_id")
		}
		if !(*t >= 0 && *t <= 2) {
			return provider.Invalidf("llm_temp", "%v is not from 0 to 2", *t)
		}
	}
	if s.GenTokenBudget < 0 {
		return provider.Invalidf("gen_token_budget", "%d is negative", s.GenTokenBudget)
	}
	if s.GenTokenBudget > 0 && s.LLMID == "" {
		return provider.Invalidf("gen_token_budget", "needs llm_id")
	}
	if m := s.MinScore; m != nil && (math.IsNaN(*m) || math.IsInf(*m, 0)) {
		return provider.Invalidf("min_score", "%v is not a finite number", *m)
	}
	return nil
}

func checkFields(s *Settings) error {
	for _, f := range []struct {
		option string
		value  *string
		usual  string
	}{{"site_field", &s.SiteField, "site"}, {"url_field", &s.URLField, "url"}} {
		if *f.value == "" {
			*f.value = f.usual
		}
		if !isFieldName(*f.value) || strings.Contains(*f.value, ".") {
			return provider.Invalidf(f.option, "%q is no field: want letters, digits and underscores", *f.value)
		}
	}
	if s.SiteField == s.URLField {
		return provider.Invalidf("url_field", "%q is site_field, too", s.URLField)
	}
	_, err := s.metadataExpr().render(Backslash)
	return err
}

// metadataExpr is the condition that every search has to meet.
func (s Settings) metadataExpr() Expr {
	if len(s.MetadataFilter) > 0 && s.MetadataExpression != "" {
		return broke(provider.Invalidf("metadata_filter", "is given as fields and as an expression"))
	}
	var all []Expr
	for _, field := range slices.Sorted(maps.Keys(s.MetadataFilter)) {
		e := Compare(field, provider.Equal, s.MetadataFilter[field])
		if e.kind == broken {
			return broke(provider.Invalidf("metadata_filter", "%q: %v", field, e.err))
		}
		all = append(all, e)
	}
	return All(append(all, verbatimExpr("metadata_filter", s.MetadataExpression))...)
}

func checkNumbers(s *Settings) error {
	for _, n := range []struct {
		option       string
		value        *int
		usual, limit int
	}{
		{"fetch_k", &s.FetchK, 0, MaxFetchK},
		{"max_connections", &s.MaxConnections, DefaultMaxConnections, 1000},
		{"batch_size", &s.BatchSize, DefaultBatchSize, provider.MaxBatchDocuments},
		{"concurrency", &s.Concurrency, DefaultConcurrency, 64},
	} {
		if *n.value < 0 || *n.value > n.limit {
			return provider.Invalidf(n.option, "%d is not from 1 to %d", *n.value, n.limit)
		}
		if *n.value == 0 {
			*n.value = n.usual
		}
	}
	if s.Timeout < 0 {
		return provider.Invalidf("timeout", "%v is negative", s.Timeout)
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	if s.Wait == 0 {
		s.Wait = DefaultWait
	}
	return nil
}
