package embedded

import (
	"context"
	"database/sql"
)

// recount makes the list of sites good where their names are as they were
// written and only what is said of them is not: it counts the sites and the
// documents of each. It reports whether there was anything to do. A site that
// is missing stays so, because its documents have lost its name, and the list
// is then left as it is.
func recount(ctx context.Context, tx *session) (changed bool, err error) {
	own, err := readStoreRow(ctx, tx)
	if err != nil {
		return false, err
	}
	list, err := own.readSites(ctx, tx, nil)
	if err != nil || list.complete() {
		return false, err
	}
	found := own
	found.count = int64(len(list.sites))
	if found.count < own.count && list.sum+found.sum() != own.digest {
		return false, nil
	}
	documents := make(map[int64]int64)
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var site, n int64
		err := rows.Scan(&site, &n)
		documents[site] = n
		return err
	}, "SELECT site, count(*) FROM document GROUP BY site")
	if err != nil {
		return false, err
	}
	// The generation goes on from what is written, whatever that is: the log
	// is told from others by it.
	found.generation++
	found.dropped = found.generation
	found.version = StoreVersion
	var sum int64
	for _, r := range list.sites {
		r.documents, r.generation, r.version = documents[r.id], found.generation, 0
		sum += r.sum()
		if _, err := tx.exec(ctx, "UPDATE site SET documents = ?, generation = ?, version = ? WHERE id = ?", r.documents, r.generation, r.version, r.id); err != nil {
			return false, err
		}
	}
	_, err = tx.exec(ctx, "UPDATE store SET mark = ?, dropped = ?, sites = ?, version = ?, digest = ?",
		[]byte(found.mark()), found.dropped, found.count, found.version, sum+found.sum())
	return true, err
}
