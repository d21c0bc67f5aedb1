package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// wrapped is an object and what its wrapper says about it. NLWeb's tools write
// them as {"url","site","schema"}, with the object under one of several names,
// as JSON or as a string that holds JSON, and as lines of url<TAB>JSON.
type wrapped struct {
	url    string
	site   string
	name   string
	schema []byte
	line   int // lines of the wrapper's text before schema
}

// schemaKeys are the names under which a wrapper holds its object, the first
// one present counting.
var schemaKeys = [...]string{"schema", "schema_json", "raw_schema_object"}

// readWrapper reads a JSON object that is a wrapper; ok is false when it is
// not. One that is a wrapper, with a member that cannot be what it should be,
// is an error. The text need not be valid JSON: what is broken in it is for the
// reader of the object to mend, or to report.
func readWrapper(text []byte) (w wrapped, ok bool, err error) {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 || start[0] != '{' || !namesSchema(start) {
		return wrapped{}, false, nil
	}
	var schema [len(schemaKeys)]gjson.Result
	var address, site, name gjson.Result
	ok = true
	gjson.ParseBytes(text).ForEach(func(key, value gjson.Result) bool {
		switch k := key.String(); k {
		case "@type", "@graph", "@context":
			ok = false
			return false
		case "url":
			address = value
		case "site":
			site = value
		case "name":
			name = value
		default:
			for i := range schemaKeys {
				if k == schemaKeys[i] {
					schema[i] = value
				}
			}
		}
		return true
	})
	if !ok {
		return wrapped{}, false, nil
	}
	for _, s := range schema {
		if !s.Exists() {
			continue
		}
		w.line = bytes.Count(text[:min(max(s.Index, 0), len(text))], []byte("\n"))
		if w.url, err = textMember("url", address); err != nil {
			return w, true, err
		}
		if w.site, err = textMember("site", site); err != nil {
			return w, true, err
		}
		if name.Type == gjson.String {
			w.name = name.Str
		}
		w.schema, err = schemaMember(s)
		return w, true, err
	}
	return wrapped{}, false, nil
}

// namesSchema is a quick look that spares most texts a second reading.
func namesSchema(text []byte) bool {
	for _, k := range schemaKeys {
		if bytes.Contains(text, []byte(`"`+k+`"`)) {
			return true
		}
	}
	return false
}

func textMember(key string, v gjson.Result) (string, error) {
	switch {
	case v.Type == gjson.Null: // also where there is none
		return "", nil
	case v.Type == gjson.String:
		return v.Str, nil
	}
	return "", provider.Invalidf(key, "is %s, want a text", kindOf(v))
}

func schemaMember(v gjson.Result) ([]byte, error) {
	// A string may hold JSON that was put into a string twice.
	for range 2 {
		if v.Type != gjson.String {
			break
		}
		inner := strings.TrimSpace(v.Str)
		if inner == "" {
			return nil, provider.Invalidf("schema", "is an empty text")
		}
		if !strings.HasPrefix(inner, `"`) || !gjson.Valid(inner) {
			return []byte(v.Str), nil
		}
		v = gjson.Parse(inner)
	}
	if !v.IsObject() && !v.IsArray() {
		return nil, provider.Invalidf("schema", "is %s, want an object, a list of objects, or a text that holds one", kindOf(v))
	}
	return []byte(v.Raw), nil
}

func kindOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "a list"
	case v.IsBool():
		return "a boolean"
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.String:
		return "a text"
	}
	return "null"
}

// readTabLine reads url<TAB>JSON, to which some tools add a column of numbers,
// the embedding, that is left out.
func readTabLine(line []byte) (wrapped, error) {
	address, rest, _ := bytes.Cut(line, []byte("\t"))
	w := wrapped{url: string(bytes.TrimSpace(address)), schema: bytes.TrimSpace(rest)}
	if w.schema[0] == '"' {
		column := w.schema
		if i := bytes.IndexByte(column, '\t'); i >= 0 {
			column = bytes.TrimSpace(column[:i])
		}
		if !json.Valid(column) {
			return w, provider.Invalidf("schema", "is no JSON text")
		}
		var err error
		w.schema, err = schemaMember(gjson.ParseBytes(column))
		return w, err
	}
	var e extent
	if n, done := e.feed(w.schema); done && n < len(w.schema) && w.schema[n] == '\t' {
		w.schema = w.schema[:n]
	}
	return w, nil
}

// page returns the page that w is.
func (w wrapped) page(base string, baseURL *url.URL, line int) (schemaorg.Page, error) {
	p := schemaorg.Page{
		Base: base, Site: strings.TrimSpace(w.site),
		Scripts: []schemaorg.Script{{Text: w.schema, Line: line + w.line}},
	}
	if strings.TrimSpace(w.url) == "" {
		return p, nil // the object says itself where it lives, or is refused
	}
	address, err := pageURL(w.url, baseURL)
	if err != nil {
		return p, fmt.Errorf("read the wrapper: %w", err)
	}
	p.URL, p.Wrapper = address, true
	return p, nil
}
