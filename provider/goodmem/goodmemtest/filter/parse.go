package filter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// MaxDepth is how deep an expression may nest. The server's limit is not
// known; this one keeps a hostile expression from using up the stack.
const MaxDepth = 500

// Parse reads an expression written in the dialect. The error is an *Error.
func Parse(src string, d Dialect) (*Expr, error) {
	tokens, wrong := lex(src, d)
	if wrong != nil {
		return nil, wrong
	}
	p := &parser{tokens: tokens}
	root, wrong := p.expression(precOr)
	if wrong == nil && p.peek().kind != tokenEnd {
		wrong = p.unexpected()
	}
	if wrong != nil {
		return nil, wrong
	}
	t, wrong := typeOf(root)
	if wrong != nil {
		return nil, wrong
	}
	if t != typeBool {
		return nil, &Error{Reason: "the expression is not boolean"}
	}
	return &Expr{Root: root}, nil
}

type parser struct {
	tokens []token
	at     int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is the symbol or keyword.
func (p *parser) accept(kind tokenKind, text string) bool {
	if t := p.peek(); t.kind == kind && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(kind tokenKind, text string) *Error {
	if !p.accept(kind, text) {
		return &Error{Offset: p.peek().offset, Reason: fmt.Sprintf("expected %s, found %s", text, describe(p.peek()))}
	}
	return nil
}

func (p *parser) unexpected() *Error {
	return &Error{Offset: p.peek().offset, Reason: "unexpected " + describe(p.peek())}
}

func describe(t token) string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return "a literal"
	}
	return t.text
}

// expression reads what binds at least as tightly as prec.
func (p *parser) expression(prec int) (Node, *Error) {
	switch prec {
	case precNot:
		return p.not()
	case precCompare:
		return p.comparison()
	case precSign:
		return p.sign()
	}
	left, wrong := p.expression(prec + 1)
	for wrong == nil {
		op := p.peek()
		if precedence(Binary{Op: op.text}) != prec || !isInfix(op) {
			return left, nil
		}
		p.next()
		var right Node
		if right, wrong = p.expression(prec + 1); wrong == nil {
			left = Binary{Op: op.text, L: left, R: right}
		}
	}
	return nil, wrong
}

// isInfix reports whether a token is an operator that chains to the left.
func isInfix(t token) bool {
	switch t.kind {
	case tokenWord:
		return t.text == "OR" || t.text == "AND"
	case tokenSymbol:
		return slices.Contains([]string{"||", "+", "-", "*", "/", "%"}, t.text)
	}
	return false
}

// deeper runs read one level down.
func (p *parser) deeper(read func() (Node, *Error)) (Node, *Error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, &Error{Offset: p.peek().offset, Reason: fmt.Sprintf("nested deeper than %d", MaxDepth)}
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) not() (Node, *Error) {
	if !p.accept(tokenWord, "NOT") {
		return p.comparison()
	}
	x, wrong := p.deeper(p.not)
	if wrong != nil {
		return nil, wrong
	}
	return Unary{Op: "NOT", X: x}, nil
}

func (p *parser) comparison() (Node, *Error) {
	left, wrong := p.expression(precConcat)
	if wrong != nil {
		return nil, wrong
	}
	t := p.peek()
	if t.kind == tokenSymbol {
		op := t.text
		switch op {
		case "==":
			op = "="
		case "<>":
			op = "!="
		}
		if !slices.Contains([]string{"=", "!=", "<", "<=", ">", ">="}, op) {
			return left, nil
		}
		p.next()
		return p.binary(op, left)
	}
	if t.kind != tokenWord {
		return left, nil
	}
	negated := ""
	switch t.text {
	case "NOT":
		p.next()
		negated = "NOT "
	case "IS":
		p.next()
		op := "IS NULL"
		if p.accept(tokenWord, "NOT") {
			op = "IS NOT NULL"
		}
		return Unary{Op: op, X: left}, p.expect(tokenWord, "NULL")
	}
	switch t = p.peek(); {
	case t.kind == tokenWord && (t.text == "LIKE" || t.text == "ILIKE"):
		p.next()
		return p.binary(negated+t.text, left)
	case t.kind == tokenWord && t.text == "IN":
		p.next()
		return p.in(left, negated)
	case negated == "" && t.kind == tokenWord && (t.text == "CONTAINS" || t.text == "OVERLAPS"):
		p.next()
		return p.binary(t.text, left)
	case negated != "":
		return nil, p.unexpected()
	}
	return left, nil
}

func (p *parser) binary(op string, left Node) (Node, *Error) {
	right, wrong := p.expression(precConcat)
	if wrong != nil {
		return nil, wrong
	}
	return Binary{Op: op, L: left, R: right}, nil
}

// in reads what follows IN: a list in parentheses, or an array.
func (p *parser) in(left Node, negated string) (Node, *Error) {
	if p.accept(tokenSymbol, "(") {
		list, wrong := p.list(")")
		if wrong == nil && len(list) == 0 {
			wrong = p.unexpected()
		}
		if wrong != nil {
			return nil, wrong
		}
		return In{X: left, Not: negated != "", List: list}, nil
	}
	array, wrong := p.postfix()
	if wrong != nil {
		return nil, wrong
	}
	return Binary{Op: negated + "IN", L: left, R: array}, nil
}

// list reads expressions up to the closing bracket.
func (p *parser) list(closing string) ([]Node, *Error) {
	var list []Node
	if p.accept(tokenSymbol, closing) {
		return list, nil
	}
	for {
		x, wrong := p.deeper(func() (Node, *Error) { return p.expression(precOr) })
		if wrong != nil {
			return nil, wrong
		}
		list = append(list, x)
		if p.accept(tokenSymbol, closing) {
			return list, nil
		}
		if wrong := p.expect(tokenSymbol, ","); wrong != nil {
			return nil, wrong
		}
	}
}

func (p *parser) sign() (Node, *Error) {
	for _, op := range []string{"-", "+"} {
		if p.accept(tokenSymbol, op) {
			x, wrong := p.deeper(p.sign)
			if wrong != nil {
				return nil, wrong
			}
			return Unary{Op: op, X: x}, nil
		}
	}
	return p.postfix()
}

func (p *parser) postfix() (Node, *Error) {
	x, wrong := p.primary()
	for wrong == nil && p.accept(tokenSymbol, "[") {
		var i Node
		if i, wrong = p.deeper(func() (Node, *Error) { return p.expression(precOr) }); wrong == nil {
			x, wrong = Index{X: x, I: i}, p.expect(tokenSymbol, "]")
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return x, nil
}

func (p *parser) primary() (Node, *Error) {
	t := p.peek()
	switch t.kind {
	case tokenString:
		p.next()
		return String{t.text}, nil
	case tokenNumber:
		p.next()
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, &Error{Offset: t.offset, Reason: "a number is out of range"}
		}
		return Number{t.text, f}, nil
	case tokenWord:
		p.next()
		return p.word(t)
	case tokenSymbol:
		switch t.text {
		case "(":
			p.next()
			x, wrong := p.deeper(func() (Node, *Error) { return p.expression(precOr) })
			if wrong == nil {
				wrong = p.expect(tokenSymbol, ")")
			}
			return x, wrong
		case "[":
			p.next()
			list, wrong := p.list("]")
			return Array{list}, wrong
		}
	}
	return nil, p.unexpected()
}
