// Command bench puts the same documents and the same queries through the
// embedded engine, SQLite's FTS5 and bleve, in one run, and prints a table for
// each configuration.
//
//	go run . -docs debian.jsonl -runs 64000x58
//	go run . -docs debian.jsonl -all -o tables.md
//
// See README.md for what is compared and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
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
	docs, dir, output string
	runs              []configuration
	engines           []contender
	batch, limit      int
	opens             int
	quiet             time.Duration
	seed              uint64
	check             bool

	originals []original
	progress  func(format string, args ...any)
}

func parse(args []string, log io.Writer) (*settings, error) {
	s := new(settings)
	var runs, alone, engines string
	var all bool
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&s.docs, "docs", "", "`file` of JSON lines: {url, site, schema}, or objects with a url (required)")
	flags.StringVar(&runs, "runs", "", "what to run, such as 64000x58,200000x1:100: documents x sites, and queries in each scope unless 500. Beyond the documents of the file copies with one word in seven changed; 0: those of the file. Beyond its sites or below them the k-th site gets 1/k of the documents of the first; 0: its own")
	flags.StringVar(&alone, "alone", "", "the same for the first engine alone")
	flags.BoolVar(&all, "all", false, "run what the README lists: -runs "+allRuns+" -alone "+allAlone)
	flags.StringVar(&engines, "engines", "embedded,fts5,bleve", "engines to run; ratios are those of the first")
	flags.StringVar(&s.output, "o", "", "`file` for the tables, instead of standard output; each is written as soon as it is complete")
	flags.IntVar(&s.batch, "batch", 1000, "documents of a put, at most 1000")
	flags.IntVar(&s.limit, "limit", 50, "hits of a query, each with its object")
	flags.IntVar(&s.opens, "opens", 7, "fresh processes per engine for the first query of a site, and as many for that of all")
	flags.DurationVar(&s.quiet, "quiet", 5*time.Second, "how long an engine does nothing until it is taken to have nothing left to do")
	flags.Uint64Var(&s.seed, "seed", 1, "of the sites, the changed words and the queries")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "`directory` for the stores, on the disk that is to be measured; they are deleted afterwards")
	flags.BoolVar(&s.check, "check", false, "look at every answer: only sites asked for, no hit twice, objects as they were put")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if all {
		runs, alone = runs+","+allRuns, alone+","+allAlone
	}
	var err error
	if s.engines, err = chosen(engines); err != nil {
		return nil, err
	}
	if s.runs, err = parseConfigurations(runs, false); err != nil {
		return nil, err
	}
	ofFirst, err := parseConfigurations(alone, true)
	if err != nil {
		return nil, err
	}
	s.runs = append(s.runs, ofFirst...)
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.docs == "":
		return nil, errors.New("-docs is required")
	case len(s.runs) == 0:
		return nil, errors.New("one of -runs, -alone and -all is required")
	case s.batch < 1 || s.batch > 1000:
		return nil, fmt.Errorf("-batch is %d, want 1 to 1000", s.batch)
	case s.opens < 1 || s.limit < 1:
		return nil, errors.New("-opens and -limit are at least 1")
	}
	start := time.Now()
	s.progress = func(format string, args ...any) {
		fmt.Fprintf(log, "%5.0f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	s.originals, err = loadOriginals(s.docs)
	return s, err
}

func run(ctx context.Context, args []string, out, log io.Writer) (err error) {
	s, err := parse(args, log)
	if err != nil {
		return err
	}
	if s.output != "" {
		f, err := os.Create(s.output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	r := report{out: out}
	r.begin(s, args)
	var failed []error
	for _, c := range s.runs {
		if ctx.Err() != nil {
			failed = append(failed, ctx.Err())
			break
		}
		s.progress("%s", c)
		if err := runOne(ctx, s, c, &r); err != nil {
			err = fmt.Errorf("%s: %w", c, err)
			r.failed(err)
			failed = append(failed, err)
		}
	}
	r.overview()
	return errors.Join(append(failed, r.err)...)
}

// runOne runs one configuration and reports it.
func runOne(ctx context.Context, s *settings, c configuration, r *report) error {
	r.heading(c)
	start, load := time.Now(), loadAverage()
	b, err := newBench(s, c)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(s.dir, "siteprovider-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.run(ctx); err != nil {
		return err
	}
	r.table(b, c, fmt.Sprintf("load average %s before, %s after; %s in all", load, loadAverage(), time.Since(start).Round(time.Second)))
	if !s.check {
		return nil
	}
	answers, err := b.check(ctx)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	r.checked(answers)
	return nil
}

// command is the command line as it may be typed again.
func command(args []string) string {
	return strings.Join(append([]string{"go", "run", "."}, args...), " ")
}
