package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// stub is a provider whose answers a test decides.
type stub struct {
	provider.Provider
	search func(provider.Query) (*provider.Result, error)
	get    func(provider.Lookup) ([]provider.Object, error)
	list   func(provider.ListQuery) ([]provider.Entry, error)
	sites  func() ([]provider.Site, error)
	delete func(provider.Selector) (int, error)
}

func (s stub) Search(_ context.Context, q provider.Query) (*provider.Result, error) {
	return s.search(q)
}
func (s stub) Get(_ context.Context, l provider.Lookup) ([]provider.Object, error) { return s.get(l) }
func (s stub) List(_ context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	return s.list(q)
}
func (s stub) Sites(context.Context) ([]provider.Site, error)             { return s.sites() }
func (s stub) Delete(_ context.Context, x provider.Selector) (int, error) { return s.delete(x) }
func (s stub) Close() error                                               { return nil }

// within runs a command line in this process on the provider p.
func within(t *testing.T, p provider.Provider, args ...string) outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("retrieval: {default: {backend: stub, plugin: none}}"), 0o600))
	var stdout, stderr bytes.Buffer
	a := &app{
		stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		open: func(context.Context, config.Entry, *slog.Logger) (provider.Provider, error) { return p, nil },
	}
	status := a.run(t.Context(), append([]string{"--config", file}, args...))
	return outcome{status, stdout.String(), stderr.String()}
}

func TestSearchPassesOnWhatWasAsked(t *testing.T) {
	var got provider.Query
	p := stub{search: func(q provider.Query) (*provider.Result, error) {
		got = q
		return &provider.Result{}, nil
	}}
	o := within(t, p, "search", "--site", "a.example", "--site", "b, c", "-n", "7", "--filter", "offers.price<=20", "--filter", "sku exists", "two", "words")
	require.Equal(t, exitDone, o.status, o.stderr)
	require.Equal(t, provider.Query{
		Text:  "two words",
		Scope: provider.InSites("a.example", "b, c"),
		Filter: provider.Filter{
			{Path: "offers.price", Op: provider.LessEqual, Value: 20.0},
			{Path: "sku", Op: provider.Exists},
		},
		Limit: 7,
	}, got)
	require.Empty(t, o.stdout)
	require.Equal(t, "no hits\n", o.stderr)
}

func TestDegradedAnswersKeepTheirHitsAndSaySo(t *testing.T) {
	res := &provider.Result{Hits: []provider.Hit{{URL: "https://a.example/1", Site: "a.example", Name: "One", Schema: []byte("{}")}}}
	res.AddStatus(provider.Status{Code: "RERANKER_DOWN", Message: "hits are in vector order", Kind: provider.StatusProblem})
	res.AddStatus(provider.Status{Code: "SITE_UNKNOWN", Message: "is b.example meant?", Kind: provider.StatusNotice})
	p := stub{search: func(provider.Query) (*provider.Result, error) { return res, nil }}

	o := within(t, p, "search", "x")
	require.Equal(t, exitDone, o.status)
	require.Contains(t, o.stdout, "One")
	require.Equal(t, "warning: RERANKER_DOWN: hits are in vector order\nnote: is b.example meant?\n", o.stderr)

	o = within(t, p, "search", "--json", "x")
	require.True(t, gjson.Get(o.stdout, "degraded").Bool())
	require.Equal(t, "RERANKER_DOWN", gjson.Get(o.stdout, "statuses.0.code").Str)
	require.Equal(t, "https://a.example/1", gjson.Get(o.stdout, "hits.0.url").Str)
}

