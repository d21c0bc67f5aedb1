package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// wired serves what open returns as a plugin does, without a process, and
// returns the raw client of a host.
func wired(t testing.TB, open OpenFunc) pb.ProviderClient {
	t.Helper()
	s := &serving{server: newServer(open), guard: &guard{log: slog.New(slog.DiscardHandler)}, ready: make(chan struct{})}
	s.stdio.Do(func() {}) // a test keeps its outputs
	srv := s.grpcServer(nil)
	pb.RegisterProviderServer(srv, s.server)
	listener := bufconn.Listen(1 << 20)
	go srv.Serve(listener)
	t.Cleanup(srv.Stop)

	options := append(dialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///plugin", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return pb.NewProviderClient(conn)
}

// configured is wired, with p behind it.
func configured(t testing.TB, p provider.Provider) pb.ProviderClient {
	t.Helper()
	rpc := wired(t, func(context.Context, []byte) (provider.Provider, error) { return p, nil })
	if _, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{Settings: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	return rpc
}

var allSites = &pb.Scope{Scope: &pb.Scope_AllSites{AllSites: &pb.AllSites{}}}

// calls are all calls of the contract, with arguments that are fine.
func calls(ctx context.Context, rpc pb.ProviderClient) map[string]func() error {
	return map[string]func() error{
		"Search": func() error {
			_, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: allSites})
			return err
		},
		"Get": func() error {
			_, err := rpc.Get(ctx, &pb.GetRequest{Urls: []string{"https://a.example/"}, Scope: allSites})
			return err
		},
		"List":  func() error { _, err := rpc.List(ctx, &pb.ListRequest{Site: "a.example"}); return err },
		"Sites": func() error { _, err := rpc.Sites(ctx, &pb.SitesRequest{}); return err },
		"Put":   func() error { _, err := rpc.Put(ctx, &pb.PutRequest{}); return err },
		"Delete": func() error {
			_, err := rpc.Delete(ctx, &pb.DeleteRequest{Site: "a.example", WholeSite: true})
			return err
		},
		"Info": func() error { _, err := rpc.Info(ctx, &pb.InfoRequest{}); return err },
	}
}

func wantStatus(t *testing.T, what string, err error, code codes.Code, reason, arg string) {
	t.Helper()
	st := status.Convert(err)
	var info *errdetails.ErrorInfo
	for _, d := range st.Details() {
		info, _ = d.(*errdetails.ErrorInfo)
	}
	if st.Code() != code || info.GetDomain() != "siteprovider" || info.GetReason() != reason || info.GetMetadata()["arg"] != arg {
		t.Errorf("%s: %v with %v, want %v with %s about %q", what, err, info, code, reason, arg)
	}
}

func TestCallsBeforeConfigureFail(t *testing.T) {
	rpc := wired(t, func(context.Context, []byte) (provider.Provider, error) { return providertest.NewMemory(), nil })
	for name, call := range calls(t.Context(), rpc) {
		wantStatus(t, name, call(), codes.FailedPrecondition, "CONFLICT", "")
	}
	if _, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls(t.Context(), rpc) {
		if err := call(); err != nil {
			t.Errorf("%s after Configure: %v", name, err)
		}
	}
}

func TestConfigureTwice(t *testing.T) {
	opened := 0
	rpc := wired(t, func(_ context.Context, settings []byte) (provider.Provider, error) {
		opened++
		if string(settings) == `{"wrong":1}` {
			return nil, provider.Invalidf("settings.wrong", "is unknown")
		}
		return providertest.NewMemory(), nil
	})
	configure := func(settings string) error {
		_, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{Settings: []byte(settings)})
		return err
	}
	wantStatus(t, "settings that are refused", configure(`{"wrong":1}`), codes.InvalidArgument, "INVALID", "settings.wrong")
	for range 2 {
		if err := configure(`{"key":"one"}`); err != nil {
			t.Errorf("the same settings: %v", err)
		}
	}
	err := configure(`{"key":"two"}`)
	wantStatus(t, "other settings", err, codes.FailedPrecondition, "CONFLICT", "")
	if strings.Contains(err.Error(), "one") || strings.Contains(err.Error(), "two") {
		t.Errorf("the error repeats the settings: %v", err)
	}
	if opened != 2 {
		t.Errorf("the provider was opened %d times, want 2", opened)
	}
}

