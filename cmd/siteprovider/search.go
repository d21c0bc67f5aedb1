package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/cmd/siteprovider/internal/config"
	"github.com/siteprovider/siteprovider/lookup"
	"github.com/siteprovider/siteprovider/provider"
)

// defaultHits is how many hits a person wants to see.
const defaultHits = 10

// passageLines is how much of a passage a person wants to see.
const passageLines = 3

func (a *app) searchCommand() *cobra.Command {
	var sites, filters []string
	var limit int
	cmd := &cobra.Command{
		Use:   "search [--site SITE]... [-n N] [--filter CONDITION]... QUERY",
		Short: "Search one site, several, or all",
		Long: `Search one site, several, or all. The query is plain language: no character of
it has a special meaning, and any one of its words is enough for a hit. Several
arguments are one query, joined by blanks.

` + filterHelp,
		Example: `  siteprovider search "noodle soup"
  siteprovider search --site kitchen.example --site museo.example soup
  siteprovider search --site gadgets.example --filter 'offers.price<=60' headphones`,
		Args: wantsArgs("the query"),
	}
	cmd.Flags().StringArrayVar(&sites, "site", nil, siteHelp)
	cmd.Flags().IntVarP(&limit, "limit", "n", defaultHits, fmt.Sprintf("at most `N` hits, 1 to %d", provider.MaxLimit))
	cmd.Flags().StringArrayVar(&filters, "filter", nil, "`CONDITION` that every hit meets, such as 'offers.price<=20'; see above")
	cmd.RunE = a.does(func(ctx context.Context, args []string) error {
		q := provider.Query{Text: strings.Join(args, " "), Limit: limit}
		if limit < 1 || limit > provider.MaxLimit {
			return provider.Invalidf("-n", "%d is not between 1 and %d", limit, provider.MaxLimit)
		}
		var err error
		if q.Scope, err = scopeOf(sites); err != nil {
			return err
		}
		if q.Filter, err = parseFilter(filters); err != nil {
			return err
		}
		return a.search(ctx, q)
	})
	return cmd
}

func (a *app) search(ctx context.Context, q provider.Query) error {
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
	res, err := p.Search(ctx, q)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if !a.json || a.enrich(ctx, cfg, p, res) {
		forgetTruncation(res)
	}
	for _, st := range res.Statuses {
		a.tellStatus(st)
		if st.Code == provider.StatusSiteUnknown {
			a.tellCommas(strings.Join(q.Scope.Sites(), "\n"))
		}
	}
	if a.json {
		return a.print(resultJSON(res))
	}
	if len(res.Hits) == 0 {
		a.tell("no hits")
	}
	return a.print(resultText(res))
}

// enrich fetches the objects that the search had no room for, and reports
// whether all are there now. Only JSON output shows objects, so only there are
// they worth it.
func (a *app) enrich(ctx context.Context, cfg *config.Config, p provider.Provider, res *provider.Result) (complete bool) {
	if !slices.ContainsFunc(res.Hits, func(h provider.Hit) bool { return len(h.Schema) == 0 }) {
		return true
	}
	from := p
	if !cfg.ObjectStorage.Same(cfg.Retrieval) {
		storage, err := a.connect(ctx, cfg.ObjectStorage)
		if err != nil {
			a.tell("warning: objects that the search left out are missing: %s", message(err))
			return false
		}
		defer storage.Close()
		from = storage
	}
	hits, failures := lookup.Enrich(ctx, from, res.Hits)
	res.Hits = hits
	for _, f := range failures {
		a.tell("warning: the object of %s (%s) is missing: %v", f.URL, f.Site, f.Err)
	}
	return len(failures) == 0
}

// forgetTruncation takes back the status that says that objects are missing.
func forgetTruncation(res *provider.Result) {
	statuses := res.Statuses
	res.Statuses, res.Degraded = nil, false
	for _, st := range statuses {
		if st.Code != provider.StatusResultTruncated {
			res.AddStatus(st)
		}
	}
}

// resultText returns a search's hits for a person.
func resultText(res *provider.Result) []byte {
	var b bytes.Buffer
	if res.Answer != nil && res.Answer.Text != nil {
		for _, line := range wrap(*res.Answer.Text, lineWidth, 100) {
			fmt.Fprintln(&b, line)
		}
		b.WriteByte('\n')
	}
	for i, h := range res.Hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		name := oneLine(h.Name)
		if name == "" {
			name = "(no name)"
		}
		fmt.Fprintf(&b, "%3d. %s\n", i+1, name)
		where := oneLine(h.Site)
		if len(h.Types) > 0 {
			where += " · " + oneLine(strings.Join(h.Types, ", "))
		}
		fmt.Fprintf(&b, "     %s\n     %s\n", where, visible(h.URL))
		// A passage from the front of a document begins with its name,
		// which is there already.
		passage := strings.TrimPrefix(oneLine(h.Passage), name)
		for _, line := range wrap(passage, lineWidth-5, passageLines) {
			fmt.Fprintf(&b, "     %s\n", line)
		}
	}
	return b.Bytes()
}
