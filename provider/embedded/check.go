package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// CheckReport is what Check found.
type CheckReport struct {
	Sites, Documents, Segments int64
	// Outdated counts the documents that are indexed under other rules than
	// this version's. That is no damage: Reindex brings them up to date.
	Outdated int64
	// Problems are the first MaxProblems that were found, Found is how many
	// there were. A store without problems is as it was written.
	Problems []Problem
	Found    int64
}

// MaxProblems bounds the problems that a CheckReport lists.
const MaxProblems = 100

// Problem is something in a store that is not as it was written.
type Problem struct {
	What   string // what is damaged, and where
	Remedy Remedy
}

// Remedy is what mends a problem.
type Remedy string

// The remedies.
const (
	// RemedyReindex: the documents are whole, and Reindex with All makes the
	// rest anew from them.
	RemedyReindex Remedy = "reindex"
	// RemedyIngest: the document has to be put again.
	RemedyIngest Remedy = "ingest"
	// RemedyRestore: a backup has to take the place of the store; without
	// one, all that is still readable can be ingested from its sources.
	RemedyRestore Remedy = "restore"
)

// Check reads the whole store, in one state of it, and reports what is not as
// it was written: pages of the file, counts, segments of the index and their
// checksums, documents that the index does not have exactly once and under their
// own words, and documents whose bytes are not those that were put. It writes nothing, and others may
// read and write meanwhile. progress, if not nil, is called now and then with
// the number of documents read so far, and of all. The error is non-nil only
// where the check could not be finished.
func (s *Store) Check(ctx context.Context, progress func(done, total int64)) (*CheckReport, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c := &check{ctx: ctx, report: &CheckReport{Problems: []Problem{}}, outdated: make(map[int64]bool), progress: progress}
	err = s.files.read(ctx, func(tx *session) error {
		c.tx = tx
		return c.run()
	})
	if err != nil {
		return nil, failure(ctx, "check", err)
	}
	return c.report, nil
}

// check is a check in progress.
type check struct {
	ctx      context.Context
	tx       *session
	report   *CheckReport
	progress func(done, total int64)
	sites    map[int64]siteRow
	outdated map[int64]bool // the sites whose indexes are
	sums     indexedSums
	shop     *workshop
	total    int64 // of documents, as the sites say
}

// run checks the parts one after the other. A part that cannot be read is a
// problem, and not the end.
func (c *check) run() error {
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"the file", c.checkPages},
		{"the list of sites", c.checkSites},
		{"the index", c.checkIndexes},
		{"what belongs to no site", c.checkOrphans},
		{"the documents", c.checkDocuments},
	} {
		err := part.do()
		if err != nil && !isDamage(err) {
			return err
		}
		if err != nil {
			c.problem(RemedyRestore, "%s cannot be read to the end: %s", part.name, withoutAdvice(err))
		}
	}
	return nil
}

func (c *check) problem(remedy Remedy, format string, args ...any) {
	if c.report.Found++; c.report.Found <= MaxProblems {
		c.report.Problems = append(c.report.Problems, Problem{fmt.Sprintf(format, args...), remedy})
	}
}

// checkPages has SQLite check its own: pages, records, and the b-trees that
// find them.
func (c *check) checkPages() error {
	return c.tx.each(c.ctx, func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			c.problem(RemedyRestore, "the file: %s", strings.Join(strings.Fields(line), " "))
		}
		return nil
	}, fmt.Sprintf("PRAGMA integrity_check(%d)", MaxProblems))
}

func (c *check) checkSites() error {
	own, err := readStoreRow(c.ctx, c.tx)
	if err != nil {
		return err
	}
	generation, sites := own.generation, own.count
	c.sites = make(map[int64]siteRow)
	var sum int64
	err = c.tx.each(c.ctx, func(rows *sql.Rows) error {
		var r siteRow
		var crc int64
		if err := rows.Scan(&r.id, &r.name, &r.documents, &r.generation, &r.version, &crc); err != nil {
			return err
		}
		if crc != nameChecksum(r.id, r.name) {
			c.problem(RemedyRestore, "site %q: its number or name is not as it was written (wrong checksum)", r.name)
		}
		sum += r.sum()
		c.sites[r.id] = r
		c.report.Sites++
		c.total += r.documents
		if name, err := provider.CheckSite("name", r.name); err != nil || name != r.name {
			c.problem(RemedyRestore, "site %q: no site can have this name", r.name)
		}
		if r.generation > generation {
			c.problem(RemedyReindex, "site %q: its generation is %d, and that of the store %d", r.name, r.generation, generation)
		}
		return nil
	}, "SELECT id, name, documents, generation, version, crc FROM site ORDER BY name")
	switch {
	case err != nil:
	case c.report.Sites < sites:
		c.problem(RemedyRestore, "the store has %d sites, and only %d of them are there", sites, c.report.Sites)
	case c.report.Sites > sites:
		c.problem(RemedyReindex, "the store is said to have %d sites, and has %d", sites, c.report.Sites)
	case sum+own.sum() != own.digest:
		c.problem(RemedyReindex, "the list of sites is not as it was written (wrong checksum)")
	}
	return err
}

