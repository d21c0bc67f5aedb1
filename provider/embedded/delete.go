package embedded

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/siteprovider/siteprovider/provider"
)

// Delete removes documents by the exact URLs under which they were put, or a
// whole site, and returns how many there were. They are gone for every search
// and lookup that begins afterwards. Their rows are overwritten in the file at
// once; their words are gone from the index with the next merge of the site, for
// which Compact does not wait, and from the log when it is next emptied.
func (s *Store) Delete(ctx context.Context, sel provider.Selector) (int, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if sel, err = sel.Check(); err != nil {
		return 0, err
	}
	deleted := 0
	sub := &submission{site: sel.Site, whole: sel.WholeSite, urls: sel.URLs, documents: len(sel.URLs)}
	sub.apply = func(w *write) (err error) {
		deleted, err = w.delete(sel)
		return err
	}
	if err := s.mending(ctx, func() error { return s.submit(ctx, sub) }); err != nil {
		return 0, failure(ctx, "delete", err)
	}
	return deleted, nil
}

// delete removes documents and returns how many there were. What remains to be
// done is to bring the index in step.
func (w *write) delete(sel provider.Selector) (int, error) {
	r, ok := w.site(sel.Site)
	if !ok {
		return 0, nil
	}
	if sel.WholeSite {
		n := r.site.documents
		r.site.documents, r.whole = 0, true
		return int(n), nil
	}
	urls, err := w.deleteRows(r.site, sel.URLs)
	r.site.documents -= int64(len(urls))
	r.removed = append(r.removed, urls...)
	return len(urls), err
}

// deleteRows removes the rows of documents and returns the URLs of those that
// were there.
func (w *write) deleteRows(site siteRow, urls []string) ([]string, error) {
	list, err := json.Marshal(urls)
	if err != nil {
		return nil, err
	}
	var found []string
	err = w.tx.each(w.ctx, func(rows *sql.Rows) error {
		var url string
		if err := rows.Scan(&url); err != nil {
			return err
		}
		found = append(found, url)
		return nil
	}, "DELETE FROM document WHERE site = ? AND url IN (SELECT value FROM json_each(?)) RETURNING url", site.id, string(list))
	return found, err
}
