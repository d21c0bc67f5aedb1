package goodmem

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest"
	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// shelf is a server with documents of two sites and a client of its space.
func shelf(t *testing.T, o goodmemtest.Options, change func(*goodmemtest.Server, *Settings)) (*goodmemtest.Server, *Client) {
	t.Helper()
	srv := goodmemtest.New(o)
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	space := srv.AddSpace("web")
	for site, text := range map[string]string{"a.example": "noodle soup", `O'Brien\n`: "noodle salad", `x`: "noodle bowl"} {
		srv.AddMemory(space, text, map[string]any{"site": site, "url": "https://" + site, "year": 2020})
	}
	s := Settings{BaseURL: web.URL, APIKey: testKey, SpaceName: "web"}
	change(srv, &s)
	c, err := NewClient(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return srv, c
}

func plain(*goodmemtest.Server, *Settings) {}

func sitesOf(r *Retrieval) string {
	var sites []string
	for _, c := range r.Chunks {
		sites = append(sites, r.Memories[c.MemoryID].MetadataText("site"))
	}
	return strings.Join(sites, " ")
}

func lastBody(t *testing.T, srv *goodmemtest.Server) gjson.Result {
	t.Helper()
	all := srv.RequestsTo(http.MethodPost, "/v1/memories:retrieve")
	if len(all) == 0 {
		t.Fatal("nothing was retrieved")
	}
	return gjson.ParseBytes(all[len(all)-1].Body)
}

func TestASiteIsFoundInEitherDialect(t *testing.T) {
	for _, d := range []filter.Dialect{filter.Backslash, filter.Doubled} {
		_, c := shelf(t, goodmemtest.Options{Dialect: d}, plain)
		for _, site := range []string{"a.example", `O'Brien\n`, "x"} {
			r, err := c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle", Filter: scopeExpr("site", provider.InSites(site))})
			if err != nil || sitesOf(r) != site || r.Degraded() {
				t.Errorf("dialect %v, site %q: %+v, %v", d, site, r, err)
			}
		}
		r, err := c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle", Filter: scopeExpr("site", provider.InSites(`' OR TRUE --`))})
		if err != nil || len(r.Chunks) != 0 {
			t.Errorf("dialect %v: an injection found %+v, %v", d, r, err)
		}
	}
}

func TestRetrievalIsOneRequest(t *testing.T) {
	srv, c := shelf(t, goodmemtest.Options{}, func(_ *goodmemtest.Server, s *Settings) { s.MetadataFilter = map[string]any{"year": 2020} })
	q := RetrieveQuery{Text: "noodle", Filter: Compare("site", provider.Equal, "x"), Limit: 2}
	r, err := c.Retrieve(t.Context(), q)
	if err != nil || sitesOf(r) != "x" || r.ScoreKind != provider.ScoreVector || r.Chunks[0].Score() <= 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	body := lastBody(t, srv)
	want := `(CAST(val('$.site') AS TEXT) = 'x') AND (CAST(val('$.year') AS NUMERIC) = 2020)`
	if body.Get("spaceKeys.0.filter").Str != want || body.Get("requestedSize").Int() != 6 || body.Get("postProcessor").Exists() {
		t.Errorf("body %s", body.Raw)
	}
	if n := len(srv.RequestsTo(http.MethodPost, "/v1/memories:retrieve")); n != 1 {
		t.Errorf("%d requests", n)
	}
	srv.ForgetRequests()
	if r, err := c.Retrieve(t.Context(), RetrieveQuery{Text: " \n"}); err != nil || len(r.Chunks) != 0 || len(srv.Requests()) != 0 {
		t.Errorf("a blank query: %+v, %v, %d requests", r, err, len(srv.Requests()))
	}
	for _, q := range []RetrieveQuery{{Text: "\xff"}, {Text: "x", Limit: 1001}, {Text: "x", FetchK: -1}, {Text: "x", Filter: Compare("a b", provider.Equal, 1)}} {
		if _, err := c.Retrieve(t.Context(), q); !errors.Is(err, provider.ErrInvalid) || len(srv.Requests()) != 0 {
			t.Errorf("%+v: %v after %d requests", q, err, len(srv.Requests()))
		}
	}
}

func TestRerankerScoresAreHeldAgainstMinScore(t *testing.T) {
	temp, least := 0.5, 0.0
	var fail bool
	withReranker := func(srv *goodmemtest.Server, s *Settings) {
		rr := goodmemtest.Reranker{Score: func(_, chunk string) float64 {
			if strings.Contains(chunk, "soup") {
				return 0.8
			}
			return -0.1
		}}
		if fail {
			rr.Fail = "no credit"
		}
		s.RerankerID, s.MinScore = srv.AddReranker(rr), &least
		s.LLMID, s.LLMTemp, s.GenTokenBudget = srv.AddLLM(goodmemtest.LLM{}), &temp, 99
	}
	srv, c := shelf(t, goodmemtest.Options{}, withReranker)
	r, err := c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle"})
	if err != nil || sitesOf(r) != "a.example" || r.ScoreKind != provider.ScoreReranker || r.Answer == nil {
		t.Errorf("got %+v, %v", r, err)
	}
	config := lastBody(t, srv).Get("postProcessor.config")
	if v := config.Get("chronological_resort"); !v.Exists() || v.Bool() || config.Get("relevance_threshold").Exists() ||
		config.Get("llm_temp").Num != temp || config.Get("gen_token_budget").Int() != 99 || config.Get("reranker_id").Str == "" {
		t.Errorf("config %s", config.Raw)
	}
	least = 0.9
	if r, err = c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle"}); err != nil || len(r.Chunks) != 0 || !r.Degraded() || !strings.Contains(r.Statuses[len(r.Statuses)-1].Message, "scores are from -0.1") {
		t.Errorf("emptied: %+v, %v", r, err)
	}
	fail = true
	_, c = shelf(t, goodmemtest.Options{}, withReranker)
	if r, err = c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle"}); err != nil || len(r.Chunks) != 3 || r.ScoreKind != provider.ScoreVector || !r.Degraded() {
		t.Errorf("a failed reranker: %+v, %v", r, err)
	}
}

func TestASpaceThatIsGoneIsResolvedAgain(t *testing.T) {
	srv, c := shelf(t, goodmemtest.Options{}, plain)
	ids, err := c.spaceIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.do(t.Context(), call{op: "delete", method: http.MethodDelete, path: []string{"v1", "spaces", ids[0]}}, nil); err != nil {
		t.Fatal(err)
	}
	again := srv.AddSpace("web")
	srv.AddMemory(again, "noodle pot", map[string]any{"site": "new"})
	if r, err := c.Retrieve(t.Context(), RetrieveQuery{Text: "noodle"}); err != nil || sitesOf(r) != "new" {
		t.Errorf("got %+v, %v", r, err)
	}
}
