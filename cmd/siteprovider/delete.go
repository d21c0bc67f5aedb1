package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/lookup"
	"github.com/siteprovider/siteprovider/provider"
)

func (a *app) deleteCommand() *cobra.Command {
	var site siteFlag
	cmd := &cobra.Command{
		Use:   "delete --site SITE [URL...]",
		Short: "Delete documents of a site by URL, or the whole site",
		Long: `Delete the documents of a site that have the given URLs, compared exactly; without
a URL, the whole site. There is no question before it does so. A site must be
named: there is no way to delete every site at once.`,
		Example: `  siteprovider delete --site kitchen.example https://kitchen.example/recipes/beef-pho
  siteprovider delete --site kitchen.example`,
	}
	cmd.Flags().Var(&site, "site", "the `SITE` (required)")
	cmd.RunE = a.does(func(ctx context.Context, urls []string) error {
		name, err := requiredSite(site)
		if err != nil {
			return err
		}
		// A blank URL is an empty variable in a script; deleting the rest
		// of the list first would leave the job half done.
		for _, u := range urls {
			if err := provider.CheckURL("URL", u); err != nil {
				return err
			}
		}
		return a.delete(ctx, name, urls)
	})
	return cmd
}

func (a *app) delete(ctx context.Context, site string, urls []string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	p, err := a.connect(ctx, cfg.Retrieval)
	if err != nil {
		return err
	}
	defer p.Close()

	slices.Sort(urls)
	urls = slices.Compact(urls)
	missing, err := notStored(ctx, p, site, urls)
	if err != nil {
		return err
	}
	deleted := 0
	if len(urls) == 0 {
		deleted, err = p.Delete(ctx, provider.Selector{Site: site, WholeSite: true})
	}
	for some := range slices.Chunk(urls, provider.MaxURLs) {
		var n int
		if n, err = p.Delete(ctx, provider.Selector{Site: site, URLs: some}); err != nil {
			break
		}
		deleted += n
	}
	if err != nil {
		return fmt.Errorf("delete: %w (%d documents were deleted before)", err, deleted)
	}
	if a.json {
		err = a.print(append(jsonInt([]byte{'{'}, "deleted", int64(deleted)), '}', '\n'))
	} else {
		err = a.print(fmt.Appendf(nil, "%d deleted\n", deleted))
	}
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		a.tellMissing(ctx, p, missing, provider.InSites(site))
		return errPart
	}
	if len(urls) == 0 && deleted == 0 {
		a.tellUnknownSite(ctx, p, site)
	}
	return nil
}

// notStored returns the URLs, compared exactly, that a site does not hold.
func notStored(ctx context.Context, p provider.Provider, site string, urls []string) ([]string, error) {
	objects, err := lookup.Get(ctx, p, urls, provider.InSites(site))
	if err != nil {
		return nil, err
	}
	var missing []string
	for i, o := range objects {
		if !o.Found || o.URL != urls[i] {
			missing = append(missing, urls[i])
		}
	}
	return missing, nil
}
