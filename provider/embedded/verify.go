package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// verifyDocument returns what is wrong with a row of a site, apart from its
// place in the index.
func verifyDocument(site string, d *storedDocument) (found []Problem) {
	problem := func(remedy Remedy, format string, args ...any) {
		found = append(found, Problem{fmt.Sprintf("site %q, document %s: ", site, d.url) + fmt.Sprintf(format, args...), remedy})
	}
	full, unreadable := d.document(site)
	given, whole := d.asPut(full)
	switch {
	case d.unreadable != nil:
		problem(RemedyIngest, "%s", withoutAdvice(d.unreadable))
	case !whole:
		problem(RemedyIngest, "its object or what was given with it has changed since it was stored (wrong checksum)")
	}
	if err := provider.CheckSchema("the object", d.object); err != nil && d.unreadable == nil {
		problem(RemedyIngest, "%s", wordsOf(err))
	}
	if err := provider.CheckURL("the URL", d.url); err != nil {
		problem(RemedyRestore, "%s", wordsOf(err))
	}
	if d.key != urlKey(d.url) {
		problem(RemedyReindex, "the key under which it is looked up is wrong")
	}
	if whole && checkHead(d.crc, d.site, d.url, d.key, d.version, d.hash) != nil {
		problem(RemedyReindex, "what it is found by does not match its checksum")
	}
	if whole && checkRow(d.crc, d.url, d.name, d.types, d.lang, d.packedText, d.packed) != nil {
		problem(RemedyReindex, "its row does not match its checksum")
	}
	switch {
	case !whole:
	case unreadable != nil:
		problem(RemedyReindex, "%s", withoutAdvice(unreadable))
	case d.version == documentVersion && !sameReading(schemaorg.Fill(given), full):
		problem(RemedyReindex, "its name, types, text or language are not what its object says")
	}
	return found
}

func sameReading(a, b provider.Document) bool {
	if a.Name != b.Name || a.Text != b.Text || a.Language != b.Language || len(a.Types) != len(b.Types) {
		return false
	}
	for i := range a.Types {
		if a.Types[i] != b.Types[i] {
			return false
		}
	}
	return true
}

// wordsOf returns what a Check function of the contract says, without its class.
func wordsOf(err error) string {
	if e, ok := err.(*provider.Error); ok {
		return e.Arg + " " + e.Reason
	}
	return err.Error()
}

// verifyIndex compares the index of a site with its documents and calls found
// with each thing that is wrong. It adds the site's segments to *segments, and
// what they say of documents to sums, if that is not nil. The error is an
// outdatedIndex where the index cannot be read because it is of another format.
func verifyIndex(ctx context.Context, tx *session, site siteRow, segments *int64, sums *indexedSums, found func(what string)) error {
	rows, damage, err := readSegmentRows(ctx, tx, site.id)
	var outdated outdatedIndex
	switch {
	case err != nil:
		return err
	case errors.As(damage, &outdated):
		*segments += int64(len(rows))
		return outdated
	case damage != nil:
		found(withoutAdvice(damage))
	}
	*segments += int64(len(rows))
	var entries []*livingEntries
	readable := true
	for _, r := range rows {
		seg, err := loadSegment(ctx, tx, r)
		if err == nil {
			err = verifySegment(seg, r)
		}
		if err == nil && sums != nil {
			err = sums.add(part{seg, r.dead})
		}
		switch {
		case err == nil:
			entries = append(entries, newLivingEntries(part{seg, r.dead}))
		case isDamage(err):
			found(fmt.Sprintf("index segment %d: %s", r.id, withoutAdvice(err)))
			readable = false
		default:
			return err
		}
	}
	documents, err := compareEntries(ctx, tx, site, entries, readable, found)
	if err == nil && documents != site.documents {
		found(fmt.Sprintf("it is said to have %d documents, and has %d", site.documents, documents))
	}
	if err == nil && documents == 0 {
		found("it is listed although it has no documents")
	}
	return err
}

