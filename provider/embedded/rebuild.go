package embedded

import (
	"context"
	"database/sql"
	"errors"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// indexDamage is a failure of a site's index, which its documents can make good.
type indexDamage struct {
	site siteRow
	err  error
}

func (d *indexDamage) Error() string { return d.err.Error() }
func (d *indexDamage) Unwrap() error { return d.err }

// damagedIndex wraps err, which says that the index of a site is damaged.
// Other errors stay as they are.
func damagedIndex(site siteRow, err error) error {
	if errors.Is(err, provider.ErrCorrupt) {
		return &indexDamage{site, err}
	}
	return err
}

// mending runs do, and where it fails because of the index of a site, writes
// that index anew from the site's documents and runs do again. Each site is
// mended once.
func (s *Store) mending(ctx context.Context, do func() error) error {
	mended := make(map[int64]bool)
	for {
		err := do()
		var damage *indexDamage
		if !errors.As(err, &damage) || mended[damage.site.id] {
			return err
		}
		mended[damage.site.id] = true
		if err := s.rebuild(ctx, damage); err != nil {
			return err
		}
	}
}

// rebuild writes the index of a site anew.
func (s *Store) rebuild(ctx context.Context, damage *indexDamage) error {
	return s.files.write(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		site, ok := c.site(damage.site.name)
		if !ok || site.generation != damage.site.generation {
			return errNothingToDo // somebody has changed it since, perhaps mended it
		}
		w := newWrite(ctx, tx, s, c)
		if err := w.dropSegments(site); err != nil {
			return err
		}
		bodies, documents, err := w.indexDocuments(site)
		if err != nil {
			return err
		}
		if documents == 0 {
			if err := w.dropSite(site); err != nil {
				return err
			}
			return w.finish(true)
		}
		for _, body := range bodies {
			if err := w.addSegment(site.id, body); err != nil {
				return err
			}
		}
		site.documents = documents
		if err := w.putSite(site); err != nil {
			return err
		}
		s.log.Warn("rebuilding a damaged index from the documents of its site", "site", site.name, "documents", documents, "damage", damage.err)
		return w.finish(false)
	})
}

// rebuildDocuments is how many documents a rebuilt segment has.
const rebuildDocuments = 50_000

// indexDocuments returns the bodies of segments of all documents of a site.
func (w *write) indexDocuments(site siteRow) (bodies [][]byte, documents int64, err error) {
	a, b := newAnalyser(newLexicon()), new(segmentBuilder)
	var docs []indexed
	var ids []int64
	flush := func() {
		if len(docs) == 0 {
			return
		}
		body := b.build(a.lexicon.terms(), docs)
		for doc, id := range ids {
			setID(body, doc, id)
		}
		bodies = append(bodies, body)
		docs, ids = docs[:0], ids[:0]
	}
	err = w.tx.each(w.ctx, func(rows *sql.Rows) error {
		var id int64
		var url, name, language string
		var packed, object sql.RawBytes
		if err := rows.Scan(&id, &url, &name, &language, &packed, &object); err != nil {
			return err
		}
		text, err := unpackText(object, packed)
		if err != nil {
			text = schemaorg.Describe(object).Text
		}
		docs = append(docs, indexed{url, a.document(name, text, language)})
		ids = append(ids, id)
		documents++
		if len(docs) == rebuildDocuments {
			flush()
		}
		return nil
	}, "SELECT id, url, name, language, text, schema FROM document WHERE site = ? ORDER BY url", site.id)
	flush()
	return bodies, documents, err
}
