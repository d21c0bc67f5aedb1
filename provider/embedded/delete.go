package embedded

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/siteprovider/siteprovider/provider"
)

// Delete removes documents by the exact URLs under which they were put, or a
// whole site, and returns how many there were. They are gone for every search
// and lookup that begins afterwards.
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
	err = s.mending(ctx, func() error {
		deleted, err = s.delete(ctx, sel)
		return err
	})
	if err != nil {
		return 0, failure(ctx, "delete", err)
	}
	return deleted, nil
}

func (s *Store) delete(ctx context.Context, sel provider.Selector) (deleted int, err error) {
	err = s.files.write(ctx, func(tx *session) error {
		c, err := s.sites.load(ctx, tx)
		if err != nil {
			return err
		}
		site, ok := c.site(sel.Site)
		if !ok {
			return errNothingToDo
		}
		w := newWrite(ctx, tx, s, c)
		if sel.WholeSite {
			deleted = int(site.documents)
		} else {
			urls, err := w.deleteRows(site, sel.URLs)
			if err != nil {
				return err
			}
			if deleted = len(urls); deleted == 0 {
				return errNothingToDo
			}
			if int64(deleted) < site.documents {
				site.documents -= int64(deleted)
				if err := w.reindex(&reindexing{site: site, removed: urls}); err != nil {
					return err
				}
				return w.finish(false)
			}
		}
		if err := w.dropSite(site); err != nil {
			return err
		}
		return w.finish(true)
	})
	return deleted, err
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
