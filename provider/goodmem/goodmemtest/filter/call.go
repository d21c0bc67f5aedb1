package filter

import (
	"fmt"
	"slices"
)

// castTypes are the types that a value can be cast to. Any other name is taken
// by the server and fails there, with HTTP 500.
var castTypes = []string{
	"BIGINT", "BOOL", "BOOLEAN", "DATE", "DECIMAL", "FLOAT", "INT", "INTEGER", "JSONB", "NUMERIC",
	"REAL", "TEXT", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR",
}

var extractFields = []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY", "HOUR", "MINUTE", "SECOND", "EPOCH"}

// word reads what starts with a word: a constant or a call.
func (p *parser) word(t token) (Node, *Error) {
	switch t.text {
	case "TRUE":
		return Bool{true}, nil
	case "FALSE":
		return Bool{false}, nil
	case "NULL":
		return Null{}, nil
	case "CURRENT_DATE":
		return CurrentDate{}, nil
	case "VAL", "EXISTS":
		path, wrong := p.path()
		if wrong != nil {
			return nil, wrong
		}
		if t.text == "VAL" {
			return Val{path, compilePath(path)}, nil
		}
		return Exists{path, compilePath(path)}, nil
	case "CAST":
		return p.cast()
	case "EXTRACT":
		return p.extract()
	}
	return nil, &Error{Offset: t.offset, Reason: fmt.Sprintf("unknown name %s", t.text)}
}

// path reads the argument of val and exists: a literal that starts with $.
func (p *parser) path() (string, *Error) {
	if wrong := p.expect(tokenSymbol, "("); wrong != nil {
		return "", wrong
	}
	t := p.next()
	if t.kind != tokenString || len(t.text) == 0 || t.text[0] != '$' {
		return "", &Error{Offset: t.offset, Reason: "expected a literal that is a path, such as '$.name'"}
	}
	return t.text, p.expect(tokenSymbol, ")")
}

func (p *parser) cast() (Node, *Error) {
	if wrong := p.expect(tokenSymbol, "("); wrong != nil {
		return nil, wrong
	}
	x, wrong := p.deeper(func() (Node, *Error) { return p.expression(precOr) })
	if wrong == nil {
		wrong = p.expect(tokenWord, "AS")
	}
	if wrong != nil {
		return nil, wrong
	}
	t := p.next()
	if t.kind != tokenWord {
		return nil, &Error{Offset: t.offset, Reason: "expected the name of a type"}
	}
	if wrong := p.expect(tokenSymbol, ")"); wrong != nil {
		return nil, wrong
	}
	if !slices.Contains(castTypes, t.text) {
		return nil, &Error{Offset: t.offset, Reason: fmt.Sprintf("type %q does not exist", t.text), Internal: true}
	}
	return Cast{X: x, Type: t.text}, nil
}

func (p *parser) extract() (Node, *Error) {
	if wrong := p.expect(tokenSymbol, "("); wrong != nil {
		return nil, wrong
	}
	field := p.next()
	if field.kind != tokenWord || !slices.Contains(extractFields, field.text) {
		return nil, &Error{Offset: field.offset, Reason: "expected a field of a date, such as YEAR"}
	}
	if wrong := p.expect(tokenWord, "FROM"); wrong != nil {
		return nil, wrong
	}
	x, wrong := p.deeper(func() (Node, *Error) { return p.expression(precOr) })
	if wrong == nil {
		wrong = p.expect(tokenSymbol, ")")
	}
	return Extract{Field: field.text, X: x}, wrong
}
