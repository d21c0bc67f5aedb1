package goodmem

import (
	"math"
	"strconv"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// Expr is a condition on the metadata of memories, which a server evaluates.
// The zero Expr is no condition. Text goes into one only as a value, never as
// syntax, whatever it holds.
//
//	e := goodmem.All(
//		goodmem.Compare("lang", provider.Equal, "de"),
//		goodmem.Compare("year", provider.GreaterEqual, 2020),
//	)
//
// A server compares nothing that has another type than the value: a string is
// compared as text, a bool as a boolean, a number as a number, and a memory
// whose field has another type does not match, without any error.
type Expr struct {
	kind   exprKind
	field  string
	op     provider.Op
	values []any // string, bool, float64 or int64
	parts  []Expr
	text   string // of a verbatim expression
	err    error
}

type exprKind int

const (
	noCondition exprKind = iota
	comparison
	conjunction
	disjunction
	negation
	verbatim
	broken
)

// Compare compares a field with a value: a string, a bool, or a finite number.
// Field is one name, or several joined by dots, of letters, digits and
// underscores. The operators are those of the contract; the ordering ones take
// numbers. In takes a list of values of one type, Exists nil. What is wrong is
// an error that matches provider.ErrInvalid where the expression is used.
func Compare(field string, op provider.Op, value any) Expr {
	arg := "filter on " + strconv.Quote(field)
	if !isFieldName(field) {
		return broke(provider.Invalidf("filter", "%q is no field: want letters, digits and underscores, joined by dots", field))
	}
	if op == provider.Exists {
		if value != nil {
			return broke(provider.Invalidf(arg, "exists takes no value"))
		}
		return Expr{kind: comparison, field: field, op: op}
	}
	list := []any{value}
	if op == provider.In {
		var err error
		if list, err = listOf(arg, value); err != nil {
			return broke(err)
		}
	}
	e := Expr{kind: comparison, field: field, op: op, values: make([]any, len(list))}
	for i, v := range list {
		v, err := exprValue(arg, v)
		if err != nil {
			return broke(err)
		}
		e.values[i] = v
	}
	switch op {
	case provider.Equal, provider.NotEqual:
	case provider.In:
		for _, v := range e.values {
			if castOf(v) != castOf(e.values[0]) {
				return broke(provider.Invalidf(arg, "the list of in mixes texts, booleans and numbers"))
			}
		}
	case provider.Less, provider.LessEqual, provider.Greater, provider.GreaterEqual:
		if castOf(e.values[0]) != "NUMERIC" {
			return broke(provider.Invalidf(arg, "%s takes a number, not a %T", op, value))
		}
	default:
		return broke(provider.Invalidf(arg, "%q is not one of = != < <= > >= in exists", op))
	}
	return e
}

// All holds where every one of parts does; parts that are no condition count
// for nothing.
func All(parts ...Expr) Expr { return joined(conjunction, parts) }

// Any holds where one of parts does. A part that is no condition holds
// everywhere, and so does the whole then.
func Any(parts ...Expr) Expr {
	for _, p := range parts {
		if p.kind == noCondition {
			return Expr{}
		}
	}
	return joined(disjunction, parts)
}

// Not holds where e does not and the fields that e names are there.
func Not(e Expr) Expr {
	if e.kind == noCondition {
		return broke(provider.Invalidf("filter", "not of no condition would hold for nothing"))
	}
	if e.kind == broken {
		return e
	}
	return Expr{kind: negation, parts: []Expr{e}}
}

// IsZero reports whether e is no condition.
func (e Expr) IsZero() bool { return e.kind == noCondition }

func broke(err error) Expr { return Expr{kind: broken, err: err} }

func joined(kind exprKind, parts []Expr) Expr {
	var kept []Expr
	for _, p := range parts {
		if p.kind == broken {
			return p
		}
		if p.kind != noCondition {
			kept = append(kept, p)
		}
	}
	switch len(kept) {
	case 0:
		return Expr{}
	case 1:
		return kept[0]
	}
	return Expr{kind: kind, parts: kept}
}

// needsDialect reports whether it has to be known which dialect the server
// speaks before e can be written.
func (e Expr) needsDialect() bool {
	for _, v := range e.values {
		if s, ok := v.(string); ok && needsDialect(s) {
			return true
		}
	}
	for _, p := range e.parts {
		if p.needsDialect() {
			return true
		}
	}
	return false
}

// render writes e for a server that speaks d. The empty text is no condition.
func (e Expr) render(d Dialect) (string, error) {
	if e.kind == broken {
		return "", e.err
	}
	if d == AnyDialect && e.needsDialect() {
		return "", provider.Errorf(provider.ErrInternal, "a filter with a quote or a backslash was written for no dialect in particular")
	}
	var b strings.Builder
	e.write(&b, d)
	return b.String(), nil
}

func (e Expr) write(b *strings.Builder, d Dialect) {
	switch e.kind {
	case verbatim:
		b.WriteString(e.text)
	case negation:
		b.WriteString("NOT (")
		e.parts[0].write(b, d)
		b.WriteByte(')')
	case conjunction, disjunction:
		word := " AND "
		if e.kind == disjunction {
			word = " OR "
		}
		for i, p := range e.parts {
			if i > 0 {
				b.WriteString(word)
			}
			b.WriteByte('(')
			p.write(b, d)
			b.WriteByte(')')
		}
	case comparison:
		e.writeComparison(b, d)
	}
}

func (e Expr) writeComparison(b *strings.Builder, d Dialect) {
	if e.op == provider.Exists {
		b.WriteString("exists('$." + e.field + "')")
		return
	}
	b.WriteString("CAST(val('$." + e.field + "') AS " + castOf(e.values[0]) + ") ")
	if e.op != provider.In {
		b.WriteString(string(e.op) + " ")
		writeValue(b, d, e.values[0])
		return
	}
	b.WriteString("IN (")
	for i, v := range e.values {
		if i > 0 {
			b.WriteString(", ")
		}
		writeValue(b, d, v)
	}
	b.WriteByte(')')
}

func writeValue(b *strings.Builder, d Dialect, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(d.quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	}
}

// castOf names the type that a server has to read a field as to compare it.
func castOf(v any) string {
	switch v.(type) {
	case string:
		return "TEXT"
	case bool:
		return "BOOLEAN"
	}
	return "NUMERIC"
}

func listOf(arg string, v any) ([]any, error) {
	var list []any
	switch v := v.(type) {
	case []any:
		list = v
	case []string:
		for _, s := range v {
			list = append(list, s)
		}
	default:
		return nil, provider.Invalidf(arg, "in takes a list of values, not a %T", v)
	}
	if len(list) == 0 {
		return nil, provider.Invalidf(arg, "the list of in is empty")
	}
	return list, nil
}

func exprValue(arg string, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, checkLiteral(arg, v)
	case bool:
		return v, nil
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, provider.Invalidf(arg, "%v is not a finite number", v)
		}
		return v, nil
	case nil:
		return nil, provider.Invalidf(arg, "the value is missing or null; to ask whether a field is there, use exists")
	}
	return nil, provider.Invalidf(arg, "a %T is no string, number or bool", v)
}

// isFieldName is strict because a field goes into the expression unquoted. A
// hyphen is left out: servers take it and match nothing.
func isFieldName(s string) bool {
	for _, name := range strings.Split(s, ".") {
		if name == "" {
			return false
		}
		for i := 0; i < len(name); i++ {
			c := name[i] | 0x20
			if !('a' <= c && c <= 'z' || '0' <= name[i] && name[i] <= '9' || name[i] == '_') {
				return false
			}
		}
	}
	return true
}
