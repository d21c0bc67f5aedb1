package goodmemtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// metadata is a memory's, in the three forms it is needed in.
type metadata struct {
	echo   []byte         // for the answer of the create: in the order it came
	stored []byte         // for all else: in the order of PostgreSQL's jsonb
	fields map[string]any // for filters
}

// maxDepth is the nesting at which the server's JSON library gives up.
const maxDepth = 1000

// errNUL is of a character that PostgreSQL's jsonb has no place for.
var errNUL = errors.New("the character U+0000 cannot be stored")

// member is a property of an object whose order counts.
type member struct {
	name  string
	value any
}

// parseMetadata reads a JSON object. Its numbers become floating point, which
// shows: 2026 is returned as 2026.0.
func parseMetadata(raw []byte) (*metadata, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := ordered(dec, 0)
	if err != nil {
		return nil, err
	}
	object, ok := v.([]member)
	if !ok {
		return nil, errors.New("not an object")
	}
	m := &metadata{echo: appendOrdered(nil, object)}
	m.fields, _ = plain(object).(map[string]any)
	m.stored = appendOrdered(nil, asStored(object))
	return m, nil
}

// ordered reads a value: []member, []any, string, float64, bool or nil.
func ordered(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case string:
		if strings.ContainsRune(tok, 0) {
			return nil, errNUL
		}
	case json.Number:
		f, err := tok.Float64()
		if err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("number %.40s is out of range", tok)
		}
		return f, nil
	case json.Delim:
		var object []member
		var list []any
		for dec.More() {
			name := ""
			if tok == '{' {
				key, err := dec.Token()
				if err != nil {
					return nil, err
				}
				if name, _ = key.(string); strings.ContainsRune(name, 0) {
					return nil, errNUL
				}
			}
			v, err := ordered(dec, depth+1)
			if err != nil {
				return nil, err
			}
			if tok == '{' {
				object = append(object, member{name, v})
			} else {
				list = append(list, v)
			}
		}
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
		if tok == '{' {
			return lastOfEach(object), nil
		}
		return list, nil
	}
	return tok, nil
}

// lastOfEach keeps the last of the members with one name, at the first one's
// place.
func lastOfEach(object []member) []member {
	at := make(map[string]int, len(object))
	out := object[:0:0]
	for _, m := range object {
		if i, ok := at[m.name]; ok {
			out[i] = m
			continue
		}
		at[m.name] = len(out)
		out = append(out, m)
	}
	if out == nil {
		out = []member{}
	}
	return out
}

// asStored orders members as jsonb does: shorter names first, then by bytes.
func asStored(v any) any {
	switch v := v.(type) {
	case []member:
		out := make([]member, len(v))
		for i, m := range v {
			out[i] = member{m.name, asStored(m.value)}
		}
		slices.SortFunc(out, func(a, b member) int {
			return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
		})
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = asStored(e)
		}
		return out
	}
	return v
}

// plain is what encoding/json would have decoded.
func plain(v any) any {
	switch v := v.(type) {
	case []member:
		out := make(map[string]any, len(v))
		for _, m := range v {
			out[m.name] = plain(m.value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

func appendOrdered(b []byte, v any) []byte {
	switch v := v.(type) {
	case []member:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.name), ':')
			b = appendOrdered(b, m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendOrdered(b, e)
		}
		return append(b, ']')
	case float64:
		return appendDouble(b, v)
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// double is a number that is written as Java writes a double.
type double float64

// MarshalJSON writes 1.0 for 1.
func (d double) MarshalJSON() ([]byte, error) { return appendDouble(nil, float64(d)), nil }

// appendDouble writes at least one decimal, and from 10,000,000 up and below
// 0.001 an exponent: 2026.0, 1.0E20.
func appendDouble(b []byte, f float64) []byte {
	size := math.Abs(f)
	if size == 0 || 1e-3 <= size && size < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return append(b, s...)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return append(b, digits+"E"+strconv.Itoa(n)...)
}