// compareEntries walks through the documents of a site and through the entries
// of its segments, both in the order of their URLs.
func compareEntries(ctx context.Context, tx *session, site siteRow, entries []*livingEntries, readable bool, found func(string)) (documents int64, err error) {
	var missing, twice, strays, misled finding
	skip := func(e *livingEntries, url []byte) {
		for !e.done() && (url == nil || bytes.Compare(e.current, url) < 0) {
			strays.add(string(e.current))
			e.next()
		}
	}
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var url string
		if err := rows.Scan(&id, &url); err != nil {
			return err
		}
		documents++
		have := 0
		for _, e := range entries {
			skip(e, []byte(url))
			if e.done() || string(e.current) != url {
				continue
			}
			have++
			if e.id(e.i) != id {
				misled.add(url)
			}
			e.next()
		}
		switch {
		case have == 0:
			missing.add(url)
		case have > 1:
			twice.add(url)
		}
		return nil
	}, "SELECT id, url FROM document WHERE site = ? ORDER BY url", site.id)
	for _, e := range entries {
		skip(e, nil)
	}
	if !readable {
		missing = finding{} // most are in the segments that could not be read
	}
	missing.tell(found, "documents missing from its index")
	twice.tell(found, "documents more than once in its index")
	strays.tell(found, "entries of its index without a document")
	misled.tell(found, "entries of its index that lead to another row")
	return documents, err
}

// finding counts what has the same thing wrong with it, and remembers the first.
type finding struct {
	n     int
	first string
}

func (f *finding) add(what string) {
	if f.n++; f.n == 1 {
		f.first = what
	}
}

func (f *finding) tell(found func(string), what string) {
	if f.n > 0 {
		found(fmt.Sprintf("%s: %d, such as %s", what, f.n, f.first))
	}
}

// livingEntries goes through the documents of a segment that are not dead.
type livingEntries struct {
	part
	*sortedCursor
}

func newLivingEntries(p part) *livingEntries {
	e := &livingEntries{p, p.urls.cursor()}
	e.skipDead()
	return e
}

func (e *livingEntries) next() {
	e.sortedCursor.next()
	e.skipDead()
}

func (e *livingEntries) skipDead() {
	for !e.done() && e.dead.has(e.i) {
		e.sortedCursor.next()
	}
}

// verifySegment reads all of a segment, whose checksum is right, and compares it
// with its row.
func verifySegment(s *segment, r segmentRow) error {
	if int64(s.size) != r.bytes {
		return damaged("it has %d bytes, and its row says %d", s.size, r.bytes)
	}
	if len(r.dead) > (s.docs+7)/8 || r.dead.count() > s.docs {
		return damaged("it has %d tombstones in %d bytes for %d documents", r.dead.count(), len(r.dead), s.docs)
	}
	for doc := s.docs; doc < 8*len(r.dead); doc++ {
		if r.dead.has(doc) {
			return damaged("it has a tombstone for document %d of %d", doc, s.docs)
		}
	}
	for doc, l := range s.languages {
		if l >= byte(languages) {
			return damaged("document %d has the language %d, which there is not", doc, l)
		}
	}
	if err := verifySorted(s.urls, "URLs"); err != nil {
		return err
	}
	return verifyTerms(s)
}

func verifyTerms(s *segment) error {
	var list []posting
	var again []byte
	c := s.terms.cursor()
	for ; !c.done; c.next() {
		var err error
		if list, err = c.list.appendTo(list[:0], s.docs); err != nil {
			return damaged("term %d: %s", c.read-1, withoutAdvice(err))
		}
		// There is one way to write a list.
		if len(list) > 1 {
			again = appendPostings(again[:0], list, fieldLengths{s.nameLengths, s.textLengths})
		} else {
			again = appendPosting(again[:0], -1, list[0])
		}
		if !bytes.Equal(again, c.list.data) {
			return damaged("the postings of term %d are not as this version writes them", c.read-1)
		}
	}
	return c.broken
}

func verifySorted(s sortedStrings, what string) error {
	var before []byte
	c := s.cursor()
	for ; !c.done(); c.next() {
		if c.i > 0 && bytes.Compare(before, c.current) >= 0 {
			return damaged("its %s are out of order at %d", what, c.i)
		}
		before = append(before[:0], c.current...)
	}
	if c.broken {
		return damaged("its %s are cut off", what)
	}
	return nil
}
