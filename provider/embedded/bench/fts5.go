package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/siteprovider/siteprovider/provider"
)

// ftsEngine is SQLite's FTS5, set up the way that measured best: documents
// numbered site by site, so that one site is a range of row numbers, and a
// column that names the site, which is faster for several of them. Names count
// three times, English words are stemmed, function words left out of a query.
type ftsEngine struct {
	db     *sql.DB
	all    *sql.Stmt // searches what the query says
	within *sql.Stmt // searches a range of row numbers
	writer *sql.Conn
	insert ftsStatements
	byID   map[int64]string // sites
	ids    map[string]int64
	last   map[int64]int64 // the last row number of each site that was written to
}

// ftsStatements are the writer's.
type ftsStatements struct{ find, add, change, index, unindex *sql.Stmt }

// siteBits is where a row number holds its site.
const siteBits = 32

const ftsSchema = `
CREATE TABLE IF NOT EXISTS sites(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS docs(
	id INTEGER PRIMARY KEY, -- site << 32 | number
	site TEXT NOT NULL,     -- "s" and the site's id, one word of the index
	url TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, schema BLOB NOT NULL,
	UNIQUE(site, url));
CREATE VIRTUAL TABLE IF NOT EXISTS fts USING fts5(site, name, text,
	content='docs', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO fts(fts, rank) VALUES('rank', 'bm25(0.0, 3.0, 1.0)');`

// A write-ahead log of 40 MB instead of 4 halves the bytes written.
const ftsPragmas = "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)" +
	"&_pragma=cache_size(-65536)&_pragma=mmap_size(4294967296)&_pragma=wal_autocheckpoint(10000)&_txlock=immediate"

const (
	ftsSearch = "SELECT docs.id, url, docs.name, schema FROM (SELECT rowid AS id, rank FROM fts WHERE fts MATCH ? "
	ftsRange  = "AND rowid BETWEEN ? AND ? "
	ftsBest   = "ORDER BY rank LIMIT ?) best JOIN docs ON docs.id = best.id ORDER BY best.rank"
)

func openFTS5(ctx context.Context, dir string, _ bool) (engine, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "fts5.db"))+ftsPragmas)
	if err != nil {
		return nil, err
	}
	e := &ftsEngine{db: db, byID: map[int64]string{}, ids: map[string]int64{}, last: map[int64]int64{}}
	if err := e.prepare(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return e, nil
}

func (e *ftsEngine) prepare(ctx context.Context) error {
	var tables int
	if err := e.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'fts'").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		if _, err := e.db.ExecContext(ctx, ftsSchema); err != nil {
			return err
		}
	}
	var err error
	if e.all, err = e.db.PrepareContext(ctx, ftsSearch+ftsBest); err != nil {
		return err
	}
	if e.within, err = e.db.PrepareContext(ctx, ftsSearch+ftsRange+ftsBest); err != nil {
		return err
	}
	rows, err := e.db.QueryContext(ctx, "SELECT id, name FROM sites")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		e.byID[id], e.ids[name] = name, id
	}
	return rows.Err()
}

// startWriting prepares what only a writer needs, at its first batch.
func (e *ftsEngine) startWriting(ctx context.Context) error {
	if e.writer != nil {
		return nil
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return err
	}
	e.writer = conn
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&e.insert.find, "SELECT id, name, text FROM docs WHERE site = ? AND url = ?"},
		{&e.insert.add, "INSERT INTO docs(id, site, url, name, text, schema) VALUES(?, ?, ?, ?, ?, ?)"},
		{&e.insert.change, "UPDATE docs SET name = ?, text = ?, schema = ? WHERE id = ?"},
		{&e.insert.index, "INSERT INTO fts(rowid, site, name, text) VALUES(?, ?, ?, ?)"},
		{&e.insert.unindex, "INSERT INTO fts(fts, rowid, site, name, text) VALUES('delete', ?, ?, ?, ?)"},
	} {
		if *s.stmt, err = conn.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

func (e *ftsEngine) put(ctx context.Context, docs []provider.Document) error {
	docs = filled(docs)
	if err := e.startWriting(ctx); err != nil {
		return err
	}
	// A transaction of database/sql would prepare the statements again for
	// each document.
	if _, err := e.writer.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := e.putAll(ctx, docs)
	if err == nil {
		_, err = e.writer.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, rollback := e.writer.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, rollback)
	}
	return nil
}

