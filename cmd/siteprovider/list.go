package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/provider"
)

func (a *app) listCommand() *cobra.Command {
	var site siteFlag
	cmd := &cobra.Command{
		Use:     "list --site SITE",
		Short:   "List the URLs of one site's documents",
		Example: `  siteprovider list --site kitchen.example`,
		Args:    wantsNoArgs,
	}
	cmd.Flags().Var(&site, "site", "the `SITE` (required)")
	cmd.RunE = a.does(func(ctx context.Context, _ []string) error {
		name, err := requiredSite(site)
		if err != nil {
			return err
		}
		return a.list(ctx, name)
	})
	return cmd
}

// requiredSite returns the site of a command that works on exactly one.
func requiredSite(site siteFlag) (string, error) {
	if !site.given {
		return "", provider.Invalidf("--site", "is missing")
	}
	return provider.CheckSite("--site", site.site)
}

// list prints a site's documents page by page, so that a site of any size
// takes no more memory than a page.
func (a *app) list(ctx context.Context, site string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	p, err := a.connect(ctx, cfg.Retrieval)
	if err != nil {
		return err
	}
	defer p.Close()

	stale, count := 0, 0
	b := []byte(`{"entries":[`)
	if !a.json {
		b = nil
	}
	for after := ""; ; {
		entries, err := listPage(ctx, p, provider.ListQuery{Site: site, After: after, Limit: provider.MaxLimit})
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		for _, e := range entries {
			if !e.Indexed {
				stale++
			}
			switch {
			case !a.json:
				b = append(append(b, visible(e.URL)...), '\n')
			case count > 0:
				b = entryJSON(append(b, ','), e)
			default:
				b = entryJSON(b, e)
			}
			count++
		}
		last := len(entries) < provider.MaxLimit
		if last && a.json {
			b = append(b, "]}\n"...)
		}
		if err := a.print(b); err != nil {
			return err
		}
		if last {
			break
		}
		after, b = entries[len(entries)-1].URL, b[:0]
	}
	if count == 0 {
		a.tellUnknownSite(ctx, p, site)
	}
	if stale > 0 {
		a.tell("note: a search does not find %d of them yet; ingest them again", stale)
	}
	return nil
}

func listPage(ctx context.Context, p provider.Provider, q provider.ListQuery) ([]provider.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return p.List(ctx, q)
}
