package plugin

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// client speaks to one plugin process. It takes checked arguments and returns
// gRPC errors as they come, so that its caller can tell an answer from a
// process that is gone.
type client struct {
	rpc pb.ProviderClient
}

func newClient(conn grpc.ClientConnInterface) *client {
	return &client{rpc: pb.NewProviderClient(conn)}
}

func (c *client) configure(ctx context.Context, settings []byte) error {
	_, err := c.rpc.Configure(ctx, &pb.ConfigureRequest{Settings: settings})
	return err
}

func (c *client) search(ctx context.Context, q provider.Query) (*provider.Result, error) {
	m, err := c.rpc.Search(ctx, wire.QueryToProto(q))
	if err != nil {
		return nil, err
	}
	return wire.ResultFromProto(m), nil
}

// get asks until every URL has its object, because one reply may hold only the
// first of them. What is left is asked for in portions of the size that fitted
// before, so that the plugin does not read the last object once per reply.
func (c *client) get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	objects := make([]provider.Object, 0, len(l.URLs))
	portion := len(l.URLs)
	for len(objects) < len(l.URLs) {
		rest := l.URLs[len(objects):]
		asked := rest[:min(portion, len(rest))]
		m, err := c.rpc.Get(ctx, wire.LookupToProto(provider.Lookup{URLs: asked, Scope: l.Scope}))
		if err != nil {
			return nil, err
		}
		got := m.GetObjects()
		if len(got) == 0 || len(got) > len(asked) {
			return nil, provider.Errorf(provider.ErrInternal, "the plugin answered %d URLs with %d objects", len(asked), len(got))
		}
		for _, o := range got {
			objects = append(objects, wire.ObjectFromProto(o))
		}
		portion = len(got)
	}
	return objects, nil
}

func (c *client) list(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	m, err := c.rpc.List(ctx, wire.ListQueryToProto(q))
	if err != nil {
		return nil, err
	}
	return wire.EntriesFromProto(m), nil
}

// sites asks page by page: the contract bounds neither their number nor what
// their names add up to.
func (c *client) sites(ctx context.Context) ([]provider.Site, error) {
	var sites []provider.Site
	after := ""
	for {
		m, err := c.rpc.Sites(ctx, &pb.SitesRequest{After: after})
		if err != nil {
			return nil, err
		}
		for _, s := range m.GetSites() {
			if s.GetSite() <= after {
				return nil, provider.Errorf(provider.ErrInternal, "the plugin lists the site %q after %q", s.GetSite(), after)
			}
			sites, after = append(sites, wire.SiteFromProto(s)), s.GetSite()
		}
		if !m.GetMore() {
			return sites, nil
		}
		if len(m.GetSites()) == 0 {
			return nil, provider.Errorf(provider.ErrInternal, "the plugin promises more sites and lists none")
		}
	}
}

func (c *client) put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	request := &pb.PutRequest{Documents: make([]*pb.Document, len(docs))}
	for i, d := range docs {
		request.Documents[i] = wire.DocumentToProto(d)
	}
	m, err := c.rpc.Put(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(m.GetResults()) != len(docs) {
		return nil, provider.Errorf(provider.ErrInternal, "the plugin answered %d documents with %d results", len(docs), len(m.GetResults()))
	}
	results := make([]provider.PutResult, len(docs))
	for i, r := range m.GetResults() {
		results[i] = wire.PutResultFromProto(r)
	}
	return results, nil
}

func (c *client) delete(ctx context.Context, sel provider.Selector) (int, error) {
	m, err := c.rpc.Delete(ctx, wire.SelectorToProto(sel))
	return int(m.GetDocuments()), err
}

func (c *client) info(ctx context.Context) (provider.Info, error) {
	m, err := c.rpc.Info(ctx, &pb.InfoRequest{})
	if err != nil {
		return provider.Info{}, err
	}
	return wire.InfoFromProto(m), nil
}

func (c *client) close(ctx context.Context) error {
	_, err := c.rpc.Close(ctx, &pb.CloseRequest{})
	return err
}

// batch is a Put taken apart: the documents that may be sent, and the results
// of those that may not.
type batch struct {
	results []provider.PutResult // of all documents; those of sent ones come later
	sent    []provider.Document
	place   []int // of each sent document among all
}

// newBatch checks docs. A bad document fails alone and stays here.
func newBatch(docs []provider.Document) (*batch, error) {
	if err := provider.CheckBatch(docs); err != nil {
		return nil, err
	}
	b := &batch{results: make([]provider.PutResult, len(docs))}
	for i, d := range docs {
		checked, err := d.Check(provider.DocumentArg(i))
		if err != nil {
			b.results[i] = failed(d, err)
			continue
		}
		b.sent = append(b.sent, checked)
		b.place = append(b.place, i)
	}
	return b, nil
}

// failed is the result of a document that did not pass its check.
func failed(d provider.Document, err error) provider.PutResult {
	site, siteErr := provider.CheckSite("", d.Site)
	if siteErr != nil {
		site = d.Site
	}
	return provider.PutResult{Site: site, URL: d.URL, Outcome: provider.Failed, Err: err}
}

// answered puts the plugin's results in their places.
func (b *batch) answered(results []provider.PutResult) []provider.PutResult {
	for k, r := range results {
		i := b.place[k]
		if i != k {
			r.Err = moved(r.Err, provider.DocumentArg(k), provider.DocumentArg(i))
		}
		b.results[i] = r
	}
	return b.results
}

// unanswered marks what was sent as Unknown, because of err.
func (b *batch) unanswered(err error) []provider.PutResult {
	for k, d := range b.sent {
		b.results[b.place[k]] = provider.PutResult{Site: d.Site, URL: d.URL, Outcome: provider.Unknown, Err: err}
	}
	return b.results
}

// moved makes an error about one document of a batch name another.
func moved(err error, from, to string) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	rest, ok := strings.CutPrefix(e.Arg, from)
	if !ok {
		return err
	}
	return &provider.Error{Kind: e.Kind, Arg: to + rest, Reason: e.Reason}
}
