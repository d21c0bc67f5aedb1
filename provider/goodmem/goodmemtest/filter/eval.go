package filter

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Match reports whether the expression is true of a memory's metadata, decoded
// by encoding/json into maps, slices, strings, booleans and float64; nil means
// that there is none. CURRENT_DATE is the date of now, in UTC. An error is one
// that the server would meet while it runs the query, such as a division by
// zero, and answers with HTTP 500.
func (e *Expr) Match(metadata map[string]any, now time.Time) (bool, error) {
	m := matcher{now: now}
	if metadata != nil {
		m.root = metadata
	}
	v := m.eval(e.Root)
	return v.kind == typeBool && v.b, m.err
}

type matcher struct {
	root any
	now  time.Time
	err  error
}

func (m *matcher) eval(n Node) value {
	switch n := n.(type) {
	case String:
		return text(n.Value)
	case Number:
		return number(n.Value)
	case Bool:
		return boolean(n.Value)
	case CurrentDate:
		return date(m.now.UTC())
	case Array:
		list := make([]any, len(n.Elements))
		for i, e := range n.Elements {
			list[i] = toJSON(m.eval(e)).json
		}
		return value{kind: typeJSON, json: list}
	case Val:
		if found := follow(m.root, n.steps); len(found) > 0 && m.root != nil {
			return value{kind: typeJSON, json: found[0]}
		}
	case Exists:
		return boolean(m.root != nil && len(follow(m.root, n.steps)) > 0)
	case Cast:
		return m.eval(n.X).cast(n.Type)
	case Extract:
		return extract(n.Field, m.eval(n.X))
	case Index:
		x, i := m.eval(n.X), m.eval(n.I)
		list, _ := x.json.([]any)
		if i.kind == typeNumber && i.f >= 0 && i.f == math.Trunc(i.f) && i.f < float64(len(list)) {
			return value{kind: typeJSON, json: list[int(i.f)]}
		}
	case Unary:
		return m.unary(n)
	case In:
		x := m.eval(n.X)
		result := boolean(false)
		for _, e := range n.List {
			result = or(result, equal(x, m.eval(e)))
		}
		if n.Not {
			return not(result)
		}
		return result
	case Binary:
		return m.binary(n)
	}
	return value{}
}

func (m *matcher) unary(n Unary) value {
	x := m.eval(n.X)
	switch n.Op {
	case "NOT":
		return not(x)
	case "IS NULL":
		return boolean(x.null())
	case "IS NOT NULL":
		return boolean(!x.null())
	case "-":
		if x.kind == typeNumber {
			return number(-x.f)
		}
	case "+":
		if x.kind == typeNumber {
			return x
		}
	}
	return value{}
}

func (m *matcher) binary(n Binary) value {
	l := m.eval(n.L)
	switch n.Op {
	case "OR":
		if l.kind == typeBool && l.b {
			return l
		}
		return or(l, m.eval(n.R))
	case "AND":
		if l.kind == typeBool && !l.b {
			return l
		}
		return not(or(not(l), not(m.eval(n.R))))
	}
	r := m.eval(n.R)
	switch n.Op {
	case "=":
		return equal(l, r)
	case "!=":
		return not(equal(l, r))
	case "<", "<=", ">", ">=":
		c, ok := compare(l, r)
		if !ok {
			return value{}
		}
		return boolean(c < 0 && n.Op[0] == '<' || c > 0 && n.Op[0] == '>' || c == 0 && len(n.Op) == 2)
	case "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE":
		return like(n.Op, l, r)
	case "IN":
		return contains(r, l)
	case "NOT IN":
		return not(contains(r, l))
	case "CONTAINS":
		return contains(l, r)
	case "OVERLAPS":
		return overlaps(l, r)
	case "||":
		l, r = l.asText(), r.asText()
		if l.null() || r.null() {
			return value{}
		}
		if len(l.s)+len(r.s) > 1<<24 {
			m.err = errors.New("a text grows beyond 16 MiB")
			return value{}
		}
		return text(l.s + r.s)
	}
	return m.arithmetic(n.Op, l, r)
}