func (c *check) checkIndexes() error {
	for _, site := range c.sitesByName() {
		err := verifyIndex(c.ctx, c.tx, site, &c.report.Segments, &c.sums, func(what string) {
			c.problem(RemedyReindex, "site %q: %s", site.name, what)
		})
		var outdated outdatedIndex
		if errors.As(err, &outdated) {
			c.outdated[site.id] = true
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *check) sitesByName() []siteRow {
	return slices.SortedFunc(maps.Values(c.sites), func(a, b siteRow) int { return strings.Compare(a.name, b.name) })
}

// checkOrphans looks for rows that nothing leads to.
func (c *check) checkOrphans() error {
	for _, o := range []struct {
		what   string
		remedy Remedy
		query  string
	}{
		{"documents of no site", RemedyRestore, "SELECT count(*) FROM document WHERE site NOT IN (SELECT id FROM site)"},
		{"index segments of no site", RemedyReindex, "SELECT count(*) FROM segment WHERE site > 0 AND site NOT IN (SELECT id FROM site)"},
		{"pieces of no index segment", RemedyReindex, "SELECT count(*) FROM chunk WHERE segment NOT IN (SELECT id FROM segment)"},
	} {
		var n int64
		if err := c.tx.row(c.ctx, o.query).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			c.problem(o.remedy, "%s: %d", o.what, n)
		}
	}
	return nil
}

func (c *check) checkDocuments() error {
	return eachBatch(c.ctx, c.tx, func(batch []storedDocument) error {
		found := make([][]Problem, len(batch))
		if c.shop == nil || len(c.shop.lexicon.terms()) > maxLexicon {
			c.shop = newWorkshop()
		}
		c.sums.sort()
		inParallel(len(batch), func(i int) {
			if site, ok := c.sites[batch[i].site]; ok {
				found[i] = verifyDocument(site.name, &batch[i])
				if len(found[i]) == 0 && !c.findable(&batch[i]) {
					found[i] = []Problem{{fmt.Sprintf("site %q, document %s: it is not found by its words", site.name, batch[i].url), RemedyReindex}}
				}
			}
		})
		for i := range batch {
			for _, p := range found[i] {
				c.problem(p.Remedy, "%s", p.What)
			}
			if batch[i].version != documentVersion || c.outdated[batch[i].site] {
				c.report.Outdated++
			}
		}
		c.report.Documents += int64(len(batch))
		if c.progress != nil {
			c.progress(c.report.Documents, max(c.total, c.report.Documents))
		}
		return c.ctx.Err()
	}, "SELECT "+storedColumns+" FROM document ORDER BY id")
}

// findable reports whether the index has a document, which is as it was stored,
// under its words and no others. Where it does not have the document at all,
// that has been said.
func (c *check) findable(d *storedDocument) bool {
	if d.version != documentVersion || c.outdated[d.site] {
		return true
	}
	indexed, ok := c.sums.of(d.id)
	if !ok {
		return true
	}
	text, err := unpackText(d.object, d.packedText)
	if err != nil {
		return true
	}
	a := <-c.shop.analysers
	defer func() { c.shop.analysers <- a }()
	terms := a.document(d.name, text, d.lang)
	return terms.sum(c.shop.lexicon.terms()) == indexed
}

// isDamage reports whether err says that something stored is not as it was
// written.
func isDamage(err error) bool {
	var known *provider.Error
	if errors.As(err, &known) {
		return errors.Is(known, provider.ErrCorrupt)
	}
	return errors.Is(failureKind(err), provider.ErrCorrupt)
}

// withoutAdvice returns what err says is damaged. What to do about it is for
// the remedy to say.
func withoutAdvice(err error) string {
	text := err.Error()
	var known *provider.Error
	if errors.As(err, &known) {
		text = known.Reason
	}
	return strings.TrimSuffix(text, "; "+whatToDo)
}
