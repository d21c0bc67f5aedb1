package main

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// The test binary is the example, too, when a host starts it.
func TestMain(m *testing.M) {
	if os.Getenv(plugin.CookieKey) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheExampleServesAHost(t *testing.T) {
	p, err := plugin.Open(t.Context(), plugin.Spec{Env: []string{"GORACE", "GOCOVERDIR"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, tt := range []struct {
		scope provider.Scope
		hits  int
	}{{provider.AllSites(), 1}, {provider.InSites("a.example", site), 1}, {provider.InSites("a.example"), 0}} {
		res, err := p.Search(t.Context(), provider.Query{Text: "say Hello", Scope: tt.scope})
		if err != nil || len(res.Hits) != tt.hits {
			t.Errorf("a search found %+v (%v), want %d hits", res, err, tt.hits)
		}
	}
	objects, err := p.Get(t.Context(), provider.Lookup{URLs: []string{"HTTPS://hello.example", url + "x"}, Scope: provider.AllSites()})
	if err != nil || len(objects) != 2 || !objects[0].Found || !bytes.Equal(objects[0].Schema, page) || objects[1].Found {
		t.Errorf("Get gave %+v, %v", objects, err)
	}
	sites, err := p.Sites(t.Context())
	if err != nil || len(sites) != 1 || sites[0].Site != site {
		t.Errorf("Sites gave %v, %v", sites, err)
	}
	if info, err := p.Info(t.Context()); err != nil || info.Backend != "hello" {
		t.Errorf("Info gave %+v, %v", info, err)
	}
	_, filtered := p.Search(t.Context(), provider.Query{Text: "hello", Scope: provider.AllSites(), Filter: provider.Filter{{Path: "name", Op: provider.Exists}}})
	_, list := p.List(t.Context(), provider.ListQuery{Site: site})
	_, put := p.Put(t.Context(), []provider.Document{{URL: url, Site: site, Schema: page}})
	_, deleted := p.Delete(t.Context(), provider.Selector{Site: site, WholeSite: true})
	for what, err := range map[string]error{"Search with a filter": filtered, "List": list, "Put": put, "Delete": deleted} {
		if !errors.Is(err, provider.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", what, err)
		}
	}
}
