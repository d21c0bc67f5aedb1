package plugin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

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