func (e *ftsEngine) putAll(ctx context.Context, docs []provider.Document) (err error) {
	sites := make([]int64, len(docs))
	order := make([]int, len(docs))
	for i, d := range docs {
		order[i] = i
		if sites[i], err = e.siteID(ctx, d.Site); err != nil {
			return err
		}
	}
	// FTS5 writes out what it gathered whenever a row number steps back.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sites[a], sites[b]) })
	for _, i := range order {
		if err := e.putOne(ctx, sites[i], &docs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *ftsEngine) siteID(ctx context.Context, name string) (int64, error) {
	id, known := e.ids[name]
	if !known {
		if err := e.writer.QueryRowContext(ctx, "INSERT INTO sites(name) VALUES(?) RETURNING id", name).Scan(&id); err != nil {
			return 0, err
		}
		e.byID[id], e.ids[name] = name, id
	}
	if _, known := e.last[id]; !known {
		var last sql.NullInt64
		row := e.writer.QueryRowContext(ctx, "SELECT max(id) FROM docs WHERE id BETWEEN ? AND ?", id<<siteBits, id<<siteBits|(1<<siteBits-1))
		if err := row.Scan(&last); err != nil {
			return 0, err
		}
		e.last[id] = max(last.Int64, id<<siteBits)
	}
	return id, nil
}

func (e *ftsEngine) putOne(ctx context.Context, site int64, d *provider.Document) error {
	var id int64
	var name, text string
	word := siteWord(site)
	err := e.insert.find.QueryRowContext(ctx, word, d.URL).Scan(&id, &name, &text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		e.last[site]++
		id = e.last[site]
		_, err = e.insert.add.ExecContext(ctx, id, word, d.URL, d.Name, d.Text, d.Schema)
	case err == nil:
		if _, err = e.insert.unindex.ExecContext(ctx, id, word, name, text); err == nil {
			_, err = e.insert.change.ExecContext(ctx, d.Name, d.Text, d.Schema, id)
		}
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", d.URL, err)
	}
	_, err = e.insert.index.ExecContext(ctx, id, word, d.Name, d.Text)
	return err
}

func siteWord(id int64) string { return "s" + strconv.FormatInt(id, 10) }

func (e *ftsEngine) search(ctx context.Context, text string, sites []string, limit int) ([]provider.Hit, error) {
	match := ftsWords(text)
	if match == "" {
		return nil, nil
	}
	match = "{name text} : (" + match + ")"
	var ids []int64
	for _, name := range sites {
		if id, known := e.ids[name]; known {
			ids = append(ids, id)
		}
	}
	var rows *sql.Rows
	var err error
	switch {
	case len(sites) > 0 && len(ids) == 0:
		return nil, nil
	case len(ids) == 1:
		from := ids[0] << siteBits
		rows, err = e.within.QueryContext(ctx, match, from, from|(1<<siteBits-1), limit)
	default:
		rows, err = e.all.QueryContext(ctx, ofSiteIDs(ids)+match, limit)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hits := make([]provider.Hit, 0, limit)
	for rows.Next() {
		var h provider.Hit
		var id int64
		if err := rows.Scan(&id, &h.URL, &h.Name, &h.Schema); err != nil {
			return nil, err
		}
		h.Site = e.byID[id>>siteBits]
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// ofSiteIDs is the beginning of a query for documents of some sites; of all
// where ids is empty.
func ofSiteIDs(ids []int64) string {
	if len(ids) == 0 {
		return ""
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = siteWord(id)
	}
	return "site : (" + strings.Join(words, " OR ") + ") AND "
}

// stopWords are the English function words that bleve's analyzer drops, too.
var stopWords = func() map[string]bool {
	words := map[string]bool{}
	for _, line := range strings.Split(string(en.EnglishStopWords), "\n") {
		line, _, _ = strings.Cut(line, "|")
		if w := strings.TrimSpace(line); w != "" {
			words[w] = true
		}
	}
	return words
}()

// ftsWords is a query for any of the words of text. A quoted word means itself.
func ftsWords(text string) string {
	var terms []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notOfWord) {
		if w = `"` + w + `"`; !stopWords[strings.Trim(w, `"`)] && !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return strings.Join(terms, " OR ")
}

func notOfWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

func (e *ftsEngine) count(ctx context.Context) (n int64, err error) {
	err = e.db.QueryRowContext(ctx, "SELECT count(*) FROM docs").Scan(&n)
	return n, err
}

// close closes the statements first: SQLite takes a connection with open ones
// for one in use, and would leave its log beside the file.
func (e *ftsEngine) close() error {
	i := &e.insert
	for _, s := range []*sql.Stmt{e.all, e.within, i.find, i.add, i.change, i.index, i.unindex} {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	if e.writer != nil {
		if err := e.writer.Close(); err != nil {
			return err
		}
	}
	return e.db.Close()
}
