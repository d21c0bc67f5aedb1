package filter

import "strings"

// Print returns the expression in the dialect, with no more parentheses than
// it needs; read again it is the same expression. It reports false where the
// dialect has no literal for a text of the expression.
func (e *Expr) Print(d Dialect) (string, bool) {
	p := printer{dialect: d, ok: true}
	p.node(e.Root, precOr)
	return p.b.String(), p.ok
}

type printer struct {
	b       strings.Builder
	dialect Dialect
	ok      bool
}

// node prints n, in parentheses where it binds less than least.
func (p *printer) node(n Node, least int) {
	if precedence(n) < least {
		p.b.WriteByte('(')
		p.bare(n)
		p.b.WriteByte(')')
		return
	}
	p.bare(n)
}

func (p *printer) bare(n Node) {
	switch n := n.(type) {
	case String:
		p.literal(n.Value)
	case Number:
		p.b.WriteString(n.Text)
	case Bool:
		if n.Value {
			p.b.WriteString("TRUE")
		} else {
			p.b.WriteString("FALSE")
		}
	case Null:
		p.b.WriteString("NULL")
	case CurrentDate:
		p.b.WriteString("CURRENT_DATE")
	case Array:
		p.list("[", n.Elements, "]")
	case Val:
		p.b.WriteString("val(")
		p.literal(n.Path)
		p.b.WriteByte(')')
	case Exists:
		p.b.WriteString("exists(")
		p.literal(n.Path)
		p.b.WriteByte(')')
	case Cast:
		p.b.WriteString("CAST(")
		p.node(n.X, precOr)
		p.b.WriteString(" AS " + n.Type + ")")
	case Extract:
		p.b.WriteString("EXTRACT(" + n.Field + " FROM ")
		p.node(n.X, precOr)
		p.b.WriteByte(')')
	case Index:
		p.node(n.X, precPrimary)
		p.list("[", []Node{n.I}, "]")
	case In:
		p.node(n.X, precConcat)
		if n.Not {
			p.b.WriteString(" NOT")
		}
		p.list(" IN (", n.List, ")")
	case Unary:
		p.unary(n)
	case Binary:
		p.binary(n)
	}
}

func (p *printer) unary(n Unary) {
	switch n.Op {
	case "NOT":
		p.b.WriteString("NOT ")
		p.node(n.X, precNot)
	case "-", "+":
		// The space keeps two signs from becoming a comment.
		p.b.WriteString(n.Op)
		if _, ok := n.X.(Unary); ok {
			p.b.WriteByte(' ')
		}
		p.node(n.X, precSign)
	default:
		p.node(n.X, precConcat)
		p.b.WriteString(" " + n.Op)
	}
}

func (p *printer) binary(n Binary) {
	prec := precedence(n)
	left, right := prec, prec+1
	if prec == precCompare {
		left = precConcat // comparisons are not chained
	}
	if strings.HasSuffix(n.Op, "IN") {
		right = precPrimary
	}
	p.node(n.L, left)
	p.b.WriteString(" " + n.Op + " ")
	p.node(n.R, right)
}

func (p *printer) list(opening string, nodes []Node, closing string) {
	p.b.WriteString(opening)
	for i, n := range nodes {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.node(n, precOr)
	}
	p.b.WriteString(closing)
}

func (p *printer) literal(s string) {
	text, ok := Quote(s, p.dialect)
	p.ok = p.ok && ok
	p.b.WriteString(text)
}
