package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// A provider that knows one page and cannot be written to, as a whole plugin.
func ExampleServe() {
	open := func(ctx context.Context, settings []byte) (provider.Provider, error) {
		var s struct{ Greeting string }
		if err := json.Unmarshal(settings, &s); err != nil {
			return nil, provider.Invalidf("settings", "are not an object")
		}
		return onePage{greeting: s.Greeting}, nil
	}
	// In main, before anything is printed:
	if err := plugin.Serve(open, plugin.ServeOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

const (
	pageSite = "hello.example"
	pageURL  = "https://hello.example/"
)

type onePage struct{ greeting string }

func (p onePage) object() []byte {
	b, _ := json.Marshal(map[string]string{"@type": "WebPage", "name": p.greeting})
	return b
}

func (p onePage) Search(_ context.Context, q provider.Query) (*provider.Result, error) {
	res := &provider.Result{}
	if inScope(q.Scope) && strings.Contains(strings.ToLower(q.Text), "hello") {
		res.Hits = []provider.Hit{{URL: pageURL, Site: pageSite, Name: p.greeting, Schema: p.object()}}
		res.ScoreKind = provider.ScoreBM25
	}
	return res, nil
}

func (p onePage) Get(_ context.Context, l provider.Lookup) ([]provider.Object, error) {
	objects := make([]provider.Object, len(l.URLs))
	for i, u := range l.URLs {
		objects[i] = provider.Object{URL: u}
		if u == pageURL && inScope(l.Scope) {
			objects[i] = provider.Object{URL: u, Site: pageSite, Found: true, Schema: p.object()}
		}
	}
	return objects, nil
}

func (onePage) Sites(context.Context) ([]provider.Site, error) {
	return []provider.Site{{Site: pageSite, Documents: 1}}, nil
}

func (onePage) List(context.Context, provider.ListQuery) ([]provider.Entry, error) {
	return nil, provider.ErrUnsupported
}

func (onePage) Put(context.Context, []provider.Document) ([]provider.PutResult, error) {
	return nil, provider.ErrUnsupported
}

func (onePage) Delete(context.Context, provider.Selector) (int, error) {
	return 0, provider.ErrUnsupported
}

func (onePage) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "hello", Version: "1.0", Backend: "page", Documents: 1}, nil
}

func (onePage) Close() error { return nil }

func inScope(s provider.Scope) bool {
	return s.All() || strings.Contains("\n"+strings.Join(s.Sites(), "\n")+"\n", "\n"+pageSite+"\n")
}
