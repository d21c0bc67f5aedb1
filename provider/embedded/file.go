package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/siteprovider/siteprovider/provider"
)

// applicationID marks a SQLite file as a store of this package ("SPst").
const applicationID = 0x53507374

// pageBytes is the page size of a new file. Objects of 1 to 4 KiB with their
// text fill larger pages better than SQLite's default of 4 KiB.
const pageBytes = 8192

// schema is the layout of StoreVersion.
//
// The one row of store has the store's mark: its id, drawn when it was made, and
// its generation, which every transaction that changes sites moves up by one, in
// a form that is found in a raw page (see checkLog); the row is on page
// storePage, because its table was made first. It also has the last generation
// in which a site was dropped, the number of sites, the version of the layout,
// by which a program notices that a newer one has changed it meanwhile, and the
// digest: the sum of its own checksum and those of all sites (see storeRow.sum
// and siteRow.sum), which tells that what a reader knows of sites is complete
// and of one state.
//
// A site's generation is that of its last change, so that a reader finds what
// changed since it last looked. site.version is the documentVersion of all of
// its documents, 0 where they may have several, and that of this program with
// its sign changed while they are being brought up to it. site.crc is the
// nameChecksum. Numbers of sites, documents and segments are never used twice,
// because an index in memory goes by them.
//
// document.key is urlKey of the URL. document.schema is the object, packed (see
// packObject), and document.text is written relative to it (see packText). document.version is that of the rules under which the
// document was indexed (see documentVersion). The lower half of document.crc is
// the rowChecksum of what a document is, the upper half the headChecksum of
// what it is found by; 0 there, which is what version 1 wrote, stands for none.
//
// segment.dead has a bit for each document of the segment that has been
// replaced or deleted since; null means none. segment.format is that of its
// bytes, which are cut into rows of at most chunkBytes; segment.crc is the
// checksum of its row. A segment of a site with a negative number is not yet
// one's (see waitingSite).
//
// A lease says who does something in the background that only one process
// should do, and until when, in milliseconds since 1970, others leave it to it.
const schema = `
CREATE TABLE store (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	mark BLOB NOT NULL,
	dropped INTEGER NOT NULL,
	sites INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	digest INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE site (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL UNIQUE,
	documents INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	crc INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX site_generation ON site(generation);
CREATE TABLE document (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	site INTEGER NOT NULL,
	url TEXT NOT NULL,
	key INTEGER NOT NULL,
	version INTEGER NOT NULL,
	hash BLOB NOT NULL,
	name TEXT NOT NULL,
	types TEXT NOT NULL,
	language TEXT NOT NULL,
	crc INTEGER NOT NULL,
	text BLOB NOT NULL,
	schema BLOB NOT NULL
);
CREATE UNIQUE INDEX document_url ON document(site, url);
CREATE INDEX document_key ON document(key);
CREATE TABLE segment (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	site INTEGER NOT NULL,
	documents INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	dead BLOB,
	format INTEGER NOT NULL DEFAULT 0,
	crc INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX segment_site ON segment(site);
CREATE TABLE chunk (
	id INTEGER PRIMARY KEY,
	segment INTEGER NOT NULL,
	part INTEGER NOT NULL,
	data BLOB NOT NULL
);
CREATE UNIQUE INDEX chunk_segment ON chunk(segment, part);
` + leaseTable

const leaseTable = `
CREATE TABLE lease (
	name TEXT PRIMARY KEY,
	holder BLOB NOT NULL,
	until INTEGER NOT NULL
) WITHOUT ROWID;
`

// ensureFile makes sure that a store's file is at path and looks like one. A
// new store appears there whole or not at all: it is made under another name
// first, so that a file of no bytes is always a damaged one.
func ensureFile(ctx context.Context, dir, path string, mustExist bool) error {
	op := "open store " + path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && isThere(path) {
		return provider.Errorf(provider.ErrCorrupt, "%s: it is a symbolic link, and nothing is where it leads", op)
	}
	switch {
	case err == nil && !info.Mode().IsRegular():
		return provider.Errorf(provider.ErrCorrupt, "%s: it is not a regular file", op)
	case err == nil && info.Size() == 0:
		return damaged("%s: the file is empty", op)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return failure(ctx, op, err)
	case mustExist:
		return provider.Invalidf("Options.Dir", "there is no store in %s: nothing has been ingested there", dir)
	}
	// SQLite would replay a log that is still there into whatever file
	// appears beside it.
	if _, err := os.Stat(path + "-wal"); err == nil {
		return damaged("%s: the file is gone, but its write-ahead log is still there", op)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failure(ctx, op, err)
	}
	return failure(ctx, op, createFile(ctx, dir, path))
}

