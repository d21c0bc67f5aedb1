package plugin

import (
	"bytes"
	"context"
	"slices"
	"sync"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// server answers calls from a provider that Configure opens. Its methods
// return the provider's own errors; an interceptor makes them gRPC's.
type server struct {
	pb.UnimplementedProviderServer
	open OpenFunc

	configuring sync.Mutex // held while open runs

	mu       sync.Mutex
	provider provider.Provider
	settings []byte // that provider was opened with
	closed   bool
}

func newServer(open OpenFunc) *server { return &server{open: open} }

func (s *server) Configure(ctx context.Context, m *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	s.configuring.Lock()
	defer s.configuring.Unlock()

	s.mu.Lock()
	opened, closed, same := s.provider != nil, s.closed, bytes.Equal(s.settings, m.GetSettings())
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case opened && same:
		return &pb.ConfigureResponse{}, nil
	case opened:
		return nil, provider.Errorf(provider.ErrConflict, "the plugin is configured already, with other settings")
	}

	p, err := s.open(ctx, m.GetSettings())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // while open ran
		go p.Close()
		return nil, errClosed
	}
	s.provider, s.settings = p, m.GetSettings()
	return &pb.ConfigureResponse{}, nil
}

// current returns the provider that is to answer a call.
func (s *server) current() (provider.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.provider == nil:
		return nil, provider.Errorf(provider.ErrConflict, "the plugin is not configured yet")
	}
	return s.provider, nil
}

var errClosed = provider.Errorf(provider.ErrUnavailable, "the provider is closed")

func (s *server) Search(ctx context.Context, m *pb.SearchRequest) (*pb.SearchResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	q, err := wire.QueryFromProto(m).Check()
	if err != nil {
		return nil, err
	}
	result, err := p.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	// A provider's own business, but a reply that is too large would be lost
	// as a whole.
	fitted := *result
	fitted.Hits, fitted.Statuses = slices.Clone(result.Hits), slices.Clone(result.Statuses)
	fitted.Fit()
	return wire.ResultToProto(&fitted), nil
}

func (s *server) Get(ctx context.Context, m *pb.GetRequest) (*pb.GetResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	l, err := wire.LookupFromProto(m).Check()
	if err != nil {
		return nil, err
	}
	objects, err := getFitting(ctx, p, l)
	if err != nil {
		return nil, err
	}
	return &pb.GetResponse{Objects: objects}, nil
}

// getFitting gets the first objects of l, as many as one reply may hold. The
// host asks for the rest again, so the provider is asked for a few at a time:
// at first for little more than fits if all are as large as can be, and then
// for more while they are small.
func getFitting(ctx context.Context, p provider.Provider, l provider.Lookup) ([]*pb.Object, error) {
	const firstPortion, maxPortion = 8, 64
	var objects []*pb.Object
	portion := firstPortion
	for rest := l.URLs; len(rest) > 0; portion = min(2*portion, maxPortion) {
		asked := rest[:min(portion, len(rest))]
		rest = rest[len(asked):]
		found, err := p.Get(ctx, provider.Lookup{URLs: asked, Scope: l.Scope})
		if err != nil {
			return nil, err
		}
		if len(found) != len(asked) {
			return nil, provider.Errorf(provider.ErrInternal, "the provider answered %d URLs with %d objects", len(asked), len(found))
		}
		for _, o := range found {
			objects = append(objects, wire.ObjectToProto(o))
		}
		if n := fitting(objects); n < len(objects) {
			return objects[:n], nil
		}
	}
	return objects, nil
}

func (s *server) List(ctx context.Context, m *pb.ListRequest) (*pb.ListResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	q, err := wire.ListQueryFromProto(m).Check()
	if err != nil {
		return nil, err
	}
	entries, err := p.List(ctx, q)
	if err != nil {
		return nil, err
	}
	return wire.EntriesToProto(entries), nil
}

func (s *server) Sites(ctx context.Context, m *pb.SitesRequest) (*pb.SitesResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	sites, err := p.Sites(ctx)
	if err != nil {
		return nil, err
	}
	var rest []*pb.SiteCount
	for _, site := range sites {
		if site.Site > m.GetAfter() {
			rest = append(rest, wire.SiteToProto(site))
		}
	}
	n := fitting(rest)
	return &pb.SitesResponse{Sites: rest[:n], More: n < len(rest)}, nil
}

// Put leaves the check of each document to the provider, because each fails
// alone.
func (s *server) Put(ctx context.Context, m *pb.PutRequest) (*pb.PutResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	docs := make([]provider.Document, len(m.GetDocuments()))
	for i, d := range m.GetDocuments() {
		docs[i] = wire.DocumentFromProto(d)
	}
	if err := provider.CheckBatch(docs); err != nil {
		return nil, err
	}
	results, err := p.Put(ctx, docs)
	if err != nil {
		return nil, err
	}
	reply := &pb.PutResponse{Results: make([]*pb.PutResult, len(results))}
	for i, r := range results {
		reply.Results[i] = wire.PutResultToProto(r)
	}
	return reply, nil
}

func (s *server) Delete(ctx context.Context, m *pb.DeleteRequest) (*pb.DeleteResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	sel, err := wire.SelectorFromProto(m).Check()
	if err != nil {
		return nil, err
	}
	n, err := p.Delete(ctx, sel)
	if err != nil {
		return nil, err
	}
	return &pb.DeleteResponse{Documents: int64(n)}, nil
}

func (s *server) Info(ctx context.Context, _ *pb.InfoRequest) (*pb.InfoResponse, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	info, err := p.Info(ctx)
	if err != nil {
		return nil, err
	}
	return wire.InfoToProto(info), nil
}

func (s *server) Close(ctx context.Context, _ *pb.CloseRequest) (*pb.CloseResponse, error) {
	return &pb.CloseResponse{}, s.close(ctx)
}

// close closes the provider once, and waits for it no longer than ctx lasts.
func (s *server) close(ctx context.Context) error {
	s.mu.Lock()
	p, closed := s.provider, s.closed
	s.closed = true
	s.mu.Unlock()
	if p == nil || closed {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- p.Close() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