func TestObjectsThatASearchLeftOutAreLookedUp(t *testing.T) {
	hits := []provider.Hit{{URL: "u1", Site: "a", Schema: []byte(`{"n":1}`)}, {URL: "u2", Site: "b"}, {URL: "gone", Site: "c"}}
	p := stub{
		search: func(provider.Query) (*provider.Result, error) {
			res := &provider.Result{Hits: hits}
			res.AddStatus(provider.Status{Code: provider.StatusResultTruncated, Message: "some are cut", Kind: provider.StatusProblem})
			return res, nil
		},
		get: func(l provider.Lookup) ([]provider.Object, error) {
			if l.URLs[0] == "gone" {
				return []provider.Object{{URL: "gone"}}, nil
			}
			require.Equal(t, provider.InSites("b"), l.Scope)
			return []provider.Object{{URL: "u2", Site: "b", Found: true, Schema: []byte(`{"n":2.0}`)}}, nil
		},
	}
	o := within(t, p, "search", "--json", "x")
	require.Equal(t, exitDone, o.status)
	require.Equal(t, `{"n":1}`, gjson.Get(o.stdout, "hits.0.schema").Raw)
	require.Equal(t, `{"n":2.0}`, gjson.Get(o.stdout, "hits.1.schema").Raw)
	require.Equal(t, "null", gjson.Get(o.stdout, "hits.2.schema").Raw)
	require.Contains(t, o.stderr, "the object of gone (c) is missing")
	require.True(t, gjson.Get(o.stdout, "degraded").Bool())
	require.Equal(t, provider.StatusResultTruncated, gjson.Get(o.stdout, "statuses.0.code").Str)

	// Once every object is there, nothing is degraded.
	hits = hits[:2]
	o = within(t, p, "search", "--json", "x")
	require.Equal(t, `{"n":2.0}`, gjson.Get(o.stdout, "hits.1.schema").Raw)
	require.False(t, gjson.Get(o.stdout, "degraded").Bool())
	require.Empty(t, gjson.Get(o.stdout, "statuses").Array())
	require.Empty(t, o.stderr)

	// Nor is it where no object is shown.
	require.Empty(t, within(t, p, "search", "x").stderr)
}

func TestGetReportsWhatIsMissingAndWhatIsAmbiguous(t *testing.T) {
	calls := 0
	p := stub{get: func(l provider.Lookup) ([]provider.Object, error) {
		if calls++; calls > 1 { // in search of what may have been meant
			return nil, provider.Errorf(provider.ErrUnavailable, "gone")
		}
		require.Equal(t, []string{"https://a.example/1", "https://a.example/2"}, l.URLs)
		return []provider.Object{
			{URL: l.URLs[0], Site: "a.example", Found: true, Ambiguous: true, Schema: []byte("{ \"a\" : 1.0 }")},
			{URL: l.URLs[1]},
		}, nil
	}}
	o := within(t, p, "get", "https://a.example/1", "https://a.example/2")
	require.Equal(t, exitPart, o.status)
	require.Equal(t, "{ \"a\" : 1.0 }\n", o.stdout)
	require.Contains(t, o.stderr, "not found: https://a.example/2\n")
	require.Contains(t, o.stderr, "several sites hold https://a.example/1; this is the object of a.example")
}

func TestListPagesThroughAnySite(t *testing.T) {
	const total = 2*provider.MaxLimit + 5
	p := stub{list: func(q provider.ListQuery) ([]provider.Entry, error) {
		require.Equal(t, "a.example", q.Site)
		var out []provider.Entry
		for i := range total {
			if u := fmt.Sprintf("https://a.example/%05d", i); u > q.After && len(out) < q.Limit {
				out = append(out, provider.Entry{URL: u, Hash: "h", Indexed: i != 3})
			}
		}
		return out, nil
	}}
	o := within(t, p, "list", "--site", "a.example")
	require.Equal(t, exitDone, o.status)
	require.Equal(t, total, strings.Count(o.stdout, "\n"))
	require.Contains(t, o.stderr, "does not find 1 of them")

	o = within(t, p, "list", "--json", "--site", "a.example")
	require.True(t, gjson.Valid(o.stdout))
	require.Len(t, gjson.Get(o.stdout, "entries").Array(), total)
	require.Equal(t, `{"url":"https://a.example/00003","hash":"h","indexed":false}`, gjson.Get(o.stdout, "entries.3").Raw)
}