func TestCallsAfterCloseFail(t *testing.T) {
	rpc := configured(t, providertest.NewMemory())
	for range 2 {
		if _, err := rpc.Close(t.Context(), &pb.CloseRequest{}); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for name, call := range calls(t.Context(), rpc) {
		wantStatus(t, name, call(), codes.Unavailable, "UNAVAILABLE", "")
	}
	_, err := rpc.Configure(t.Context(), &pb.ConfigureRequest{Settings: []byte("{}")})
	wantStatus(t, "Configure", err, codes.Unavailable, "UNAVAILABLE", "")
}

// A host in another language checks nothing before it sends.
func TestTheServerChecksArgumentsItself(t *testing.T) {
	rpc := configured(t, unchecking{})
	ctx := t.Context()
	blank := &pb.Scope{Scope: &pb.Scope_Sites{Sites: &pb.SiteList{Sites: []string{" ", ""}}}}
	for _, tt := range []struct {
		name, arg string
		call      func() error
	}{
		{"a search without a scope", "Query.Scope", func() error { _, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut"}); return err }},
		{"a search of blank sites", "Query.Scope", func() error { _, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: blank}); return err }},
		{"a search for too much", "Query.Limit", func() error {
			_, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: allSites, Limit: 1001})
			return err
		}},
		{"an unknown operator", "Query.Filter[0].Op", func() error {
			filter := []*pb.Condition{{Path: "p", Op: 99}}
			_, err := rpc.Search(ctx, &pb.SearchRequest{Text: "walnut", Scope: allSites, Filter: filter})
			return err
		}},
		{"a lookup without a scope", "Lookup.Scope", func() error { _, err := rpc.Get(ctx, &pb.GetRequest{Urls: []string{"u"}}); return err }},
		{"a lookup of nothing", "Lookup.URLs", func() error { _, err := rpc.Get(ctx, &pb.GetRequest{Scope: allSites}); return err }},
		{"a list of no site", "ListQuery.Site", func() error { _, err := rpc.List(ctx, &pb.ListRequest{}); return err }},
		{"too many documents", "documents", func() error {
			_, err := rpc.Put(ctx, &pb.PutRequest{Documents: make([]*pb.Document, 1001)})
			return err
		}},
		{"a deletion of nothing", "Selector.URLs", func() error { _, err := rpc.Delete(ctx, &pb.DeleteRequest{Site: "a.example"}); return err }},
		{"a deletion everywhere", "Selector.Site", func() error { _, err := rpc.Delete(ctx, &pb.DeleteRequest{Site: "all", WholeSite: true}); return err }},
	} {
		wantStatus(t, tt.name, tt.call(), codes.InvalidArgument, "INVALID", tt.arg)
	}
}

// unchecking is a provider that any call reaches only by mistake.
type unchecking struct{ provider.Provider }

func TestAPanicBecomesAnError(t *testing.T) {
	rpc := configured(t, unchecking{}) // whose methods are nil
	for name, call := range calls(t.Context(), rpc) {
		wantStatus(t, name, call(), codes.Internal, "INTERNAL", "")
	}
}

func TestErrorsOfAProviderReachTheHost(t *testing.T) {
	want := &provider.Error{Kind: provider.ErrPermission, Arg: "settings.api_key", Reason: "the server says: 403 key revoked"}
	m := providertest.NewMemory()
	m.Before = func(context.Context, string) error { return fmt.Errorf("ask the server: %w", want) }
	for name, call := range calls(t.Context(), configured(t, m)) {
		err := call()
		wantStatus(t, name, err, codes.PermissionDenied, "PERMISSION", "settings.api_key")
		if words := status.Convert(err).Message(); !strings.Contains(words, "ask the server: the server says: 403 key revoked") {
			t.Errorf("%s: the message %q lacks the server's words", name, words)
		}
	}
}

// bulky answers with replies of the largest size that the contract allows, or
// of one that it does not.
type bulky struct {
	provider.Provider
	result *provider.Result
	sites  []provider.Site
	object []byte
	gets   int
}

func (b *bulky) Search(context.Context, provider.Query) (*provider.Result, error) {
	return b.result, nil
}
func (b *bulky) Sites(context.Context) ([]provider.Site, error) { return b.sites, nil }
func (b *bulky) Get(_ context.Context, l provider.Lookup) ([]provider.Object, error) {
	b.gets++
	out := make([]provider.Object, len(l.URLs))
	for i, u := range l.URLs {
		out[i] = provider.Object{URL: u, Found: true, Schema: b.object}
	}
	return out, nil
}
func (b *bulky) List(_ context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	out := make([]provider.Entry, q.Limit)
	for i := range out {
		out[i] = provider.Entry{URL: fmt.Sprintf("%0*d", provider.MaxURLBytes, i), Hash: strings.Repeat("f", 64), Indexed: true}
	}
	return out, nil
}

