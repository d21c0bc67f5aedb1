package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
)

// migrations are the steps from each version of the layout to the next, that
// from version 1 first. Each is done in one short transaction together with the
// new version number, so that a store is always of one version, whole: what is
// killed in between goes on at the next Open, and of several processes one
// does the step. What takes long, such as indexing documents anew, is no
// step: rows of the old kind are read as well, and replaced in the background.
//
// A program that knows only the old version and is running meanwhile finds its
// next statement refused. It has to fail before it changes anything: a step
// that changes what writers must do also changes something that every
// transaction of the old version begins with.
var migrations = []func(ctx context.Context, tx *session) error{fromVersion1, fromVersion2}

// bringUpToDate makes sure that the file of s is a store of this version, and
// migrates an older one.
func (c *connections) bringUpToDate(ctx context.Context, s *session) error {
	version, err := checkFile(ctx, c.path, s)
	if err != nil || version == StoreVersion {
		return err
	}
	if c.fixed {
		return provider.Errorf(provider.ErrPermission,
			"the store %s has version %d, which has to be brought up to version %d, and it can only be read; open a copy of it that can be written, once", c.path, version, StoreVersion)
	}
	for version < StoreVersion {
		if version, err = migrate(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// migrate takes the next step, unless another process has taken the last, and
// returns the version that the store then has.
func migrate(ctx context.Context, s *session) (version int64, err error) {
	if err := s.begin(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	finish := context.WithoutCancel(ctx)
	defer func() {
		if err != nil {
			_, _ = s.exec(finish, "ROLLBACK")
		}
	}()
	if err := s.row(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version < StoreVersion {
		if err := migrations[version-1](ctx, s); err != nil {
			return 0, err
		}
		version++
		if _, err := s.exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
			return 0, err
		}
	}
	_, err = s.exec(finish, "COMMIT")
	return version, err
}

// fromVersion1 adds the checksums of rows, the formats of segments, and leases.
// Programs of version 1 begin with reading the column generation.
func fromVersion1(ctx context.Context, tx *session) error {
	for _, stmt := range []string{
		"ALTER TABLE store DROP COLUMN generation",
		"ALTER TABLE store ADD COLUMN version INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE store ADD COLUMN digest INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE site ADD COLUMN version INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE site ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE segment ADD COLUMN format INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE segment ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
		"UPDATE segment SET format = 1",
		leaseTable,
	} {
		if _, err := tx.exec(ctx, stmt); err != nil {
			return err
		}
	}
	own, err := readStoreRow(ctx, tx)
	if err != nil {
		return err
	}
	own.version = 2
	sum, err := sumSites(ctx, tx)
	if err != nil {
		return err
	}
	if err := sumSegments(ctx, tx); err != nil {
		return err
	}
	_, err = tx.exec(ctx, "UPDATE store SET version = ?, digest = ?", own.version, sum+own.sum())
	return err
}

// fromVersion2 lets objects be packed, which programs of version 2 cannot read.
// Those that are there remain as they are.
func fromVersion2(ctx context.Context, tx *session) error {
	own, err := readStoreRow(ctx, tx)
	if err != nil {
		return err
	}
	next := own
	next.version = 3
	_, err = tx.exec(ctx, "UPDATE store SET version = ?, digest = digest + ?", next.version, next.sum()-own.sum())
	return err
}

// sumSites gives every site its checksum and returns the sum of their sums.
func sumSites(ctx context.Context, tx *session) (sum int64, err error) {
	var sites []siteRow
	err = tx.each(ctx, func(rows *sql.Rows) error {
		var r siteRow
		if err := rows.Scan(&r.id, &r.name, &r.documents, &r.generation); err != nil {
			return err
		}
		sites = append(sites, r)
		return nil
	}, "SELECT id, name, documents, generation FROM site NOT INDEXED")
	if err != nil {
		return 0, err
	}
	for _, r := range sites {
		sum += r.sum()
		if _, err := tx.exec(ctx, "UPDATE site SET crc = ? WHERE id = ?", nameChecksum(r.id, r.name), r.id); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// sumSegments gives the row of every segment its checksum.
func sumSegments(ctx context.Context, tx *session) error {
	sums := make(map[int64]int64)
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var r segmentRow
		var site int64
		if err := rows.Scan(&r.id, &site, &r.documents, &r.bytes, &r.format, (*[]byte)(&r.dead)); err != nil {
			return err
		}
		sums[r.id] = r.sum(site)
		return nil
	}, "SELECT id, site, documents, bytes, format, dead FROM segment")
	for id, sum := range sums {
		if err == nil {
			_, err = tx.exec(ctx, "UPDATE segment SET crc = ? WHERE id = ?", sum, id)
		}
	}
	return err
}