func TestListOfAnUnknownSiteIsEmptyAndSaysSo(t *testing.T) {
	p := stub{
		list:   func(provider.ListQuery) ([]provider.Entry, error) { return nil, nil },
		search: func(provider.Query) (*provider.Result, error) { return &provider.Result{}, nil },
	}
	require.Equal(t, outcome{exitDone, "", "note: no documents on a.example\n"}, within(t, p, "list", "--site", "a.example"))
	o := within(t, p, "list", "--json", "--site", "a.example")
	require.Equal(t, exitDone, o.status)
	require.Equal(t, `{"entries":[]}`+"\n", o.stdout)
}

func TestDeleteAsksForMoreURLsThanOneCallTakes(t *testing.T) {
	var calls []int
	p := stub{
		get: func(l provider.Lookup) ([]provider.Object, error) {
			_, err := l.Check()
			require.NoError(t, err)
			objects := make([]provider.Object, len(l.URLs))
			for i, u := range l.URLs {
				objects[i] = provider.Object{URL: u, Found: strings.HasPrefix(u, "https://a.example/") && u != "https://a.example/7"}
			}
			return objects, nil
		},
		list: func(provider.ListQuery) ([]provider.Entry, error) { return nil, nil },
		delete: func(s provider.Selector) (int, error) {
			_, err := s.Check()
			require.NoError(t, err)
			calls = append(calls, len(s.URLs))
			return len(s.URLs), nil
		},
	}
	args := []string{"delete", "--site", "a.example", "https://a.example/0", "https://a.example/0"}
	for i := range provider.MaxURLs + 1 {
		args = append(args, fmt.Sprintf("https://a.example/%d", i))
	}
	o := within(t, p, args...)
	require.Equal(t, []int{provider.MaxURLs, 1}, calls)
	require.Equal(t, exitPart, o.status)
	require.Equal(t, "1001 deleted\n", o.stdout)
	require.Equal(t, "not found: https://a.example/7; did you mean https://a.example/7/?\n", o.stderr)
}

func TestWrongUsageEndsWithTwoAndAsksNoProvider(t *testing.T) {
	for name, args := range map[string][]string{
		"no query":                   {"search"},
		"a blank site":               {"search", "--site", " ", "x"},
		"an empty site":              {"search", "--site", "", "x"},
		"an empty site beside all":   {"search", "--site", "all", "--site", "", "x"},
		"a site with a line break":   {"search", "--site", "a.example\n", "x"},
		"no hits wanted":             {"search", "-n", "0", "x"},
		"too many hits wanted":       {"search", "-n", "1001", "x"},
		"no number":                  {"search", "-n", "many", "x"},
		"a broken filter":            {"search", "--filter", "price", "x"},
		"an ordering without order":  {"search", "--filter", "name<abc", "x"},
		"an unknown flag":            {"search", "--sites", "a", "x"},
		"an unknown command":         {"find", "x"},
		"no URL":                     {"get"},
		"a blank URL":                {"get", ""},
		"a URL with a control":       {"get", "https://a.example/\x1b"},
		"get of an empty site":       {"get", "--site", "", "u"},
		"list of no site":            {"list"},
		"list of all sites":          {"list", "--site", "all"},
		"list of an empty site":      {"list", "--site", ""},
		"list with an argument":      {"list", "--site", "a", "b"},
		"sites with an argument":     {"sites", "a"},
		"delete without a site":      {"delete", "https://a.example/"},
		"delete of two sites":        {"delete", "--site", "a", "--site", "b"},
		"list of two sites":          {"list", "--site", "a", "--site", "b"},
		"ingest into two sites":      {"ingest", "--site", "a", "--site", "b", "-"},
		"delete of all sites":        {"delete", "--site", "all"},
		"delete of ALL sites":        {"delete", "--site", " ALL"},
		"delete of a star":           {"delete", "--site", "*"},
		"delete of an empty site":    {"delete", "--site", ""},
		"delete of a blank URL":      {"delete", "--site", "a", "u", " "},
		"ingest of nothing":          {"ingest"},
		"ingest into an empty site":  {"ingest", "--site", "", "f"},
		"ingest into a blank site":   {"ingest", "--site", " ", "f"},
		"ingest into all sites":      {"ingest", "--site", "all", "f"},
		"ingest with a blank base":   {"ingest", "--base", "", "f"},
		"ingest with a foreign base": {"ingest", "--base", "javascript:alert(1)", "f"},
		"an empty data directory":    {"sites", "--data", ""},
		"a blank entry":              {"sites", "--use", " "},
		"an unknown log level":       {"sites", "--log-level", "loud"},
		"demo with a store":          {"demo", "--data", "x"},
		"demo in JSON":               {"demo", "--json"},
		"care through a plugin":      {"store", "check", "--plugin", "x"},
		"plugin without a host":      {"plugin"},
		"plugin with an argument":    {"plugin", "x"},
		"version with an argument":   {"version", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
			a.open = func(context.Context, config.Entry, *slog.Logger) (provider.Provider, error) {
				// Ingestion checks its own arguments with the store at hand.
				if args[0] == "ingest" {
					return providertest.NewMemory(), nil
				}
				t.Error("a provider was opened")
				return nil, errors.New("opened")
			}
			require.Equal(t, exitUsage, a.run(t.Context(), args))
			require.Empty(t, stdout.String())
			require.NotEmpty(t, stderr.String())
		})
	}
}

func TestEveryKindOfErrorHasItsExitStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"invalid":          {provider.Invalidf("text", "is too long"), exitUsage},
		"unsupported":      {provider.Errorf(provider.ErrUnsupported, "this path"), exitUsage},
		"unauthenticated":  {provider.Errorf(provider.ErrUnauthenticated, "no key"), exitUsage},
		"permission":       {provider.Errorf(provider.ErrPermission, "not yours"), exitUsage},
		"conflict":         {provider.Errorf(provider.ErrConflict, "other embedder"), exitUsage},
		"unavailable":      {provider.Errorf(provider.ErrUnavailable, "no answer"), exitFault},
		"corrupt":          {provider.Errorf(provider.ErrCorrupt, "bad page"), exitFault},
		"internal":         {provider.Errorf(provider.ErrInternal, "a defect"), exitFault},
		"deadline":         {context.DeadlineExceeded, exitFault},
		"of no known kind": {errors.New("something"), exitFault},
	} {
		t.Run(name, func(t *testing.T) {
			p := stub{
				search: func(provider.Query) (*provider.Result, error) { return nil, tc.err },
				get:    func(provider.Lookup) ([]provider.Object, error) { return nil, tc.err },
				list:   func(provider.ListQuery) ([]provider.Entry, error) { return nil, tc.err },
				sites:  func() ([]provider.Site, error) { return nil, tc.err },
				delete: func(provider.Selector) (int, error) { return 0, tc.err },
			}
			for _, args := range [][]string{
				{"search", "x"}, {"get", "u"}, {"list", "--site", "a"}, {"sites"}, {"delete", "--site", "a"},
			} {
				for _, json := range []bool{false, true} {
					if json {
						args = append(args, "--json")
					}
					o := within(t, p, args...)
					require.Equal(t, tc.want, o.status, args)
					require.Empty(t, o.stdout, args)
					require.Contains(t, o.stderr, tc.err.Error(), args)
				}
			}
		})
	}
}