func TestRepliesOfAnySizeArrive(t *testing.T) {
	ctx := t.Context()
	b := &bulky{object: make([]byte, provider.MaxObjectBytes)}
	for i := range 5000 {
		b.sites = append(b.sites, provider.Site{Site: fmt.Sprintf("%0*d", provider.MaxSiteBytes, i), Documents: int64(i)})
	}
	c := &client{rpc: configured(t, b)}

	sites, err := c.sites(ctx)
	if err != nil || len(sites) != len(b.sites) {
		t.Fatalf("Sites gave %d sites, %v, want %d", len(sites), err, len(b.sites))
	}
	for i := range sites {
		if sites[i] != b.sites[i] {
			t.Fatalf("site %d is %.20q with %d documents", i, sites[i].Site, sites[i].Documents)
		}
	}

	urls := []string{"u0", "u1", "u2", "u3", "u4", "u5", "u6"}
	objects, err := c.get(ctx, provider.Lookup{URLs: urls, Scope: provider.AllSites()})
	if err != nil || len(objects) != len(urls) {
		t.Fatalf("Get gave %d objects, %v, want %d", len(objects), err, len(urls))
	}
	for i, o := range objects {
		if o.URL != urls[i] || len(o.Schema) != provider.MaxObjectBytes {
			t.Errorf("object %d is of %s and has %d bytes", i, o.URL, len(o.Schema))
		}
	}
	if most := len(urls)/2 + 1; b.gets > most {
		t.Errorf("%d objects took %d calls, want at most %d", len(urls), b.gets, most)
	}

	entries, err := c.list(ctx, provider.ListQuery{Site: "a.example", Limit: provider.MaxLimit})
	if err != nil || len(entries) != provider.MaxLimit {
		t.Errorf("List gave %d entries, %v, want %d", len(entries), err, provider.MaxLimit)
	}
}

func TestAResultTooLargeForAMessageLosesObjectsThenNames(t *testing.T) {
	hits := func(schema, name int) []provider.Hit {
		out := make([]provider.Hit, provider.MaxLimit)
		for i := range out {
			out[i] = provider.Hit{URL: fmt.Sprintf("u%d", i), Site: "a.example", Name: strings.Repeat("n", name), Schema: make([]byte, schema)}
		}
		return out
	}
	for name, result := range map[string]*provider.Result{
		"too many objects": {Hits: hits(20<<10, 10)},
		"too long names":   {Hits: hits(0, provider.MaxNameBytes)},
		"both":             {Hits: hits(20<<10, provider.MaxNameBytes)},
	} {
		c := &client{rpc: configured(t, &bulky{result: result})}
		got, err := c.search(t.Context(), provider.Query{Text: "walnut", Scope: provider.AllSites(), Limit: provider.MaxLimit})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Hits) != provider.MaxLimit || got.Hits[999].URL != "u999" || got.Hits[0].Name == "" {
			t.Errorf("%s: %d hits, the first named %.10q, want every hit, and the first with its name", name, len(got.Hits), got.Hits[0].Name)
		}
		if !got.Degraded || len(got.Statuses) == 0 || got.Statuses[0].Code != provider.StatusResultTruncated {
			t.Errorf("%s: degraded %v, statuses %v, want it told", name, got.Degraded, got.Statuses)
		}
	}
}

func TestTheLargestBatchFitsIntoAMessage(t *testing.T) {
	docs := make([]provider.Document, provider.MaxBatchDocuments)
	for i := range docs {
		docs[i] = provider.Document{
			URL: fmt.Sprintf("https://a.example/%d", i), Site: "a.example", Schema: []byte(`{}`),
			Types: make([]string, provider.MaxTypes), // the costliest framing there is
		}
		docs[i].Text = strings.Repeat("x", provider.MaxBatchBytes/len(docs)-docs[i].Size())
	}
	b, err := newBatch(docs)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{rpc: configured(t, accepting{})}
	results, err := c.put(t.Context(), b.sent)
	if err != nil || len(results) != len(docs) {
		t.Fatalf("Put gave %d results, %v, want %d", len(results), err, len(docs))
	}
}

