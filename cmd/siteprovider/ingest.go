package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/siteprovider/siteprovider/ingest"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

func (a *app) ingestCommand() *cobra.Command {
	var site siteFlag
	var base string
	cmd := &cobra.Command{
		Use:   "ingest [--site SITE] [--base URL] FILE|DIR|GLOB|-...",
		Short: "Read Schema.org objects and keep them",
		Long: `Read Schema.org objects from files, directories, glob patterns or, with -, from
standard input, and keep them. The format is recognised by content: JSON-LD (one
object, a list, @graph), JSON Lines, NLWeb's url<TAB>json lines and wrappers, HTML
pages with JSON-LD, and any of these packed with gzip or zstd. Microdata and RDFa
are not read.

A document is known by its site and URL; reading it again replaces it, and what
did not change is not written again. What could not be read is named on stderr,
the rest goes in, and the exit status is 1.`,
		Example: `  siteprovider ingest cmd/siteprovider/samples/*/
  siteprovider ingest --site bakery.example cmd/siteprovider/samples/kitchen.example/dark-rye-sourdough.html
  echo '{"@type":"Recipe","name":"Pea soup"}' | siteprovider ingest --base https://shop.example/soup -`,
		Args: wantsArgs("what to ingest (FILE, DIR, GLOB or -)"),
	}
	cmd.Flags().Var(&site, "site", "the `SITE` of every document (default: its wrapper's, else the host of its URL)")
	cmd.Flags().StringVar(&base, "base", "", "`URL` that relative URLs start from; with one input, also that page's own")
	cmd.RunE = a.does(func(ctx context.Context, sources []string) error {
		o := ingest.Options{Sources: sources, Stdin: a.stdin, Base: base}
		if site.given {
			name, err := provider.CheckSite("--site", site.site)
			if err != nil {
				return err
			}
			o.Site = &name
		}
		if u, err := url.Parse(base); cmd.Flags().Changed("base") && (err != nil || u.Host == "") {
			return provider.Invalidf("--base", "%q is no absolute URL", base)
		}
		return a.ingest(ctx, o)
	})
	return cmd
}

func (a *app) ingest(ctx context.Context, o ingest.Options) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	p, err := a.connectToWrite(ctx, cfg.Retrieval)
	if err != nil {
		return err
	}
	defer p.Close()

	bar := a.progressBar()
	o.Store = p
	o.Progress = bar.show
	o.OnFailure = func(f ingest.Failure) { bar.clear(); a.complain("%v%s", f, remedy(f.Err)) }
	o.OnNotice = func(n ingest.Notice) { bar.clear(); a.tell("note: %v", n) }
	report, runErr := ingest.Run(ctx, o)
	bar.clear()
	if report == nil {
		return runErr
	}
	if a.json {
		err = a.printReport(report)
	} else {
		err = a.print([]byte(reportText(report)))
	}
	if err = errors.Join(runErr, err); err != nil {
		return err
	}
	if report.Failed > 0 {
		return errPart
	}
	return nil
}

// remedy says what a flag can do about a failure.
func remedy(err error) string {
	if errors.Is(err, schemaorg.ErrNoURL) {
		return ", or ingest the page alone with --base URL"
	}
	return ""
}

func (a *app) printReport(r *ingest.Report) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return a.print(b.Bytes())
}

// reportText returns a report in one line, and one more per reason for which
// something was left out.
func reportText(r *ingest.Report) string {
	parts := []string{fmt.Sprintf("%d read", r.Read), fmt.Sprintf("%d stored", r.Stored)}
	for _, n := range []struct {
		count int
		word  string
	}{
		{r.Unchanged, "unchanged"}, {r.Pending, "pending"}, {r.Superseded, "superseded"},
		{r.Skipped, "skipped"}, {r.Failed, "failed"}, {r.Deleted, "deleted"},
		{r.Repairs, "repaired"}, {r.Wordless, "without words"},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.word))
		}
	}
	var b strings.Builder
	b.WriteString(strings.Join(parts, ", ") + "\n")
	for _, reason := range slices.Sorted(maps.Keys(r.SkippedBy)) {
		fmt.Fprintf(&b, "  skipped %d: %s\n", r.SkippedBy[reason], visible(reason))
	}
	return b.String()
}
