package filter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is what a node evaluates to. The zero value is NULL.
type value struct {
	kind valueType
	b    bool
	s    string
	f    float64
	t    time.Time // of a date (midnight UTC) or a timestamp
	json any       // as encoding/json decodes
}

func boolean(b bool) value { return value{kind: typeBool, b: b} }

func number(f float64) value { return value{kind: typeNumber, f: f} }

func text(s string) value { return value{kind: typeText, s: s} }

func date(t time.Time) value {
	y, m, d := t.Date()
	return value{kind: typeDate, t: time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
}

func (v value) null() bool { return v.kind == typeNull }

// TextOf returns what CAST(x AS TEXT) gives of a value decoded by
// encoding/json: a string is itself, a boolean t or f, a number its shortest
// form without an exponent. null has none.
func TextOf(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case bool:
		if v {
			return "t", true
		}
		return "f", true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case json.Number:
		f, err := v.Float64()
		return strconv.FormatFloat(f, 'f', -1, 64), err == nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "", false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// cast converts a value; what does not fit is NULL.
func (v value) cast(name string) value {
	to := castType(name)
	if v.kind == typeJSON {
		return castJSON(v.json, to)
	}
	if v.kind == to || v.null() {
		return v.rounded(name)
	}
	switch to {
	case typeText:
		return v.asText()
	case typeBool:
		switch strings.ToLower(v.s) {
		case "t", "true", "yes", "on", "1":
			return boolean(true)
		case "f", "false", "no", "off", "0":
			return boolean(false)
		}
	case typeNumber:
		if f, err := strconv.ParseFloat(strings.TrimSpace(v.s), 64); err == nil && v.kind == typeText {
			return number(f).rounded(name)
		}
	case typeDate:
		if v.kind == typeTime {
			return date(v.t)
		}
		if t, ok := parseTime(v.s); ok && v.kind == typeText {
			return date(t)
		}
	case typeTime:
		if v.kind == typeDate {
			return value{kind: typeTime, t: v.t}
		}
		if t, ok := parseTime(v.s); ok && v.kind == typeText {
			return value{kind: typeTime, t: t}
		}
	case typeJSON:
		return toJSON(v)
	}
	return value{}
}

// rounded gives a number the precision of an integer type.
func (v value) rounded(name string) value {
	switch name {
	case "INT", "INTEGER", "BIGINT":
		if v.kind == typeNumber {
			return number(roundToEven(v.f))
		}
	}
	return v
}

func castJSON(j any, to valueType) value {
	switch to {
	case typeJSON:
		return value{kind: typeJSON, json: j}
	case typeText:
		if s, ok := TextOf(j); ok {
			return text(s)
		}
	case typeBool:
		if b, ok := j.(bool); ok {
			return boolean(b)
		}
	case typeNumber:
		if f, ok := j.(float64); ok {
			return number(f)
		}
	case typeDate, typeTime:
		s, _ := j.(string)
		if t, ok := parseTime(s); ok {
			if to == typeDate {
				return date(t)
			}
			return value{kind: typeTime, t: t}
		}
	}
	return value{}
}

func (v value) asText() value {
	switch v.kind {
	case typeText:
		return v
	case typeBool:
		s, _ := TextOf(v.b)
		return text(s)
	case typeNumber:
		s, _ := TextOf(v.f)
		return text(s)
	case typeDate:
		return text(v.t.Format(time.DateOnly))
	case typeTime:
		return text(v.t.Format(time.DateTime))
	}
	return value{}
}

func toJSON(v value) value {
	switch v.kind {
	case typeJSON:
		return v
	case typeBool:
		return value{kind: typeJSON, json: v.b}
	case typeNumber:
		return value{kind: typeJSON, json: v.f}
	case typeNull:
		return value{kind: typeJSON}
	}
	return value{kind: typeJSON, json: v.asText().s}
}

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05Z07:00", time.DateOnly}

func parseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// compare orders two values. It reports false where they cannot be compared,
// which matches nothing: NULL with anything, JSON with anything but JSON, and
// different types.
func compare(a, b value) (int, bool) {
	a, b = alike(a, b), alike(b, a)
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case typeBool:
		return cmp.Compare(asInt(a.b), asInt(b.b)), true
	case typeText:
		return strings.Compare(a.s, b.s), true
	case typeNumber:
		return cmp.Compare(a.f, b.f), true
	case typeDate, typeTime:
		return a.t.Compare(b.t), true
	case typeJSON:
		if equalJSON(a.json, b.json) {
			return 0, true
		}
		x, _ := TextOf(a.json)
		y, _ := TextOf(b.json)
		return cmp.Or(strings.Compare(x, y), 1), true
	}
	return 0, false
}

// alike gives a, compared with b, the type that it has to have: a literal
// beside a date is a date, a date beside a timestamp is one.
func alike(a, b value) value {
	switch {
	case a.kind == typeText && b.kind == typeDate:
		return a.cast("DATE")
	case (a.kind == typeText || a.kind == typeDate) && b.kind == typeTime:
		return a.cast("TIMESTAMP")
	}
	return a
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case []any:
		l, ok := b.([]any)
		return ok && slices.EqualFunc(a, l, equalJSON)
	case map[string]any:
		m, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, m, equalJSON)
	case nil, bool, string, float64:
		switch b.(type) {
		case []any, map[string]any:
			return false
		}
		return a == b
	}
	return false
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
