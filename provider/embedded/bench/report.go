package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// report writes the document: a table for each configuration, and one that
// sums them up.
type report struct {
	out  io.Writer
	err  error // the first of writing
	done []summary
}

// summary is a configuration's line of the overview.
type summary struct {
	title string
	rows  []row
}

func (r *report) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = err
	}
}

// begin says what is run, where, and with which versions.
func (r *report) begin(s *settings, args []string) {
	var names []string
	for _, e := range s.engines {
		names = append(names, e.title())
	}
	r.printf("# %s\n\n", strings.Join(names, ", "))
	r.printf("`%s`; %s; seed %d.\n", command(args), machine(), s.seed)
}

func (r *report) heading(c configuration) { r.printf("\n## %s\n\n", c) }

func (r *report) failed(err error) {
	r.printf("Failed: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// table writes what was measured of a configuration; circumstances is said in
// front of it.
func (r *report) table(b *bench, c configuration, circumstances string) {
	r.printf("%.1f MB raw; sites: %d, the biggest of %d documents; queries in each scope: %d, up to %d objects each; %s.\n\n",
		float64(b.raw)/1e6, b.siteCount, b.biggestSize, len(b.questions), b.limit, circumstances)
	rows := b.rows()
	r.rows(b.engines, rows)
	r.done = append(r.done, summary{c.String(), rows})
}

func (r *report) rows(engines []*measured, rows []row) {
	head := []string{""}
	for _, m := range engines {
		head = append(head, m.name)
	}
	rival := len(engines) > 1
	if rival {
		head = append(head, engines[0].name+" against the best other")
	}
	r.line(head)
	r.printf("|%s\n", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		cells := []string{row.title}
		for i := range row.figures {
			cells = append(cells, row.cell(i))
		}
		if rival {
			cells = append(cells, row.ratio())
		}
		r.line(cells)
	}
}

func (r *report) line(cells []string) { r.printf("| %s |\n", strings.Join(cells, " | ")) }

func (r *report) checked(answers int) {
	r.printf("\nChecked %d answers: only sites asked for, no hit twice, every object as it was put.\n", answers)
}

// overview writes one line for each configuration: the first engine's figures
// of the rows that have a short name, and the ratios where others ran.
func (r *report) overview() {
	if len(r.done) < 2 {
		return
	}
	r.printf("\n## All of them\n\nThe first engine; in brackets how many times better than the best of the others, in the worst of the figures.\n\n")
	head := []string{""}
	for _, row := range r.done[0].rows {
		if row.short != "" {
			head = append(head, row.short)
		}
	}
	r.line(head)
	r.printf("|%s\n", strings.Repeat("---|", len(head)))
	for _, s := range r.done {
		cells := []string{s.title}
		for _, name := range head[1:] {
			cells = append(cells, s.cell(name))
		}
		r.line(cells)
	}
}

// cell is the figures of the row with a short name, where there is such a row.
func (s *summary) cell(short string) string {
	for _, row := range s.rows {
		if row.short != short {
			continue
		}
		text := row.cell(0)
		if ratios := row.ratios(); len(ratios) > 0 {
			text += " (" + times(slices.Min(ratios)) + ")"
		}
		return text
	}
	return "–"
}

// title is the engine's name with its version, where it has one.
func (c contender) title() string {
	if info, ok := debug.ReadBuildInfo(); ok && c.module != "" {
		for _, dep := range info.Deps {
			if dep.Path == c.module {
				return c.name + " (" + dep.Path + " " + dep.Version + ")"
			}
		}
	}
	return c.name
}

// machine says what the run ran on.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// String is the configuration's heading.
func (c configuration) String() string {
	documents, sites := "the file's documents", "its own sites"
	if c.documents > 0 {
		documents = thousands(c.documents) + " documents"
	}
	switch {
	case c.sites == 1:
		sites = "one site"
	case c.sites > 0:
		sites = thousands(c.sites) + " sites"
	}
	return documents + ", " + sites
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
