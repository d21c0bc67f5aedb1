package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/lookup"
	"github.com/siteprovider/siteprovider/provider"
)

func (a *app) getCommand() *cobra.Command {
	var sites []string
	cmd := &cobra.Command{
		Use:   "get [--site SITE]... URL...",
		Short: "Print the full object of each URL, as it is stored",
		Long: `Print the full object of each URL, with the bytes that are stored, and a line
break after each. A URL is looked for as it is written, then in its normal form;
that of an object with an @id may end in a fragment, such as #recipe. Where
several sites hold a URL, the site of its host wins, else the first by name, and
a note says so.`,
		Example: `  siteprovider get https://kitchen.example/recipes/beef-pho`,
		Args:    wantsArgs("a URL"),
	}
	cmd.Flags().StringArrayVar(&sites, "site", nil, siteHelp)
	cmd.RunE = a.does(func(ctx context.Context, urls []string) error {
		scope, err := scopeOf(sites)
		if err != nil {
			return err
		}
		for _, u := range urls {
			if err := provider.CheckURL("URL", u); err != nil {
				return err
			}
		}
		return a.get(ctx, urls, scope)
	})
	return cmd
}

func (a *app) get(ctx context.Context, urls []string, scope provider.Scope) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p, err := a.connect(ctx, cfg.ObjectStorage)
	if err != nil {
		return err
	}
	defer p.Close()
	objects, err := lookup.Get(ctx, p, urls, scope)
	if err != nil {
		return err
	}
	if a.json {
		err = a.print(objectsJSON(objects))
	} else {
		err = a.print(objectsText(objects))
	}
	if err != nil {
		return err
	}
	var missing []string
	for _, o := range objects {
		if !o.Found {
			missing = append(missing, o.URL)
		}
		if o.Ambiguous {
			a.tell("note: several sites hold %s; this is the object of %s", o.URL, o.Site)
		}
	}
	if len(missing) > 0 {
		a.tellMissing(ctx, p, missing, scope)
		return errPart
	}
	return nil
}

// objectsText returns the objects that were found, one after the other.
func objectsText(objects []provider.Object) []byte {
	var b []byte
	for _, o := range objects {
		if o.Found {
			b = append(append(b, o.Schema...), '\n')
		}
	}
	return b
}
