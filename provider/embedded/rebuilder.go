package embedded

import (
	"context"
	"database/sql"

	"github.com/siteprovider/siteprovider/schemaorg"
)

// rebuildDocuments is how many documents are indexed at once, and held in
// memory for that.
const rebuildDocuments = 10_000

// noPause is a pause of no length.
func noPause(ctx context.Context) error { return ctx.Err() }

// indexRebuilder makes the index of a site anew from its documents.
type indexRebuilder struct {
	ctx     context.Context
	store   *Store
	site    siteRow
	pause   func(context.Context) error // called between pieces of work
	lenient bool                        // takes documents as they are
	tx      *session                    // in which all is done; nil: in several transactions

	shop      *workshop
	raw       []rawDocument
	docs      []indexed
	ids       []int64
	documents int64

	parts []part // not yet written
	bytes int64  // of parts
	last  []byte // the body of the last segment, once all are read
	// written are the segments that are written already, under a site that
	// there is not, where no reader looks for them (see waitingSite).
	written []int64
}

// rawDocument is what of a document is indexed.
type rawDocument struct {
	id                  int64
	url, name, language string
	packedText, packed  []byte
}

// waitingSite is the site of the segments of a site that wait for the others of
// a new index. Where their writer died, they are of no use, and swept away.
func waitingSite(site int64) int64 { return -site }

// readDocuments indexes the documents of the site, in the order of their URLs.
func (b *indexRebuilder) readDocuments(tx *session) error {
	const batchDocuments, batchBytes = 256, 4 << 20
	b.shop = newWorkshop()
	bytes := 0
	err := tx.each(b.ctx, func(rows *sql.Rows) error {
		var d rawDocument
		var key, version, crc int64
		var hash sql.RawBytes
		if err := rows.Scan(&d.id, &d.url, &key, &version, &hash, &crc, &d.name, &d.language, &d.packedText, &d.packed); err != nil {
			return err
		}
		if err := checkHead(crc, b.site.id, d.url, key, version, hash); err != nil && !b.lenient {
			return err
		}
		b.raw = append(b.raw, d)
		if bytes += len(d.packedText) + len(d.packed); len(b.raw) < batchDocuments && bytes < batchBytes {
			return nil
		}
		bytes = 0
		b.analyse()
		if len(b.docs) >= rebuildDocuments {
			if err := b.build(); err != nil {
				return err
			}
		}
		return b.pause(b.ctx)
	}, "SELECT id, url, key, version, hash, crc, name, language, text, schema FROM document WHERE site = ? ORDER BY url", b.site.id)
	if err != nil {
		return err
	}
	b.analyse()
	if err := b.build(); err != nil {
		return err
	}
	b.last, err = b.merged()
	return err
}

// analyse turns raw documents into terms.
func (b *indexRebuilder) analyse() {
	at := len(b.docs)
	b.docs = append(b.docs, make([]indexed, len(b.raw))...)
	inParallel(len(b.raw), func(i int) {
		d := &b.raw[i]
		object, err := unpackObject(nil, d.packed)
		var text string
		if err == nil {
			text, err = unpackText(object, d.packedText)
		}
		if err != nil {
			text = schemaorg.Describe(object).Text
		}
		a := <-b.shop.analysers
		b.docs[at+i] = indexed{d.url, a.document(d.name, text, d.language)}
		b.shop.analysers <- a
	})
	for i := range b.raw {
		b.ids = append(b.ids, b.raw[i].id)
	}
	b.documents += int64(len(b.raw))
	b.raw = b.raw[:0]
}

// build makes a part of the new index of the documents that were analysed.
func (b *indexRebuilder) build() error {
	if len(b.docs) == 0 {
		return nil
	}
	builder := <-b.shop.builders
	body := builder.build(b.shop.lexicon.terms(), b.docs)
	b.shop.builders <- builder
	for doc, id := range b.ids {
		setID(body, doc, id)
	}
	b.docs, b.ids = b.docs[:0], b.ids[:0]
	if len(b.shop.lexicon.terms()) > maxLexicon {
		b.shop = newWorkshop()
	}
	seg, err := parseSegment(body)
	if err != nil {
		return err
	}
	if len(b.parts) > 0 && b.bytes+int64(len(body)) > maxMergeBytes {
		if err := b.writeWaiting(); err != nil {
			return err
		}
	}
	b.parts = append(b.parts, part{segment: seg})
	b.bytes += int64(len(body))
	return nil
}

// merged returns what is not yet written as one body; nil where there is none.
func (b *indexRebuilder) merged() (body []byte, err error) {
	if len(b.parts) > 0 {
		body, err = mergeSegments(b.parts)
	}
	b.parts, b.bytes = nil, 0
	return body, err
}

// writeWaiting writes what there is as a segment that nobody reads yet.
func (b *indexRebuilder) writeWaiting() error {
	body, err := b.merged()
	if err != nil {
		return err
	}
	var id int64
	add := func(tx *session) (err error) {
		id, err = (&write{ctx: b.ctx, tx: tx}).addSegment(waitingSite(b.site.id), body)
		return err
	}
	if b.tx != nil {
		err = add(b.tx)
	} else {
		err = b.store.files.write(b.ctx, add)
	}
	b.written = append(b.written, id)
	return err
}

// swap replaces the index of the site by the new one. It does nothing where the
// site was changed since its documents were read.
func (b *indexRebuilder) swap(tx *session) (done bool, err error) {
	c, err := b.store.sites.load(b.ctx, tx)
	if err != nil {
		return false, err
	}
	site, ok := c.site(b.site.name)
	if !ok || site.key() != b.site.key() || site.generation != b.site.generation {
		return false, sweepWaiting(b.ctx, tx, b.site.id)
	}
	w := newWrite(b.ctx, tx, b.store, c)
	if err := w.dropSegments(site); err != nil {
		return false, err
	}
	if b.documents == 0 {
		if err := w.dropSite(site); err != nil {
			return false, err
		}
		return true, w.finish(true)
	}
	for _, id := range b.written {
		ok, err := w.adopt(site, id)
		if err == nil && !ok { // another process has swept it away
			err = errNothingToDo
		}
		if err != nil {
			return false, err
		}
	}
	if _, err := w.addSegment(site.id, b.last); err != nil {
		return false, err
	}
	site.documents = b.documents
	if err := w.putSite(site); err != nil {
		return false, err
	}
	return true, w.finish(false)
}

// adopt gives a site a segment that waited for it, if it is there.
func (w *write) adopt(site siteRow, id int64) (ok bool, err error) {
	var row segmentRow
	err = w.tx.each(w.ctx, func(rows *sql.Rows) error {
		ok = true
		return rows.Scan(&row.documents, &row.bytes, &row.format)
	}, "SELECT documents, bytes, format FROM segment WHERE id = ? AND site = ?", id, waitingSite(site.id))
	if err != nil || !ok {
		return false, err
	}
	_, err = w.tx.exec(w.ctx, "UPDATE segment SET site = ?, crc = ? WHERE id = ?", site.id, row.sum(site.id), id)
	return true, err
}

// sweepWaiting removes the segments that wait for a site, or for any where site
// is 0, and for whose others nobody waits any more.
func sweepWaiting(ctx context.Context, tx *session, site int64) error {
	const which = "(SELECT id FROM segment WHERE site < 0 AND (? = 0 OR site = ?))"
	for _, query := range []string{"DELETE FROM chunk WHERE segment IN " + which, "DELETE FROM segment WHERE id IN " + which} {
		if _, err := tx.exec(ctx, query, site, waitingSite(site)); err != nil {
			return err
		}
	}
	return nil
}