func createFile(ctx context.Context, dir, path string) error {
	f, err := os.CreateTemp(dir, "."+FileName+"-*.new") // mode 0600
	if err != nil {
		return err
	}
	temp := f.Name()
	defer os.Remove(temp)
	if err := f.Close(); err != nil {
		return err
	}
	if err := writeSchema(ctx, temp); err != nil {
		return err
	}
	// Link, unlike rename, fails where another process was faster, whose
	// store is as good as ours.
	if err := os.Link(temp, path); err != nil && !isThere(path) {
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	syncDir(dir)
	return nil
}

func writeSchema(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dataSource(path, 0))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, stmt := range []string{
		"PRAGMA page_size = " + strconv.Itoa(pageBytes),
		"PRAGMA application_id = " + strconv.Itoa(applicationID),
		"PRAGMA user_version = " + strconv.Itoa(StoreVersion),
		"BEGIN; " + schema + firstRow() + "; COMMIT",
		"PRAGMA journal_mode = WAL",
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	return db.Close()
}

// firstRow returns the statement that makes the row of an empty store.
func firstRow() string {
	own := storeRow{version: StoreVersion}
	return fmt.Sprintf("INSERT INTO store (id, mark, dropped, sites, version, digest) VALUES (1, randomblob(16) || zeroblob(8), 0, 0, %d, %d)",
		own.version, own.sum())
}

// checkFile tells a store from other files, before anything is written to it,
// and returns the version of its layout.
func checkFile(ctx context.Context, path string, s *session) (version int64, err error) {
	op := "open store " + path
	var id int
	if err := s.row(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, failure(ctx, op, err)
	}
	if id != applicationID {
		return 0, provider.Errorf(provider.ErrCorrupt, "%s: it is a SQLite database of another program; %s", op, whatToDo)
	}
	if err := s.row(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, failure(ctx, op, err)
	}
	if version > StoreVersion {
		return 0, newerVersion(op+": it", version)
	}
	if version < 1 {
		return 0, damaged("%s: it has version %d, which never existed", op, version)
	}
	return version, nil
}

func newerVersion(store string, version int64) error {
	return provider.Errorf(provider.ErrUnsupported,
		"%s has version %d, and this program knows versions up to %d; use the newer program that wrote it", store, version, StoreVersion)
}

// dataSource returns the data source name of the file at path. It never
// creates a file: a store that vanished must not come back empty. The file is
// not mapped into memory: each connection would map it for itself, and reading
// the objects of a search is hardly slower without.
func dataSource(path string, maxPages int) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(busyWait.Milliseconds(), 10) + ")",
		"synchronous(FULL)",
		"temp_store(MEMORY)",
		"trusted_schema(OFF)",
		"wal_autocheckpoint(8000)", // pages; before that it is the keeper's
		"journal_size_limit(67108864)",
	}
	if maxPages > 0 {
		pragmas = append(pragmas, "max_page_count("+strconv.Itoa(maxPages)+")")
	}
	params := url.Values{"mode": {"rw"}, "_pragma": pragmas}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath() + "?" + params.Encode()
}

// dataSourceFixed returns the data source name of a file that nobody changes,
// and that therefore needs no locks, no log and nothing else beside it.
func dataSourceFixed(path string) string {
	source, query, _ := strings.Cut(dataSource(path, 0), "?")
	params, _ := url.ParseQuery(query) // as it was encoded
	params.Set("mode", "ro")
	params.Set("immutable", "1")
	return source + "?" + params.Encode()
}

// isThere reports whether there is something under a name, be it only a link
// that leads nowhere, or something that may not be looked at.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// withoutAccess returns err, or, where the file at path may not be opened at
// all, which SQLite does not tell from other reasons, an error that says so.
// Only where SQLite has just failed to open it: closing a file lets go of all
// locks that this process has on it.
func withoutAccess(path string, err error) error {
	if sqliteCode(err)&0xff != sqlite3.SQLITE_CANTOPEN {
		return err
	}
	f, openErr := os.OpenFile(path, os.O_RDWR, 0)
	if openErr == nil {
		f.Close()
		return err
	}
	if errors.Is(openErr, fs.ErrPermission) {
		return openErr
	}
	return err
}

// syncDir makes a new name in dir durable. Where a directory cannot be synced
// (Windows) the file system sees to it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
