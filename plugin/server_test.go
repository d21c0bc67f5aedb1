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
	return wiredWith(t, open, ServeOptions{})
}

func wiredWith(t testing.TB, open OpenFunc, opt ServeOptions) pb.ProviderClient {
	t.Helper()
	s := &serving{server: newServer(open), guard: newGuard(slog.New(slog.DiscardHandler), opt), ready: make(chan struct{})}
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
