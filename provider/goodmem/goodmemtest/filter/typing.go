package filter

import "fmt"

// valueType is what is known of a node before there is metadata.
type valueType int

const (
	typeNull valueType = iota
	typeBool
	typeText
	typeNumber
	typeDate
	typeTime
	typeJSON
)

var typeNames = [...]string{"NULL", "BOOLEAN", "TEXT", "NUMERIC", "DATE", "TIMESTAMP", "JSON"}

// typeOf returns the type of a node, or what is wrong with its operands.
func typeOf(n Node) (valueType, *Error) {
	switch n := n.(type) {
	case String:
		return typeText, nil
	case Number:
		return typeNumber, nil
	case Bool, Exists:
		return typeBool, allTyped(operands(n))
	case Null:
		return typeNull, nil
	case CurrentDate:
		return typeDate, nil
	case Array, Val, Index:
		return typeJSON, allTyped(operands(n))
	case Cast:
		return castType(n.Type), allTyped(operands(n))
	case Extract:
		return typeNumber, allTyped(operands(n))
	case In:
		return typeBool, allTyped(operands(n))
	case Unary:
		return typeOfUnary(n)
	case Binary:
		return typeOfBinary(n)
	}
	return typeNull, &Error{Reason: fmt.Sprintf("unknown part %T", n)}
}

func typeOfUnary(n Unary) (valueType, *Error) {
	t, wrong := typeOf(n.X)
	switch {
	case wrong != nil:
		return 0, wrong
	case n.Op == "NOT":
		return typeBool, wantBool(n.Op, t)
	case n.Op == "-" || n.Op == "+":
		return typeNumber, wantNumber(n.Op, t)
	}
	return typeBool, nil
}

func typeOfBinary(n Binary) (valueType, *Error) {
	l, wrong := typeOf(n.L)
	if wrong != nil {
		return 0, wrong
	}
	r, wrong := typeOf(n.R)
	if wrong != nil {
		return 0, wrong
	}
	switch n.Op {
	case "OR", "AND":
		if wrong := wantBool(n.Op, l); wrong != nil {
			return 0, wrong
		}
		return typeBool, wantBool(n.Op, r)
	case "||":
		return typeText, nil
	case "+", "-":
		switch {
		case l == typeDate && r == typeDate && n.Op == "-":
			return typeNumber, nil
		case l == typeDate:
			return typeDate, wantNumber(n.Op, r)
		case r == typeDate && n.Op == "+":
			return typeDate, wantNumber(n.Op, l)
		}
		fallthrough
	case "*", "/", "%":
		if wrong := wantNumber(n.Op, l); wrong != nil {
			return 0, wrong
		}
		return typeNumber, wantNumber(n.Op, r)
	}
	return typeBool, nil
}

// operands returns the parts of a node that have a type of their own.
func operands(n Node) []Node {
	switch n := n.(type) {
	case Array:
		return n.Elements
	case Index:
		return []Node{n.X, n.I}
	case Cast:
		return []Node{n.X}
	case Extract:
		return []Node{n.X}
	case In:
		return append([]Node{n.X}, n.List...)
	}
	return nil
}

func allTyped(nodes []Node) *Error {
	for _, n := range nodes {
		if _, wrong := typeOf(n); wrong != nil {
			return wrong
		}
	}
	return nil
}

func wantBool(op string, t valueType) *Error {
	if t == typeBool || t == typeNull {
		return nil
	}
	return &Error{Reason: fmt.Sprintf("%s of a value that is %s, not BOOLEAN", op, typeNames[t])}
}

func wantNumber(op string, t valueType) *Error {
	if t == typeNumber || t == typeNull || t == typeJSON {
		return nil
	}
	return &Error{Reason: fmt.Sprintf("%s of a value that is %s, not NUMERIC", op, typeNames[t])}
}

func castType(name string) valueType {
	switch name {
	case "BOOL", "BOOLEAN":
		return typeBool
	case "TEXT", "VARCHAR":
		return typeText
	case "DATE":
		return typeDate
	case "TIMESTAMP", "TIMESTAMPTZ":
		return typeTime
	case "JSONB":
		return typeJSON
	}
	return typeNumber
}
