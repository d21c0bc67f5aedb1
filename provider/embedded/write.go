package embedded

import (
	"context"
	"database/sql"
	"slices"
)

// write is a transaction that changes sites. Each changed site's documents and
// index change together.
type write struct {
	ctx      context.Context
	tx       *session
	store    *Store
	storeRow // the new one, but for its digest

	before *catalogue
	sum    int64           // of the sums of the sites, so far
	sums   map[int64]int64 // of each site that was changed; 0: it went

	changed []*siteWrite // what end is to bring in step
	at      map[string]*siteWrite
}

func newWrite(ctx context.Context, tx *session, s *Store, c *catalogue) *write {
	w := &write{
		ctx: ctx, tx: tx, store: s, storeRow: c.storeRow, before: c, sum: c.sum,
		sums: make(map[int64]int64), at: make(map[string]*siteWrite),
	}
	w.generation++
	return w
}

// exec runs a statement that takes no time. To watch a context, which is done
// for other statements, takes longer than most of these.
func (w *write) exec(query string, args ...any) (sql.Result, error) {
	return w.tx.exec(context.WithoutCancel(w.ctx), query, args...)
}

// siteWrite is what a transaction changes of a site.
type siteWrite struct {
	site    siteRow  // as it is to be
	whole   bool     // all its documents go
	removed []string // the URLs of documents that are no longer as they were
	bodies  [][]byte // segments of those that are new

	body     []byte // the segment that is to be written; nil: none
	parts    []part // what it is made of, bodies included
	absorbed []segmentRow
	marked   []segmentRow // segments with more dead documents than before
}

// site returns what is changed of a site, if there is such a site.
func (w *write) site(name string) (*siteWrite, bool) {
	if r, ok := w.at[name]; ok {
		return r, true
	}
	site, ok := w.before.site(name)
	if !ok {
		return nil, false
	}
	return w.change(site), true
}

func (w *write) change(site siteRow) *siteWrite {
	r := &siteWrite{site: site}
	w.changed = append(w.changed, r)
	w.at[site.name] = r
	return r
}

// end brings the indexes of the sites that were changed in step with their
// documents. Nothing is to be written where there are none.
func (w *write) end() error {
	dropped, kept := false, w.changed[:0:0]
	for _, r := range w.changed {
		switch {
		case !r.whole && len(r.removed)+len(r.bodies) == 0:
		case r.site.documents > 0:
			kept = append(kept, r)
		default:
			dropped = true
			if err := w.dropSite(r.site); err != nil {
				return err
			}
		}
	}
	if !dropped && len(kept) == 0 {
		return errNothingToDo
	}
	if err := w.reindex(kept); err != nil {
		return err
	}
	return w.finish(dropped)
}

// finish writes the new generation; dropped is set where a site went.
func (w *write) finish(dropped bool) error {
	if dropped {
		w.dropped = w.generation
	}
	_, err := w.tx.exec(w.ctx, "UPDATE store SET mark = ?, dropped = ?, sites = ?, digest = ?",
		[]byte(w.state.mark()), w.dropped, w.count, w.sum+w.storeRow.sum())
	return err
}

// addSite makes a new site, which putSite is to be called for before the end.
func (w *write) addSite(name string) (siteRow, error) {
	r, err := w.exec("INSERT INTO site (name, documents, generation, version) VALUES (?, 0, ?, ?)", name, w.generation, documentVersion)
	if err != nil {
		return siteRow{}, err
	}
	w.count++
	id, err := r.LastInsertId()
	return siteRow{store: w.state.store, id: id, name: name, generation: w.generation, version: documentVersion}, err
}

func (w *write) putSite(site siteRow) error {
	site.generation = w.generation
	w.note(site, site.sum())
	_, err := w.exec("UPDATE site SET documents = ?, generation = ?, version = ?, crc = ? WHERE id = ?",
		site.documents, site.generation, site.version, nameChecksum(site.id, site.name), site.id)
	return err
}

// dropSite removes a site with all it holds.
func (w *write) dropSite(site siteRow) error {
	if err := w.dropSegments(site); err != nil {
		return err
	}
	for _, query := range []string{"DELETE FROM document WHERE site = ?", "DELETE FROM site WHERE id = ?"} {
		if _, err := w.tx.exec(w.ctx, query, site.id); err != nil {
			return err
		}
	}
	w.count--
	w.note(site, 0)
	return nil
}

// note keeps the sum of the sums of sites; sum is the new one of site, 0 where
// the site goes.
func (w *write) note(site siteRow, sum int64) {
	old, changed := w.sums[site.id]
	if !changed {
		if r, ok := w.before.site(site.name); ok {
			old = r.sum()
		}
	}
	w.sum += sum - old
	w.sums[site.id] = sum
}

// put writes the rows of documents. What remains to be done is to bring the
// index in step.
func (w *write) put(p *prepared) error {
	for i := range p.sites {
		g := &p.sites[i]
		if err := w.ctx.Err(); err != nil {
			return err
		}
		r, ok := w.site(g.site)
		if !ok {
			site, err := w.addSite(g.site)
			if err != nil {
				return err
			}
			r = w.change(site)
		}
		for _, c := range g.docs {
			if err := w.putRow(r.site, c); err != nil {
				return err
			}
			if c.old != 0 {
				r.removed = append(r.removed, c.doc.URL)
			} else {
				r.site.documents++
			}
		}
	}
	<-p.built
	for i := range p.sites {
		g := &p.sites[i]
		for doc, c := range g.docs {
			setID(g.body, doc, c.row)
		}
		r, _ := w.site(g.site)
		if r.site.version != documentVersion && r.site.version != -documentVersion {
			r.site.version = 0
		}
		r.bodies = append(r.bodies, slices.Clip(g.body))
	}
	return nil
}

// putRow writes the row of a document, and its number into c.
func (w *write) putRow(site siteRow, c *change) error {
	d := &c.doc
	text := c.text
	if text == nil {
		text = []byte{}
	}
	row := rowChecksum(d.URL, d.Name, c.types, d.Language, text, c.object)
	if c.damaged {
		row = ^row
	}
	crc := documentChecksum(headChecksum(site.id, d.URL, c.key, documentVersion, c.hash), row)
	if c.old != 0 {
		r, err := w.exec("UPDATE document SET version = ?, hash = ?, name = ?, types = ?, language = ?, crc = ?, text = ?, schema = ? WHERE id = ? AND site = ? AND url = ?",
			documentVersion, c.hash, d.Name, c.types, d.Language, crc, text, c.object, c.old, site.id, d.URL)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n != 1 {
			return damaged("site %q, document %s: its row %d is not where it was", site.name, d.URL, c.old)
		}
		c.row = c.old
		return nil
	}
	r, err := w.exec("INSERT INTO document (site, url, key, version, hash, name, types, language, crc, text, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		site.id, d.URL, c.key, documentVersion, c.hash, d.Name, c.types, d.Language, crc, text, c.object)
	if err != nil {
		return err
	}
	if c.row, err = r.LastInsertId(); err == nil && c.row > maxRowID {
		err = damaged("the store has given out all its row numbers")
	}
	return err
}
