package plugin_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// A host of a provider by another author, which is told when it fails.
func ExampleOpen() {
	ctx := context.Background()
	p, err := plugin.Open(ctx, plugin.Spec{
		Path:     "/usr/local/lib/search/their-provider",
		Env:      []string{"THEIR_REGION"},
		Settings: []byte(`{"index":"products"}`),
		Log:      slog.Default(),
		Notify: func(e plugin.Event) {
			if e.Kind == plugin.CrashLoop {
				log.Print("page somebody: ", e.Err)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	res, err := p.Search(ctx, provider.Query{Text: "walnut bread", Scope: provider.AllSites()})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range res.Hits {
		fmt.Println(h.Name, h.URL)
	}
}
