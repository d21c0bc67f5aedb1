// Command bench puts the same documents and the same queries through the
// embedded engine, SQLite's FTS5 and bleve, in one run, and prints a table.
//
//	go run . -docs debian.jsonl -n 64000 -sites 58
//
// See README.md for what is compared and how.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	if name := os.Getenv(childEnv); name != "" {
		beChild(name)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// beChild is what this program does as the process of one engine.
func beChild(name string) {
	out := os.Stdout
	os.Stdout = os.Stderr // nothing a library prints may end up among the replies
	if err := serveChild(name, os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", name+":", err)
		os.Exit(1)
	}
}

// settings are the command line's.
type settings struct {
	docs, engines, dir string
	n, sites, queries  int
	batch, opens       int
	limit              int
	seed               uint64
	check              bool
}

func parse(args []string, errors io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errors)
	flags.StringVar(&s.docs, "docs", "", "`file` of JSON lines: {url, site, schema}, or objects with a url (required)")
	flags.IntVar(&s.n, "n", 0, "number of documents; beyond those of the file, copies with one word in seven changed (0: those of the file)")
	flags.IntVar(&s.sites, "sites", 0, "number of sites, the k-th with 1/k of the documents of the first; the file's own when it has as many, or for 0")
	flags.StringVar(&s.engines, "engines", "embedded,fts5,bleve", "engines to run; ratios are those of the first")
	flags.IntVar(&s.queries, "queries", 500, "number of queries, each of which is put to one site, five sites and all")
	flags.IntVar(&s.batch, "batch", 1000, "documents of a put, at most 1000")
	flags.IntVar(&s.limit, "limit", 50, "hits of a query, each with its object")
	flags.IntVar(&s.opens, "opens", 10, "fresh processes per engine for the first query of a site, and as many for that of all")
	flags.Uint64Var(&s.seed, "seed", 1, "of the sites, the changed words and the queries")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "`directory` for the stores, on the disk that is to be measured; they are deleted afterwards")
	flags.BoolVar(&s.check, "check", false, "look at every answer: only sites asked for, no hit twice, objects as they were put")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.docs == "":
		return s, fmt.Errorf("-docs is required")
	case s.n < 0 || s.sites < 0:
		return s, fmt.Errorf("-n and -sites cannot be negative")
	case s.batch < 1 || s.batch > 1000:
		return s, fmt.Errorf("-batch is %d, want 1 to 1000", s.batch)
	case s.queries < 1 || s.opens < 1 || s.limit < 1:
		return s, fmt.Errorf("-queries, -opens and -limit are at least 1")
	}
	return s, nil
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	s, err := parse(args, log)
	if err != nil {
		return err
	}
	b, err := newBench(s, log)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(s.dir, "siteprovider-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	before := loadAverage()
	if err := b.run(ctx); err != nil {
		return err
	}
	after := loadAverage()
	fmt.Fprintf(out, "Documents: %d, %.1f MB raw; sites: %d, the biggest of %d documents; queries in each scope: %d, up to %d objects each; seed %d.\n",
		b.corpus.n, float64(b.raw)/1e6, b.siteCount, b.biggestSize, len(b.questions), b.limit, s.seed)
	fmt.Fprintf(out, "%s; load average %s before, %s after.\n\n", machine(), before, after)
	b.write(out)
	if !s.check {
		return nil
	}
	answers, err := b.check(ctx)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	fmt.Fprintf(out, "\nChecked %d answers: only sites asked for, no hit twice, every object as it was put.\n", answers)
	return nil
}

// newBench reads the documents and draws the queries.
func newBench(s settings, log io.Writer) (*bench, error) {
	engines, err := chosen(s.engines)
	if err != nil {
		return nil, err
	}
	c, err := loadCorpus(s.docs, s.n, s.sites, s.seed)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	b := &bench{corpus: c, batch: s.batch, opens: s.opens, limit: s.limit}
	b.progress = func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) }
	sizes := c.siteSizes()
	b.siteCount = len(sizes)
	for site, size := range sizes {
		if size > b.biggestSize || size == b.biggestSize && site < b.biggest {
			b.biggest, b.biggestSize = site, size
		}
	}
	b.scopes = scopes(len(sizes))
	if b.questions, err = c.questions(s.queries, len(sizes)); err != nil {
		return nil, err
	}
	for _, e := range engines {
		b.engines = append(b.engines, &measured{contender: e})
	}
	return b, nil
}