// accepting refuses nothing.
type accepting struct{ provider.Provider }

func (accepting) Put(_ context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	results := make([]provider.PutResult, len(docs))
	for i, d := range docs {
		results[i] = provider.PutResult{Site: d.Site, URL: d.URL, Outcome: provider.Stored}
	}
	return results, nil
}

// lying breaks the rules of the wire that Go values cannot.
type lying struct {
	pb.UnimplementedProviderServer
}

func (lying) Get(context.Context, *pb.GetRequest) (*pb.GetResponse, error) {
	return &pb.GetResponse{}, nil
}
func (lying) Put(context.Context, *pb.PutRequest) (*pb.PutResponse, error) {
	return &pb.PutResponse{}, nil
}
func (lying) Sites(_ context.Context, m *pb.SitesRequest) (*pb.SitesResponse, error) {
	return &pb.SitesResponse{Sites: []*pb.SiteCount{{Site: "a.example"}}, More: true}, nil
}

// A plugin that breaks the rules is an error, and never an endless loop.
func TestTheClientTrustsNoPlugin(t *testing.T) {
	listener := bufconn.Listen(1 << 20)
	srv := grpc.NewServer()
	pb.RegisterProviderServer(srv, lying{})
	go srv.Serve(listener)
	defer srv.Stop()
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := newClient(conn)
	if _, err := c.get(t.Context(), provider.Lookup{URLs: []string{"u"}, Scope: provider.AllSites()}); !errors.Is(err, provider.ErrInternal) {
		t.Errorf("no object for a URL: %v, want ErrInternal", err)
	}
	if _, err := c.put(t.Context(), make([]provider.Document, 1)); !errors.Is(err, provider.ErrInternal) {
		t.Errorf("no result for a document: %v, want ErrInternal", err)
	}
	if _, err := c.sites(t.Context()); !errors.Is(err, provider.ErrInternal) {
		t.Errorf("the same page of sites again and again: %v, want ErrInternal", err)
	}
}

// Documents that are refused before they are sent shift the others; errors
// still name the place that the caller knows.
func TestErrorsOfABatchNameTheCallersPlace(t *testing.T) {
	docs := []provider.Document{
		{URL: " ", Site: "a.example", Schema: []byte(`{}`)},
		{URL: "https://a.example/1", Site: "a.example", Schema: []byte(`{}`)},
	}
	b, err := newBatch(docs)
	if err != nil {
		t.Fatal(err)
	}
	results := b.answered([]provider.PutResult{{
		Site: "a.example", URL: docs[1].URL, Outcome: provider.Failed,
		Err: provider.Invalidf("documents[0].Schema", "has no type"),
	}})
	for i, want := range []string{"documents[0].URL", "documents[1].Schema"} {
		var e *provider.Error
		if !errors.As(results[i].Err, &e) || e.Arg != want {
			t.Errorf("result %d: %v, want an error about %s", i, results[i].Err, want)
		}
	}
}

// portions is a provider that notes for how many URLs at once it was asked.
type portions struct {
	provider.Provider
	asked []int
}

func (p *portions) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	p.asked = append(p.asked, len(l.URLs))
	return p.Provider.Get(ctx, l)
}

func TestGetAsksAProviderForLittleMoreThanOneReplyHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int // of an object
		most  int // objects that one reply may have been made from
	}{
		{"large objects", 1 << 20, 24},
		{"small objects", 100, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &portions{Provider: providertest.NewMemory()}
			schema := []byte(`{"x":"` + strings.Repeat("a", c.bytes) + `"}`)
			request := &pb.GetRequest{Scope: allSites}
			for i := range 100 {
				url := fmt.Sprintf("https://a.example/%d", i)
				request.Urls = append(request.Urls, url)
				if _, err := p.Put(t.Context(), []provider.Document{{Site: "a.example", URL: url, Schema: schema}}); err != nil {
					t.Fatal(err)
				}
			}
			reply, err := configured(t, p).Get(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			for _, n := range p.asked {
				asked += n
			}
			if asked > c.most || len(reply.Objects) > asked {
				t.Errorf("asked for %v to answer with %d, want at most %d in all", p.asked, len(reply.Objects), c.most)
			}
			for i, o := range reply.Objects {
				if o.GetUrl() != request.Urls[i] || !o.GetFound() {
					t.Errorf("object %d is %s, found %v; want %s", i, o.GetUrl(), o.GetFound(), request.Urls[i])
				}
			}
		})
	}
}
