package filter

// Node is a part of an expression: one of the types below.
type Node interface{ isNode() }

// String is a literal, decoded.
type String struct{ Value string }

// Number is a numeric literal as written, without a sign.
type Number struct {
	Text  string
	Value float64
}

// Bool is TRUE or FALSE.
type Bool struct{ Value bool }

// Null is NULL.
type Null struct{}

// CurrentDate is CURRENT_DATE.
type CurrentDate struct{}

// Array is [a, b].
type Array struct{ Elements []Node }

// Val is val('$.path').
type Val struct {
	Path  string
	steps []step
}

// Exists is exists('$.path').
type Exists struct {
	Path  string
	steps []step
}

// Cast is CAST(x AS TYPE), the type in upper case.
type Cast struct {
	X    Node
	Type string
}

// Extract is EXTRACT(FIELD FROM x), the field in upper case.
type Extract struct {
	Field string
	X     Node
}

// Index is x[i].
type Index struct{ X, I Node }

// Unary is NOT x, -x, +x, x IS NULL or x IS NOT NULL; Op is "NOT", "-", "+",
// "IS NULL" or "IS NOT NULL".
type Unary struct {
	Op string
	X  Node
}

// Binary is an operator between two operands: OR, AND, =, !=, <, <=, >, >=,
// LIKE, NOT LIKE, ILIKE, NOT ILIKE, IN, NOT IN (of an array), CONTAINS,
// OVERLAPS, ||, +, -, *, / or %. The operator == is =, and <> is != .
type Binary struct {
	Op   string
	L, R Node
}

// In is x [NOT] IN (a, b).
type In struct {
	X    Node
	Not  bool
	List []Node
}

func (String) isNode()      {}
func (Number) isNode()      {}
func (Bool) isNode()        {}
func (Null) isNode()        {}
func (CurrentDate) isNode() {}
func (Array) isNode()       {}
func (Val) isNode()         {}
func (Exists) isNode()      {}
func (Cast) isNode()        {}
func (Extract) isNode()     {}
func (Index) isNode()       {}
func (Unary) isNode()       {}
func (Binary) isNode()      {}
func (In) isNode()          {}

// Expr is an expression that was read and found to be boolean. It is safe for
// concurrent use.
type Expr struct{ Root Node }

// Precedences, from OR up. A node of none of the operators is a primary.
const (
	precOr = iota + 1
	precAnd
	precNot
	precCompare
	precConcat
	precAdd
	precMultiply
	precSign
	precPrimary
)

func precedence(n Node) int {
	switch n := n.(type) {
	case Binary:
		switch n.Op {
		case "OR":
			return precOr
		case "AND":
			return precAnd
		case "||":
			return precConcat
		case "+", "-":
			return precAdd
		case "*", "/", "%":
			return precMultiply
		}
		return precCompare
	case In:
		return precCompare
	case Unary:
		switch n.Op {
		case "NOT":
			return precNot
		case "+", "-":
			return precSign
		}
		return precCompare
	}
	return precPrimary
}
