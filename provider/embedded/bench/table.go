package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one line of the table: for each engine some figures, such as three
// percentiles. No figures: there are none, for the reason in its place.
type row struct {
	title   string
	short   string // in the overview; empty: not there
	figures [][]float64
	reasons []string
	more    bool // the greater the better
	neutral bool // neither is better
}

// rows computes the table.
func (b *bench) rows() []row {
	rows := b.ingestRows()
	for i, s := range b.scopes {
		rows = append(rows, b.row(s.name+": ms, p50 / p95 / p99", func(m *measured) []float64 {
			took := m.scopes[i].took
			return []float64{percentile(took, 50), percentile(took, 95), percentile(took, 99)}
		}).inOverview(s.name+" ms, p50 / p95 / p99"))
	}
	rows = append(rows, b.firstRows()...)
	rows = append(rows, b.memoryRows()...)
	rows = append(rows,
		b.row("disk: MB", megabytes(func(m *measured) int64 { return m.disk })),
		b.row("disk / raw", func(m *measured) []float64 {
			return []float64{float64(m.disk) / float64(b.raw)}
		}).inOverview("disk / raw"),
		b.row("bytes written while ingesting: MB", megabytes(func(m *measured) int64 { return m.ingester.Written })),
	)
	for i, s := range b.scopes {
		rows = append(rows, b.row(s.name+": hits a query; of the first ten ours too, %", func(m *measured) []float64 {
			found := &m.scopes[i]
			return []float64{float64(found.hits) / float64(len(found.took)), 100 * float64(found.overlap) / float64(max(1, found.compared))}
		}).withoutRatio())
	}
	return rows
}

func (b *bench) ingestRows() []row {
	return []row{
		b.row(fmt.Sprintf("ingest, durable, batches of %d: docs/s", b.batch), func(m *measured) []float64 {
			return []float64{float64(b.corpus.n) / m.ingest.Seconds()}
		}).greaterIsBetter().inOverview("ingest docs/s"),
		b.row("one batch: ms, p50 / p95 / max", func(m *measured) []float64 {
			return []float64{percentile(m.batches, 50), percentile(m.batches, 95), percentile(m.batches, 100)}
		}),
		b.row("settling after it: s, processor s", func(m *measured) []float64 {
			return []float64{m.settle.took.Seconds(), m.settle.cpu.Seconds()}
		}).withoutRatio(),
		b.row("ingest with settling: docs/s", func(m *measured) []float64 {
			return []float64{float64(b.corpus.n) / (m.ingest + m.settle.took).Seconds()}
		}).greaterIsBetter(),
		b.row("processor time of both: s", func(m *measured) []float64 { return []float64{m.ingestCPU.Seconds()} }),
	}
}

func (b *bench) firstRows() []row {
	first := func(title string, of func(*measured) []time.Duration) row {
		return b.row(title+": ms, p50 / max", func(m *measured) []float64 {
			if len(of(m)) == 0 {
				return nil
			}
			return []float64{percentile(of(m), 50), percentile(of(m), 100)}
		})
	}
	biggest := fmt.Sprintf("first query, biggest site (%s documents)", thousands(b.biggestSize))
	return []row{
		first("open", func(m *measured) []time.Duration { return m.warm.open }).inOverview("open ms"),
		first(biggest, func(m *measured) []time.Duration { return m.warm.one }).inOverview("first query ms, biggest site"),
		first("first query, AllSites", func(m *measured) []time.Duration { return m.warm.all }).inOverview("first query ms, AllSites"),
		first("from disk: open", func(m *measured) []time.Duration { return m.cold.open }),
		first("from disk: "+biggest, func(m *measured) []time.Duration { return m.cold.one }),
		first("from disk: first query, AllSites", func(m *measured) []time.Duration { return m.cold.all }),
	}
}

func (b *bench) memoryRows() []row {
	var rows []row
	for _, count := range []struct {
		title string
		of    func(*measured) *process
	}{
		{"one process", func(m *measured) *process { return &m.one }},
		{"two processes", func(m *measured) *process { return &m.two }},
	} {
		figures := func(parts ...func(*process) int64) func(*measured) []float64 {
			return func(m *measured) []float64 {
				p := count.of(m)
				if p.Resident == 0 {
					return nil
				}
				var list []float64
				for _, part := range parts {
					list = append(list, float64(part(p))/mega)
				}
				return list
			}
		}
		rows = append(rows,
			b.row(count.title+": MB, proportional", figures(
				func(p *process) int64 { return p.Proportional },
			)).inOverview(count.title+", MB proportional"),
			b.row(count.title+": MB, resident / private / anonymous", figures(
				func(p *process) int64 { return p.Resident },
				func(p *process) int64 { return p.Private },
				func(p *process) int64 { return p.Anonymous },
			)),
		)
	}
	for _, r := range rows {
		for i, m := range b.engines {
			if m.noSecond != nil {
				r.reasons[i] = "refused"
			}
		}
	}
	return append(rows,
		b.row("peak resident while answering: MB", megabytes(func(m *measured) int64 { return m.peak })),
		b.row("peak resident while ingesting: MB", megabytes(func(m *measured) int64 { return m.ingester.Peak })),
	)
}

const mega = 1e6

func megabytes(of func(*measured) int64) func(*measured) []float64 {
	return func(m *measured) []float64 {
		if n := of(m); n > 0 {
			return []float64{float64(n) / mega}
		}
		return nil
	}
}

func (b *bench) row(title string, figures func(*measured) []float64) row {
	r := row{title: title}
	for _, m := range b.engines {
		r.figures = append(r.figures, figures(m))
		r.reasons = append(r.reasons, "–")
	}
	return r
}

func (r row) greaterIsBetter() row { r.more = true; return r }

func (r row) withoutRatio() row { r.neutral = true; return r }

func (r row) inOverview(short string) row { r.short = short; return r }

// cell is the figures of engine number i.
func (r *row) cell(i int) string {
	if len(r.figures[i]) == 0 {
		return r.reasons[i]
	}
	return joined(r.figures[i], number)
}

// ratio compares the first engine with the best of the others, figure by
// figure: 2.0 times is twice as good, 0.5 half as good.
func (r *row) ratio() string {
	ratios := r.ratios()
	if len(ratios) == 0 {
		return ""
	}
	return joined(ratios, times) + " times"
}

// ratios are those of ratio; none where there is nothing to compare.
func (r *row) ratios() []float64 {
	ours := r.figures[0]
	if r.neutral || len(ours) == 0 {
		return nil
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
			return nil
		}
		ratios[i] = best
	}
	return ratios
}

// times prints how many times better something is.
func times(f float64) string {
	if f < 1 {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
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
