// Command example is a whole provider by another author, with one page. Try it:
//
//	siteprovider --plugin ./example search hello
package main

import (
	"context"
	"log"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

const site, url = "hello.example", "https://hello.example/"

var page = []byte(`{"@type":"WebPage","name":"Hello","url":"https://hello.example/"}`)

type hello struct{ plugin.ReadOnly }

func (hello) Search(_ context.Context, q provider.Query) (*provider.Result, error) {
	if len(q.Filter) > 0 {
		return nil, provider.Errorf(provider.ErrUnsupported, "no filters here") // never an unfiltered result
	}
	if !covers(q.Scope) || !strings.Contains(strings.ToLower(q.Text), "hello") {
		return &provider.Result{}, nil
	}
	hit := provider.Hit{URL: url, Site: site, Name: "Hello", Types: []string{"WebPage"}, Schema: page}
	return &provider.Result{Hits: []provider.Hit{hit}, ScoreKind: provider.ScoreBM25}, nil
}

func (hello) Get(_ context.Context, l provider.Lookup) ([]provider.Object, error) {
	objects := make([]provider.Object, len(l.URLs))
	for i, u := range l.URLs {
		objects[i] = provider.Object{URL: u}
		if covers(l.Scope) && provider.NormalURL(u) == provider.NormalURL(url) {
			objects[i] = provider.Object{URL: url, Site: site, Found: true, Schema: page}
		}
	}
	return objects, nil
}

func (hello) Sites(context.Context) ([]provider.Site, error) {
	return []provider.Site{{Site: site, Documents: 1}}, nil
}

func (hello) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "hello", Version: "1.0", Backend: "hello", Documents: 1}, nil
}

func covers(s provider.Scope) bool { return s.All() || slices.Contains(s.Sites(), site) }

func main() {
	open := func(context.Context, []byte) (provider.Provider, error) { return hello{}, nil }
	if err := plugin.Serve(open, plugin.ServeOptions{}); err != nil {
		log.Fatal(err)
	}
}
