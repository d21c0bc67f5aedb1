package schemaorg

import (
	"math"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// test compares one member with one value.
type test struct {
	op     provider.Op // Equal or one of the four that order
	kind   testKind
	text   string
	number float64
	truth  bool

	// Of a date, and of a number that may be a year; see provider.ParseDate.
	dated       bool
	from, until time.Time
}

type testKind uint8

const (
	textTest testKind = iota
	typeTest
	numberTest
	dateTest
	boolTest
)

func compileTest(op provider.Op, value any, typed bool) test {
	t := test{op: op}
	switch v := value.(type) {
	case bool:
		t.kind, t.truth = boolTest, v
	case float64:
		t.kind, t.number = numberTest, v
		if t.from, t.dated = year(v); t.dated {
			t.until = t.from.AddDate(1, 0, 0)
		}
	case string:
		if typed {
			t.kind, t.text = typeTest, TrimType(v)
		} else if t.from, t.until, t.dated = provider.ParseDate(v); t.dated {
			t.kind = dateTest
		} else {
			t.text = withoutPrefix(v)
		}
	}
	return t
}

func (t *test) holds(v gjson.Result) bool {
	switch t.kind {
	case typeTest:
		return v.Type == gjson.String && TrimType(v.Str) == t.text
	case boolTest:
		truth, ok := readBool(v)
		return ok && truth == t.truth
	case numberTest:
		if n, ok := readNumber(v); ok {
			return ordered(t.op, compareNumbers(n, t.number))
		}
		if !t.dated || v.Type != gjson.String {
			return false
		}
		at, _, ok := provider.ParseDate(v.Str)
		return ok && ordered(t.op, t.compareDate(at))
	case dateTest:
		at, ok := readDate(v)
		return ok && ordered(t.op, t.compareDate(at))
	}
	return v.Type == gjson.String && withoutPrefix(v.Str) == t.text
}

func ordered(op provider.Op, cmp int) bool {
	switch op {
	case provider.Less:
		return cmp < 0
	case provider.LessEqual:
		return cmp <= 0
	case provider.Greater:
		return cmp > 0
	case provider.GreaterEqual:
		return cmp >= 0
	}
	return cmp == 0
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareDate places an instant before, within or after the test's time.
func (t *test) compareDate(at time.Time) int {
	switch {
	case at.Before(t.from):
		return -1
	case at.Before(t.until), at.Equal(t.from):
		return 0
	}
	return 1
}

// readDate reads the first instant of a date, month or year.
func readDate(v gjson.Result) (time.Time, bool) {
	if v.Type == gjson.String {
		if at, _, ok := provider.ParseDate(v.Str); ok {
			return at, true
		}
	}
	n, ok := readNumber(v)
	if !ok {
		return time.Time{}, false
	}
	return year(n)
}

// year returns the start of the year that a whole number may stand for.
func year(n float64) (time.Time, bool) {
	if n < 1000 || n > 9999 || n != math.Trunc(n) {
		return time.Time{}, false
	}
	return time.Date(int(n), time.January, 1, 0, 0, 0, 0, time.UTC), true
}

// withoutPrefix returns the choice of schema.org that s names, and any other
// text as it is.
func withoutPrefix(s string) string {
	if name := TrimType(s); len(name) < len(strings.TrimSpace(s)) {
		return name
	}
	return s
}

func readNumber(v gjson.Result) (float64, bool) {
	switch v.Type {
	case gjson.Number:
		return v.Num, true
	case gjson.String:
		return provider.ParseDecimal(v.Str)
	}
	return 0, false
}

func readBool(v gjson.Result) (truth, ok bool) {
	switch v.Type {
	case gjson.True, gjson.False:
		return v.Type == gjson.True, true
	case gjson.String:
		name := TrimType(v.Str)
		switch {
		case strings.EqualFold(name, "true"):
			return true, true
		case strings.EqualFold(name, "false"):
			return false, true
		}
	}
	return false, false
}
