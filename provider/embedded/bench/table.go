package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one line of the table: for each engine some figures, such as three
// percentiles. No figures: there are none, for the reason in its place.
type row struct {
	title   string
	figures [][]float64
	reasons []string
	more    bool // the greater the better
	neutral bool // neither is better
}

// write prints the table as Markdown.
func (b *bench) write(out io.Writer) {
	head := []string{""}
	for _, m := range b.engines {
		head = append(head, m.title())
	}
	rival := len(b.engines) > 1
	if rival {
		head = append(head, b.engines[0].name+" against the best other")
	}
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range b.rows() {
		cells := []string{r.title}
		for i, f := range r.figures {
			if len(f) == 0 {
				cells = append(cells, r.reasons[i])
				continue
			}
			cells = append(cells, joined(f, number))
		}
		if rival {
			cells = append(cells, r.ratio())
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}

// title is the engine's name with its version, where it has one.
func (m *measured) title() string {
	if info, ok := debug.ReadBuildInfo(); ok && m.module != "" {
		for _, dep := range info.Deps {
			if dep.Path == m.module {
				return m.name + " (" + dep.Path + " " + dep.Version + ")"
			}
		}
	}
	return m.name
}

// rows computes the table.
func (b *bench) rows() []row {
	const mega = 1e6
	bytes := func(of func(*measured) int64) func(*measured) []float64 {
		return func(m *measured) []float64 {
			if n := of(m); n > 0 {
				return []float64{float64(n) / mega}
			}
			return nil
		}
	}
	rows := []row{
		b.row(fmt.Sprintf("ingest, durable, batches of %d: docs/s", b.batch), func(m *measured) []float64 {
			return []float64{float64(b.corpus.n) / m.ingest.Seconds()}
		}).greaterIsBetter(),
		b.row("one batch: ms, p50 / p95 / max", func(m *measured) []float64 {
			return []float64{percentile(m.batches, 50), percentile(m.batches, 95), percentile(m.batches, 100)}
		}),
		b.row("processor time of ingesting: s", func(m *measured) []float64 { return []float64{m.ingestCPU.Seconds()} }),
	}
	for i, s := range b.scopes {
		rows = append(rows, b.row(s.name+": ms, p50 / p95 / p99", func(m *measured) []float64 {
			took := m.scopes[i].took
			return []float64{percentile(took, 50), percentile(took, 95), percentile(took, 99)}
		}))
	}
	first := func(of func(*measured) []time.Duration) func(*measured) []float64 {
		return func(m *measured) []float64 { return []float64{percentile(of(m), 50), percentile(of(m), 100)} }
	}
	rows = append(rows,
		b.row("open: ms, p50 / max", first(func(m *measured) []time.Duration { return m.open })),
		b.row("first query, biggest site: ms, p50 / max", first(func(m *measured) []time.Duration { return m.firstOne })),
		b.row("first query, AllSites: ms, p50 / max", first(func(m *measured) []time.Duration { return m.firstAll })),
		b.row("resident after the queries: MB", bytes(func(m *measured) int64 { return m.one.Resident })),
		b.row("of it private: MB", bytes(func(m *measured) int64 { return m.one.Private })),
		b.row("all of it, pages mapped twice counted once: MB", bytes(func(m *measured) int64 { return m.one.Proportional })),
		b.row("two processes, counted so: MB", bytes(func(m *measured) int64 { return m.two })),
		b.row("peak resident while ingesting: MB", bytes(func(m *measured) int64 { return m.ingester.Peak })),
		b.row("disk: MB", bytes(func(m *measured) int64 { return m.disk })),
		b.row("disk / raw", func(m *measured) []float64 { return []float64{float64(m.disk) / float64(b.raw)} }),
		b.row("bytes written while ingesting: MB", bytes(func(m *measured) int64 { return m.ingester.Written })),
	)
	for i, s := range b.scopes {
		rows = append(rows, b.row(s.name+": hits a query; of the first ten ours too, %", func(m *measured) []float64 {
			found := &m.scopes[i]
			return []float64{float64(found.hits) / float64(len(found.took)), 100 * float64(found.overlap) / float64(max(1, found.compared))}
		}).withoutRatio())
	}
	return rows
}

func (b *bench) row(title string, figures func(*measured) []float64) row {
	r := row{title: title}
	for _, m := range b.engines {
		reason := "–"
		if m.noSecond != nil && strings.HasPrefix(title, "two processes") {
			reason = "refused"
		}
		r.figures = append(r.figures, figures(m))
		r.reasons = append(r.reasons, reason)
	}
	return r
}

func (r row) greaterIsBetter() row { r.more = true; return r }

func (r row) withoutRatio() row { r.neutral = true; return r }

// ratio compares the first engine with the best of the others, figure by
// figure: 2.0 times is twice as good, 0.5 half as good.
func (r row) ratio() string {
	ours := r.figures[0]
	if r.neutral || len(ours) == 0 {
		return ""
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		best := math.NaN()
		for _, theirs := range r.figures[1:] {
			if len(theirs) != len(ours) {
				continue
			}
			times := theirs[i] / ours[i]
			if r.more {
				times = ours[i] / theirs[i]
			}
			if math.IsNaN(best) || times < best {
				best = times
			}
		}
		if math.IsNaN(best) {
			return ""
		}
		ratios[i] = best
	}
	return joined(ratios, func(f float64) string {
		if f < 1 {
			return strconv.FormatFloat(f, 'f', 2, 64)
		}
		return strconv.FormatFloat(f, 'f', 1, 64)
	}) + " times"
}

func joined(figures []float64, format func(float64) string) string {
	list := make([]string, len(figures))
	for i, f := range figures {
		list[i] = format(f)
	}
	return strings.Join(list, " / ")
}

// number prints f with about three significant digits.
func number(f float64) string {
	digits := 0
	switch {
	case f < 1:
		digits = 3
	case f < 10:
		digits = 2
	case f < 100:
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

// percentile is the nearest-rank percentile of list, in milliseconds.
func percentile(list []time.Duration, p int) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.SortedFunc(slices.Values(list), func(a, b time.Duration) int { return cmp.Compare(a, b) })
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// machine says what the run ran on.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