func (m *matcher) arithmetic(op string, l, r value) value {
	switch {
	case l.kind == typeDate && r.kind == typeDate:
		return number(math.Round(l.t.Sub(r.t).Hours() / 24))
	case l.kind == typeDate && r.kind == typeNumber:
		days := r.f
		if op == "-" {
			days = -days
		}
		return m.addDays(l, days)
	case l.kind == typeNumber && r.kind == typeDate:
		return m.addDays(r, l.f)
	case l.kind != typeNumber || r.kind != typeNumber:
		return value{}
	}
	switch op {
	case "+":
		return number(l.f + r.f)
	case "-":
		return number(l.f - r.f)
	case "*":
		return number(l.f * r.f)
	}
	if r.f == 0 {
		m.err = errors.New("division by zero")
		return value{}
	}
	if op == "%" {
		return number(math.Mod(l.f, r.f))
	}
	return number(l.f / r.f)
}

func (m *matcher) addDays(d value, days float64) value {
	if math.Abs(days) > 3_000_000 {
		m.err = fmt.Errorf("date out of range")
		return value{}
	}
	return date(d.t.AddDate(0, 0, int(days)))
}

// equal is a comparison of SQL: NULL where the values cannot be compared.
func equal(a, b value) value {
	c, ok := compare(a, b)
	if !ok {
		return value{}
	}
	return boolean(c == 0)
}

func not(v value) value {
	if v.kind != typeBool {
		return value{}
	}
	return boolean(!v.b)
}

func or(a, b value) value {
	switch {
	case a.kind == typeBool && a.b:
		return a
	case b.kind == typeBool && b.b:
		return b
	case a.kind == typeBool && b.kind == typeBool:
		return boolean(false)
	}
	return value{}
}

// contains reports whether an array, or a single JSON value, holds a value, or
// all elements of one that is an array itself.
func contains(holder, held value) value {
	if holder.kind != typeJSON || held.null() {
		return value{}
	}
	if list, ok := toJSON(held).json.([]any); ok {
		for _, e := range list {
			if !holds(holder.json, e) {
				return boolean(false)
			}
		}
		return boolean(true)
	}
	return boolean(holds(holder.json, toJSON(held).json))
}

// overlaps reports whether two arrays share an element.
func overlaps(a, b value) value {
	if a.kind != typeJSON || b.null() {
		return value{}
	}
	list, ok := toJSON(b).json.([]any)
	if !ok {
		list = []any{toJSON(b).json}
	}
	for _, e := range list {
		if holds(a.json, e) {
			return boolean(true)
		}
	}
	return boolean(false)
}

func holds(holder, held any) bool {
	list, ok := holder.([]any)
	if !ok {
		return equalJSON(holder, held)
	}
	for _, e := range list {
		if equalJSON(e, held) {
			return true
		}
	}
	return false
}

func extract(field string, v value) value {
	if v.kind == typeText {
		v = v.cast("TIMESTAMP")
	}
	if v.kind != typeDate && v.kind != typeTime {
		return value{}
	}
	t := v.t
	_, week := t.ISOWeek()
	return number(map[string]float64{
		"YEAR": float64(t.Year()), "QUARTER": float64((t.Month()-1)/3 + 1), "MONTH": float64(t.Month()), "WEEK": float64(week),
		"DAY": float64(t.Day()), "DOW": float64(t.Weekday()), "DOY": float64(t.YearDay()), "HOUR": float64(t.Hour()),
		"MINUTE": float64(t.Minute()), "SECOND": float64(t.Second()), "EPOCH": float64(t.Unix()),
	}[field])
}

func roundToEven(f float64) float64 { return math.RoundToEven(f) }
