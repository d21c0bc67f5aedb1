package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// A Go program loads the provider as the command line does: it starts the
// executable and talks to it. The README shows this function.
func searchSite(ctx context.Context, executable, dir, site, text string) ([]provider.Hit, error) {
	settings, err := json.Marshal(map[string]string{"backend": "embedded", "data": dir}) // dir is absolute
	if err != nil {
		return nil, err
	}
	p, err := plugin.Open(ctx, plugin.Spec{Path: executable, Settings: settings})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	res, err := p.Search(ctx, provider.Query{Text: text, Scope: provider.InSites(site), Limit: 5})
	if err != nil {
		return nil, err
	}
	return res.Hits, nil
}

func Example_host() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	ingest := &app{stdin: os.Stdin, stdout: io.Discard, stderr: os.Stderr}
	ingest.run(ctx, []string{"--data", dir, "ingest", "samples/kitchen.example"})

	executable, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	hits, err := searchSite(ctx, executable, dir, "kitchen.example", "leek")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits[0].Name, hits[0].URL)
	// Output:
	// Potato and leek soup https://kitchen.example/soups/potato-leek-soup/
}
