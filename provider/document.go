package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Document is a Schema.org object to keep. Its identity is (Site, URL).
type Document struct {
	URL    string // required, compared exactly
	Site   string // required, compared exactly, surrounding blanks trimmed
	Schema []byte // required: one JSON object or a list of objects, kept byte for byte

	// What follows is taken from Schema where it is empty.
	Name     string
	Types    []string // without the schema.org prefix
	Text     string   // what a reader would read
	Language string   // BCP 47 tag, such as "de" or "pt-BR"
}

// Check returns d with its site in canonical form. arg names the document in
// an error, such as "documents[3]".
func (d Document) Check(arg string) (Document, error) {
	var err error
	if d.Site, err = CheckSite(arg+".Site", d.Site); err != nil {
		return Document{}, err
	}
	if err := CheckURL(arg+".URL", d.URL); err != nil {
		return Document{}, err
	}
	if err := CheckSchema(arg+".Schema", d.Schema); err != nil {
		return Document{}, err
	}
	for _, f := range []struct {
		name, value string
		limit       int
	}{
		{".Name", d.Name, MaxNameBytes},
		{".Text", d.Text, MaxObjectBytes},
		{".Language", d.Language, MaxTypeBytes},
	} {
		if err := checkText(arg+f.name, f.value, f.limit); err != nil {
			return Document{}, err
		}
	}
	if len(d.Types) > MaxTypes {
		return Document{}, Invalidf(arg+".Types", "%d types are more than MaxTypes = %d", len(d.Types), MaxTypes)
	}
	for i, t := range d.Types {
		if err := checkText(arg+".Types["+strconv.Itoa(i)+"]", t, MaxTypeBytes); err != nil {
			return Document{}, err
		}
	}
	return d, nil
}

// Size is what d counts towards MaxBatchBytes: the bytes of its fields.
func (d Document) Size() int {
	n := len(d.URL) + len(d.Site) + len(d.Schema) + len(d.Name) + len(d.Text) + len(d.Language)
	for _, t := range d.Types {
		n += len(t)
	}
	return n
}

// Hash is the hexadecimal SHA-256 over everything of d but its identity. Two
// documents with one identity and one hash are the same document, which is how
// an ingestion knows from List what it need not send.
func (d Document) Hash() string {
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(d.Schema)
	part([]byte(d.Name))
	part([]byte(d.Text))
	part([]byte(d.Language))
	for _, t := range d.Types {
		part([]byte(t))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CheckBatch checks what is wrong with a batch as a whole. Its documents are
// checked one by one, with Document.Check, because each fails alone.
func CheckBatch(docs []Document) error {
	if len(docs) > MaxBatchDocuments {
		return Invalidf("documents", "%d documents are more than MaxBatchDocuments = %d", len(docs), MaxBatchDocuments)
	}
	total := 0
	for i := range docs {
		total += docs[i].Size()
	}
	if total > MaxBatchBytes {
		return Invalidf("documents", "%d bytes are more than MaxBatchBytes = %d", total, MaxBatchBytes)
	}
	return nil
}

// CheckURL checks the URL of a document: not blank, valid UTF-8, free of
// control characters and within MaxURLBytes.
func CheckURL(arg, url string) error {
	if strings.TrimSpace(url) == "" {
		return Invalidf(arg, "is blank")
	}
	if err := checkText(arg, url, MaxURLBytes); err != nil {
		return err
	}
	if i := strings.IndexFunc(url, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(url[i:])
		return Invalidf(arg, "has the control character %U at byte %d", r, i)
	}
	return nil
}

func checkText(arg, s string, limit int) error {
	name := arg[strings.LastIndexByte(arg, '.')+1:]
	if len(s) > limit {
		return Invalidf(arg, "%d bytes are more than %d, the limit of a %s", len(s), limit, name)
	}
	if !utf8.ValidString(s) {
		return Invalidf(arg, "is not valid UTF-8")
	}
	return nil
}

// CheckSchema checks that schema is one JSON object or a non-empty list of
// objects, valid UTF-8, within MaxObjectBytes and MaxJSONDepth. It looks at
// size and depth before anything that recurses.
func CheckSchema(arg string, schema []byte) error {
	if len(schema) > MaxObjectBytes {
		return Invalidf(arg, "%d bytes are more than MaxObjectBytes = %d", len(schema), MaxObjectBytes)
	}
	if len(bytes.TrimSpace(schema)) == 0 {
		return Invalidf(arg, "is empty")
	}
	if !utf8.Valid(schema) {
		return Invalidf(arg, "is not valid UTF-8")
	}
	if ExceedsJSONDepth(schema) {
		return Invalidf(arg, "is nested %d deep, more than MaxJSONDepth = %d", JSONDepth(schema), MaxJSONDepth)
	}
	// gjson is as strict as encoding/json, in less than half the time; the latter
	// says what is wrong. gjson recurses, which the check of the depth bounds.
	if !gjson.ValidBytes(schema) {
		var v any
		if err := json.Unmarshal(schema, &v); err != nil {
			return Invalidf(arg, "is not JSON: %v", err)
		}
	}
	return checkObjects(arg, schema)
}

// checkObjects checks that valid JSON is an object or a list of objects.
func checkObjects(arg string, schema []byte) error {
	switch first := bytes.TrimLeft(schema, " \t\r\n")[0]; first {
	case '{':
		return nil
	case '[':
	default:
		return Invalidf(arg, "is a %s, want an object or a list of objects", jsonKind(first))
	}
	n, allObjects := 0, true
	gjson.ParseBytes(schema).ForEach(func(_, member gjson.Result) bool {
		if allObjects = member.IsObject(); allObjects {
			n++
		}
		return allObjects
	})
	if !allObjects {
		return Invalidf(arg, "member %d of the list is not an object", n)
	}
	if n == 0 {
		return Invalidf(arg, "is an empty list, want an object or a list of objects")
	}
	return nil
}

// jsonKind names a JSON value other than an object or a list by its first byte.
func jsonKind(first byte) string {
	switch first {
	case 'n':
		return "null"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// JSONDepth returns the deepest nesting of brackets in text, in one pass and
// without recursion, whether or not text is valid JSON.
func JSONDepth(text []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}

// ExceedsJSONDepth reports whether the JSONDepth of text is more than
// MaxJSONDepth. Few texts have brackets enough for that, and counting them takes
// a fraction of the time.
func ExceedsJSONDepth(text []byte) bool {
	return bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) > MaxJSONDepth && JSONDepth(text) > MaxJSONDepth
}

// Outcome is what became of one document of a Put.
type Outcome string

// The outcomes of a Put.
const (
	Stored     Outcome = "stored"     // kept, and found from now on
	Unchanged  Outcome = "unchanged"  // was there already, under the current text and analysis versions
	Pending    Outcome = "pending"    // kept, not yet found by a search
	Superseded Outcome = "superseded" // a later document of the batch has the same identity
	Failed     Outcome = "failed"     // not kept; PutResult.Err says why
	Unknown    Outcome = "unknown"    // sent, and no answer came; put it again
)

// PutResult is the outcome of one document.
type PutResult struct {
	Site    string // in canonical form, where the document had a valid one
	URL     string
	Outcome Outcome
	Err     error // non-nil exactly for Failed and Unknown
}

// DocumentArg names the document at index i of a batch in an error.
func DocumentArg(i int) string { return "documents[" + strconv.Itoa(i) + "]" }
