package provider

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Op compares a property with a value.
type Op string

// The operators.
const (
	Equal        Op = "="
	NotEqual     Op = "!=" // the property is there and none of its members equals the value
	Less         Op = "<"
	LessEqual    Op = "<="
	Greater      Op = ">"
	GreaterEqual Op = ">="
	In           Op = "in"     // equal to one of a list of values
	Exists       Op = "exists" // the property has a member that is not null; no value
)

// Filter is a list of conditions that must all hold. The empty Filter holds
// for every document.
type Filter []Condition

// Condition compares what a path leads to with a value.
//
// Path is "@type", which compares type names with or without their schema.org
// prefix, or property names joined by dots, such as "offers.price". A list on
// the way stands for each of its members, a language-tagged value for its
// text; the condition holds if it holds for one member (NotEqual: see there).
//
// Value is a string, a bool or a finite number; for In a non-empty list of
// those; for Exists nil. It compares by its own type:
//
//   - A number compares with numbers, and with strings that are plain decimals
//     such as "19.90". A whole number from 1000 to 9999 is also that year, and
//     compares as a date with strings that are dates.
//   - A string that is a date (see [ParseDate]) compares with dates as an
//     instant, or as the whole day or month, UTC, where it names no time. In a
//     document a day, month or year (as "1818" or 1818) is its first instant.
//   - Any other string equals itself alone, letter by letter; only a schema.org
//     prefix counts for nothing, so that "InStock" equals
//     "https://schema.org/InStock". The four ordering operators take only
//     numbers, dates, and strings that are plain decimals, which they read as
//     numbers.
//   - A bool compares with booleans, and with the strings "true" and "false" in
//     any case, with or without the schema.org prefix.
type Condition struct {
	Path  string
	Op    Op
	Value any
}

// Check returns f with every value as a string, bool, float64 or []any of
// these. arg names the filter in an error.
func (f Filter) Check(arg string) (Filter, error) {
	if len(f) == 0 {
		return nil, nil
	}
	if len(f) > MaxConditions {
		return nil, Invalidf(arg, "%d conditions are more than MaxConditions = %d", len(f), MaxConditions)
	}
	out := make(Filter, len(f))
	for i, c := range f {
		var err error
		if out[i], err = c.check(arg + "[" + strconv.Itoa(i) + "]"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c Condition) check(arg string) (Condition, error) {
	if err := checkPath(arg+".Path", c.Path); err != nil {
		return Condition{}, err
	}
	var err error
	switch c.Op {
	case Exists:
		if c.Value != nil {
			return Condition{}, Invalidf(arg+".Value", "exists takes no value")
		}
	case In:
		c.Value, err = checkList(arg+".Value", c.Value)
	case Equal, NotEqual:
		c.Value, err = checkValue(arg+".Value", c.Value)
	case Less, LessEqual, Greater, GreaterEqual:
		if c.Value, err = checkValue(arg+".Value", c.Value); err == nil {
			c.Value, err = orderedValue(arg+".Value", c.Value)
		}
	default:
		return Condition{}, Invalidf(arg+".Op", "%q is not one of = != < <= > >= in exists", c.Op)
	}
	if err != nil {
		return Condition{}, err
	}
	return c, nil
}

func checkPath(arg, path string) error {
	if err := checkText(arg, path, MaxConditionPath); err != nil {
		return err
	}
	if path == "@type" {
		return nil
	}
	for _, name := range strings.Split(path, ".") {
		if name == "" || strings.TrimSpace(name) != name {
			return Invalidf(arg, "%q is not property names joined by dots", path)
		}
	}
	return nil
}

func checkList(arg string, v any) (any, error) {
	var list []any
	switch v := v.(type) {
	case []any:
		list = v
	case []string:
		for _, s := range v {
			list = append(list, s)
		}
	case []float64:
		for _, n := range v {
			list = append(list, n)
		}
	case []int:
		for _, n := range v {
			list = append(list, n)
		}
	default:
		return nil, Invalidf(arg, "in takes a list of values, not a %T", v)
	}
	if len(list) == 0 {
		return nil, Invalidf(arg, "is an empty list")
	}
	if len(list) > MaxConditionValues {
		return nil, Invalidf(arg, "%d values are more than MaxConditionValues = %d", len(list), MaxConditionValues)
	}
	out := make([]any, len(list))
	for i, m := range list {
		var err error
		if out[i], err = checkValue(arg+"["+strconv.Itoa(i)+"]", m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkValue(arg string, v any) (any, error) {
	var n float64
	switch v := v.(type) {
	case string:
		if len(v) > MaxConditionValue {
			return nil, Invalidf(arg, "%d bytes are more than MaxConditionValue = %d", len(v), MaxConditionValue)
		}
		if !utf8.ValidString(v) {
			return nil, Invalidf(arg, "is not valid UTF-8")
		}
		return v, nil
	case bool:
		return v, nil
	case float64:
		n = v
	case float32:
		n = float64(v)
	case int:
		n = float64(v)
	case int32:
		n = float64(v)
	case int64:
		n = float64(v)
	case nil:
		return nil, Invalidf(arg, "is missing or null; to ask whether a property is there, use exists")
	default:
		return nil, Invalidf(arg, "a %T is no string, number or bool", v)
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, Invalidf(arg, "%v is not a finite number", n)
	}
	return n, nil
}

// orderedValue returns what an ordering operator compares with: a number or
// the text of a date.
func orderedValue(arg string, v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		if _, isBool := v.(bool); isBool {
			return nil, Invalidf(arg, "a boolean has no order")
		}
		return v, nil
	}
	if n, ok := ParseDecimal(s); ok {
		return n, nil
	}
	if _, _, ok := ParseDate(s); ok {
		return s, nil
	}
	return nil, Invalidf(arg, "%q has no order: it is neither a number nor a date", s)
}

// ParseDecimal reads s if it is a plain decimal: an optional minus sign,
// digits, and optionally a point and digits. "1e3", "1,000" and " 5" are not.
func ParseDecimal(s string) (float64, bool) {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if !allDigits(whole) || point && !allDigits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// ParseDate reads s if it is an ISO 8601 calendar date or month, such as
// "2026-09-01" or "2026-09", or a date with a time of day to the minute or
// finer, such as "2026-09-01T08:30" or "2026-09-01T08:30:00+02:00". It returns
// the time that s stands for, in UTC: from its start until before its end, which
// for a time of day are one instant. What names no zone is UTC.
func ParseDate(s string) (from, until time.Time, ok bool) {
	if len(s) < len("2006-01") || s[4] != '-' {
		return from, until, false
	}
	if t, err := time.Parse("2006-01", s); err == nil {
		return t, t.AddDate(0, 1, 0), true
	}
	if t, err := time.Parse("2006-01-02", s); err == nil {
		return t, t.AddDate(0, 0, 1), true
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), t.UTC(), true
		}
	}
	return from, until, false
}

var dateLayouts = []string{
	"2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04",
}