// A store that a newer version wrote is the store's fault, not the question's.
func TestAStoreThatCannotBeOpenedIsAFault(t *testing.T) {
	for _, tc := range []struct {
		kind error
		want int
	}{
		{provider.ErrUnsupported, exitFault}, {provider.ErrCorrupt, exitFault}, {provider.ErrUnavailable, exitFault},
		{provider.ErrInvalid, exitUsage}, {provider.ErrUnauthenticated, exitUsage},
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(file, []byte("retrieval: {default: {backend: stub, plugin: none}}"), 0o600))
		var stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr}
		a.open = func(context.Context, config.Entry, *slog.Logger) (provider.Provider, error) {
			return nil, provider.Errorf(tc.kind, "cannot be opened")
		}
		require.Equal(t, tc.want, a.run(t.Context(), []string{"--config", file, "sites"}), tc.kind)
		require.Contains(t, stderr.String(), "open retrieval.default")
		require.Contains(t, stderr.String(), "cannot be opened")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatGoesNowhereIsAFault(t *testing.T) {
	p := stub{
		search: func(provider.Query) (*provider.Result, error) {
			return &provider.Result{Hits: []provider.Hit{{URL: "u"}}}, nil
		},
		get: func(provider.Lookup) ([]provider.Object, error) {
			return []provider.Object{{URL: "u", Found: true, Schema: []byte("{}")}}, nil
		},
		list:   func(provider.ListQuery) ([]provider.Entry, error) { return []provider.Entry{{URL: "u"}}, nil },
		sites:  func() ([]provider.Site, error) { return []provider.Site{{Site: "s", Documents: 1}}, nil },
		delete: func(provider.Selector) (int, error) { return 1, nil },
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("retrieval: {default: {backend: stub, plugin: none}}"), 0o600))
	for _, args := range [][]string{
		{"search", "x"}, {"get", "u"}, {"list", "--site", "a"}, {"sites"}, {"delete", "--site", "a"}, {"version"},
	} {
		var stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: brokenPipe{}, stderr: &stderr}
		a.open = func(context.Context, config.Entry, *slog.Logger) (provider.Provider, error) { return p, nil }
		require.Equal(t, exitFault, a.run(t.Context(), append([]string{"--config", file}, args...)), args)
		require.Contains(t, stderr.String(), "no space left on device", args)
	}
}

func TestWhatDocumentsSayOnlyDisplays(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\u202eevil\r\n"
	hit := provider.Hit{URL: "https://a.example/" + evil, Site: evil, Name: evil, Types: []string{evil}, Passage: evil, Schema: []byte("{}")}
	res := &provider.Result{Hits: []provider.Hit{hit}}
	res.AddStatus(provider.Status{Code: evil, Message: evil, Kind: provider.StatusProblem})
	p := stub{
		search: func(provider.Query) (*provider.Result, error) { return res, nil },
		list:   func(provider.ListQuery) ([]provider.Entry, error) { return []provider.Entry{{URL: evil}}, nil },
		sites:  func() ([]provider.Site, error) { return []provider.Site{{Site: evil}}, nil },
		get: func(provider.Lookup) ([]provider.Object, error) {
			return nil, provider.Errorf(provider.ErrUnavailable, "the server said %s", evil)
		},
	}
	for _, args := range [][]string{{"search", "x"}, {"list", "--site", "a"}, {"sites"}, {"get", "u"}} {
		o := within(t, p, args...)
		for _, r := range o.stdout + o.stderr {
			if r != '\n' && visible(string(r)) != string(r) {
				t.Errorf("%v prints %U: stdout %q stderr %q", args, r, o.stdout, o.stderr)
			}
		}
		require.Contains(t, o.stdout+o.stderr, `\u001b]0;owned`, args)
	}
}

func TestHitsAreReadable(t *testing.T) {
	res := &provider.Result{Hits: []provider.Hit{
		{URL: "https://kitchen.example/pho", Site: "kitchen.example", Name: "Beef phở\n soup", Types: []string{"Recipe", "NewsArticle"},
			Passage: strings.Repeat("Star anise and cinnamon perfume a broth. ", 20)},
		{URL: "https://a.example/1", Site: "a.example"},
	}}
	p := stub{search: func(provider.Query) (*provider.Result, error) { return res, nil }}
	o := within(t, p, "search", "x")
	require.Equal(t, ""+
		"  1. Beef phở soup\n"+
		"     kitchen.example · Recipe, NewsArticle\n"+
		"     https://kitchen.example/pho\n"+
		"     Star anise and cinnamon perfume a broth. Star anise and cinnamon perfume a\n"+
		"     broth. Star anise and cinnamon perfume a broth. Star anise and cinnamon\n"+
		"     perfume a broth. Star anise and cinnamon perfume a broth. Star anise and…\n"+
		"\n"+
		"  2. (no name)\n"+
		"     a.example\n"+
		"     https://a.example/1\n", o.stdout)
}
