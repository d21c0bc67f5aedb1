package schemaorg

import (
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
	from   time.Time // the instant, or the first of the day
	until  time.Time // the instant, or the first of the next day
	bare   bool
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
	case string:
		t.text = v
		at, bare, isDate := provider.ParseDate(v)
		switch {
		case typed:
			t.kind, t.text = typeTest, TrimType(v)
		case isDate:
			t.kind, t.from, t.until, t.bare = dateTest, at, at, bare
			if bare {
				t.until = at.AddDate(0, 0, 1)
			}
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
		n, ok := readNumber(v)
		return ok && ordered(t.op, compareNumbers(n, t.number))
	case dateTest:
		if v.Type != gjson.String {
			return false
		}
		at, _, ok := provider.ParseDate(v.Str)
		return ok && ordered(t.op, t.compareDate(at))
	}
	return v.Type == gjson.String && v.Str == t.text
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

// compareDate places an instant before, within or after the test's: a bare date
// is its whole day.
func (t *test) compareDate(at time.Time) int {
	switch {
	case at.Before(t.from):
		return -1
	case t.bare && at.Before(t.until), at.Equal(t.from):
		return 0
	}
	return 1
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
