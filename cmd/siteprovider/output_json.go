package main

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/siteprovider/siteprovider/provider"
)

// The JSON of --json is put together by hand, because it has to carry objects
// exactly as they were ingested: encoding/json would compact them and rewrite
// their escapes.

// jsonString appends s as a JSON string. Characters with a meaning in HTML
// stay as they are: this is not HTML.
func jsonString(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return append(b, `""`...) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// jsonField appends `"name":`, after a comma unless it is the first of its object.
func jsonField(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func jsonText(b []byte, name, value string) []byte {
	return jsonString(jsonField(b, name), value)
}

func jsonBool(b []byte, name string, value bool) []byte {
	return strconv.AppendBool(jsonField(b, name), value)
}

func jsonInt(b []byte, name string, value int64) []byte {
	return strconv.AppendInt(jsonField(b, name), value, 10)
}

// jsonList appends n members, each written by member.
func jsonList(b []byte, name string, n int, member func(b []byte, i int) []byte) []byte {
	b = append(jsonField(b, name), '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = member(b, i)
	}
	return append(b, ']')
}

// jsonSchema appends the bytes of an object; null where there are none or
// where, from a provider that is not ours, they would break the document.
func jsonSchema(b []byte, schema []byte) []byte {
	b = jsonField(b, "schema")
	if !json.Valid(schema) {
		return append(b, "null"...)
	}
	return append(b, schema...)
}

// resultJSON returns the document that search --json prints.
func resultJSON(res *provider.Result) []byte {
	b := jsonList([]byte{'{'}, "hits", len(res.Hits), func(b []byte, i int) []byte {
		return hitJSON(b, res.Hits[i])
	})
	b = jsonBool(b, "degraded", res.Degraded)
	b = jsonList(b, "statuses", len(res.Statuses), func(b []byte, i int) []byte {
		st := res.Statuses[i]
		b = jsonText(append(b, '{'), "code", st.Code)
		b = jsonText(b, "message", st.Message)
		return append(jsonText(b, "kind", string(st.Kind)), '}')
	})
	if res.Answer != nil {
		b = append(jsonField(b, "answer"), '{')
		if res.Answer.Text != nil {
			b = jsonText(b, "text", *res.Answer.Text)
		} else {
			b = append(jsonField(b, "text"), "null"...)
		}
		b = append(b, '}')
	}
	return append(b, '}', '\n')
}

func hitJSON(b []byte, h provider.Hit) []byte {
	b = jsonText(append(b, '{'), "url", h.URL)
	b = jsonText(b, "site", h.Site)
	b = jsonText(b, "name", h.Name)
	b = jsonList(b, "types", len(h.Types), func(b []byte, i int) []byte { return jsonString(b, h.Types[i]) })
	b = jsonText(b, "passage", h.Passage)
	return append(jsonSchema(b, h.Schema), '}')
}

// objectsJSON returns the document that get --json prints.
func objectsJSON(objects []provider.Object) []byte {
	b := jsonList([]byte{'{'}, "objects", len(objects), func(b []byte, i int) []byte {
		o := objects[i]
		b = jsonText(append(b, '{'), "url", o.URL)
		b = jsonText(b, "site", o.Site)
		b = jsonBool(b, "found", o.Found)
		b = jsonBool(b, "ambiguous", o.Ambiguous)
		return append(jsonSchema(b, o.Schema), '}')
	})
	return append(b, '}', '\n')
}

// entryJSON appends one member of what list --json prints.
func entryJSON(b []byte, e provider.Entry) []byte {
	b = jsonText(append(b, '{'), "url", e.URL)
	b = jsonText(b, "hash", e.Hash)
	return append(jsonBool(b, "indexed", e.Indexed), '}')
}

// sitesJSON returns the document that sites --json prints.
func sitesJSON(sites []provider.Site) []byte {
	b := jsonList([]byte{'{'}, "sites", len(sites), func(b []byte, i int) []byte {
		b = jsonText(append(b, '{'), "site", sites[i].Site)
		return append(jsonInt(b, "documents", sites[i].Documents), '}')
	})
	return append(b, '}', '\n')
}
