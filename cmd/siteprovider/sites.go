package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) sitesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sites",
		Short: "List the sites, with the number of documents of each",
		Args:  wantsNoArgs,
		RunE: a.does(func(ctx context.Context, _ []string) error {
			return a.sites(ctx)
		}),
	}
}

func (a *app) sites(ctx context.Context) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p, err := a.connect(ctx, cfg.Retrieval)
	if err != nil {
		return err
	}
	defer p.Close()
	sites, err := p.Sites(ctx)
	if err != nil {
		return fmt.Errorf("list sites: %w", err)
	}
	if a.json {
		return a.print(sitesJSON(sites))
	}
	var b bytes.Buffer
	for _, s := range sites {
		fmt.Fprintf(&b, "%8d  %s\n", s.Documents, visible(s.Site))
	}
	return a.print(b.Bytes())
}
