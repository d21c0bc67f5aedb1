package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/siteprovider/siteprovider/provider"
)

// storedDocument is a row of the table document.
type storedDocument struct {
	id, site, key, version   int64
	url, name, types, lang   string
	hash, packedText, packed []byte
	crc                      int64

	object     []byte
	unreadable error // why there is no object
}

const storedColumns = "id, site, key, version, url, name, types, language, hash, crc, text, schema"

func (d *storedDocument) scan(rows *sql.Rows) error {
	err := rows.Scan(&d.id, &d.site, &d.key, &d.version, &d.url, &d.name, &d.types, &d.lang, &d.hash, &d.crc, &d.packedText, &d.packed)
	if err == nil {
		d.object, d.unreadable = unpackObject(nil, d.packed)
	}
	return err
}

// document returns the row as a document of the site with a name. Its object or
// text is empty where it cannot be read, its types where they cannot, and then
// the error says so.
func (d *storedDocument) document(site string) (provider.Document, error) {
	doc := provider.Document{URL: d.url, Site: site, Schema: d.object, Name: d.name, Language: d.lang}
	var err error
	if d.types != "" {
		if json.Unmarshal([]byte(d.types), &doc.Types) != nil {
			doc.Types = nil
			err = damaged("the types of a document are no list of texts")
		}
	}
	if d.unreadable != nil {
		return doc, d.unreadable
	}
	text, textErr := unpackText(d.object, d.packedText)
	if textErr != nil {
		return doc, textErr
	}
	doc.Text = text
	return doc, err
}

// asPut returns full, which is d as it is stored, without what was not given
// when it was put but taken from its object. The hash tells: it is of what was
// given. No choice has that hash where something given, such as the object, is
// not as it was; then ok is false.
func (d *storedDocument) asPut(full provider.Document) (given provider.Document, ok bool) {
	const name, types, text, language = 1, 2, 4, 8
	// Most documents were given with nothing but their object, or with their
	// language or name.
	for _, choice := range []int{0, language, name, language | name, name | types, name | types | language, types, types | language,
		text, text | language, text | name, text | name | language, text | name | types, text | name | types | language, text | types, text | types | language} {
		given = full
		if choice&name == 0 {
			given.Name = ""
		}
		if choice&types == 0 {
			given.Types = nil
		}
		if choice&text == 0 {
			given.Text = ""
		}
		if choice&language == 0 {
			given.Language = ""
		}
		if choice&name != 0 && given.Name == "" || choice&types != 0 && len(given.Types) == 0 ||
			choice&text != 0 && given.Text == "" || choice&language != 0 && given.Language == "" {
			continue // the same as without it
		}
		if bytes.Equal(contentHash(given), d.hash) {
			return given, true
		}
	}
	return full, false
}

// eachBatch calls do with the rows of a query for storedColumns, a few hundred
// documents or some megabytes at a time.
func eachBatch(ctx context.Context, tx *session, do func([]storedDocument) error, query string, args ...any) error {
	const maxDocuments, maxBytes = 256, 8 << 20
	var batch []storedDocument
	size := 0
	err := tx.each(ctx, func(rows *sql.Rows) error {
		var d storedDocument
		if err := d.scan(rows); err != nil {
			return err
		}
		batch = append(batch, d)
		if size += len(d.object) + len(d.packedText); len(batch) < maxDocuments && size < maxBytes {
			return nil
		}
		err := do(batch)
		batch, size = nil, 0
		return err
	}, query, args...)
	if err == nil && len(batch) > 0 {
		err = do(batch)
	}
	return err
}
