package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// filterHelp is the grammar of --filter, for people.
const filterHelp = `A filter is one condition; repeat --filter for several that must all hold, each
on its own: two conditions on a list may hold for different members of it.

  PATH = VALUE    PATH != VALUE    PATH < VALUE    PATH <= VALUE    PATH > VALUE    PATH >= VALUE
  PATH in (VALUE, VALUE, ...)      PATH exists

PATH is @type, or property names joined by dots: offers.price. A list on the way
stands for each of its members. VALUE is a number (20, 19.90), true, false, or
text, which may be written without quotes: datePublished>=2026-01-01. In double
quotes it is always text (\" and \\ stand for " and \): sku="0042". Digits with a
leading zero, or more than 15 of them, are text in any case.`

// parseFilter reads the conditions of repeated --filter flags.
func parseFilter(exprs []string) (provider.Filter, error) {
	if len(exprs) > provider.MaxConditions {
		return nil, provider.Invalidf("--filter", "is given %d times, more than %d", len(exprs), provider.MaxConditions)
	}
	var f provider.Filter
	for _, expr := range exprs {
		c, err := parseCondition(expr)
		if err != nil {
			return nil, err
		}
		checked, err := provider.Filter{c}.Check("--filter")
		if err != nil {
			return nil, conditionError(expr, err)
		}
		f = append(f, checked...)
	}
	return f, nil
}

// conditionError names a condition that the contract refuses by its text.
func conditionError(expr string, err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	return provider.Invalidf("--filter", "%q: %s", expr, e.Reason)
}

// parseCondition reads one condition; filterHelp is its grammar.
func parseCondition(expr string) (provider.Condition, error) {
	if !utf8.ValidString(expr) {
		return provider.Condition{}, provider.Invalidf("--filter", "%q is not valid UTF-8", expr)
	}
	p := conditionParser{expr: expr}
	c, err := p.condition()
	if err != nil {
		return provider.Condition{}, err
	}
	return c, nil
}

// conditionParser walks over an expression; pos is a byte offset in it.
type conditionParser struct {
	expr string
	pos  int
}

func (p *conditionParser) condition() (provider.Condition, error) {
	p.skipBlanks()
	path := p.path()
	if path == "" {
		return provider.Condition{}, p.errorf("want a property path, such as offers.price")
	}
	blanks := p.skipBlanks()
	if op := p.symbol(); op != "" {
		p.skipBlanks()
		v, err := p.soleValue()
		return provider.Condition{Path: path, Op: op, Value: v}, err
	}
	if !blanks {
		return provider.Condition{}, p.errorf("want one of = != < <= > >=, or a blank and in or exists")
	}
	switch op := provider.Op(p.word()); op {
	case provider.Exists:
		return provider.Condition{Path: path, Op: op}, p.end()
	case provider.In:
		v, err := p.list()
		return provider.Condition{Path: path, Op: op, Value: v}, err
	default:
		p.pos -= len(op)
		return provider.Condition{}, p.errorf("want one of = != < <= > >= in exists")
	}
}

// path takes everything up to a blank or a character with a meaning.
func (p *conditionParser) path() string {
	return p.take(func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune(`=!<>(),"`, r) })
}

func (p *conditionParser) word() string { return p.take(unicode.IsLetter) }

// symbol takes a comparison operator; "" when there is none.
func (p *conditionParser) symbol() provider.Op {
	for _, op := range []provider.Op{provider.LessEqual, provider.GreaterEqual, provider.NotEqual, provider.Less, provider.Greater, provider.Equal} {
		if strings.HasPrefix(p.expr[p.pos:], string(op)) {
			p.pos += len(op)
			return op
		}
	}
	return ""
}

// soleValue takes the value that ends the expression.
func (p *conditionParser) soleValue() (any, error) {
	if p.peek() == '"' {
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		return s, p.end()
	}
	if r := p.peek(); strings.ContainsRune("=<>!", r) {
		return nil, p.errorf("unexpected %q; put quotes around a value that starts with it", r)
	}
	if at := secondCondition.FindStringIndex(p.expr[p.pos:]); at != nil {
		p.pos += at[0] + 1
		return nil, p.errorf("one --filter takes one condition; repeat --filter for another, or put the value in quotes")
	}
	return p.bare(strings.TrimSpace(p.take(func(rune) bool { return true })))
}

// secondCondition finds what looks like another condition behind a value.
var secondCondition = regexp.MustCompile(`(?i)\s(and|or|&&|\|\|)\s+[@\pL][^\s=!<>]*\s*([=<>]|!=|\s(in\s*\(|exists\b))`)

// list takes "(VALUE, VALUE, ...)" and the end.
func (p *conditionParser) list() (any, error) {
	p.skipBlanks()
	if p.peek() != '(' {
		return nil, p.errorf("want a list in parentheses: in (a, b)")
	}
	p.pos++
	var out []any
	for {
		p.skipBlanks()
		v, err := p.member()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		p.skipBlanks()
		switch p.peek() {
		case ',':
			p.pos++
		case ')':
			p.pos++
			return out, p.end()
		default:
			return nil, p.errorf("want , or )")
		}
	}
}

func (p *conditionParser) member() (any, error) {
	if p.peek() == '"' {
		return p.quoted()
	}
	start := p.pos
	text := strings.TrimSpace(p.take(func(r rune) bool { return !strings.ContainsRune(`,()"`, r) }))
	if text == "" {
		p.pos = start
	}
	return p.bare(text)
}

// quoted takes a text in double quotes.
func (p *conditionParser) quoted() (string, error) {
	start := p.pos
	var b strings.Builder
	for i := p.pos + 1; i < len(p.expr); i++ {
		switch c := p.expr[i]; c {
		case '"':
			p.pos = i + 1
			return b.String(), nil
		case '\\':
			i++
			if i == len(p.expr) || p.expr[i] != '"' && p.expr[i] != '\\' {
				p.pos = i - 1
				return "", p.errorf(`in quotes a backslash stands before " or \ only`)
			}
			b.WriteByte(p.expr[i])
		default:
			b.WriteByte(c)
		}
	}
	p.pos = start
	return "", p.errorf("the quotes are not closed")
}

// plainNumber is a decimal that means a number: a leading zero marks a code.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// maxExactDigits is how many significant digits a float64 keeps of any
// decimal. What has more is an identifier, and must not match its neighbours.
const maxExactDigits = 15

// bare reads a value without quotes.
func (p *conditionParser) bare(text string) (any, error) {
	switch text {
	case "":
		return nil, p.errorf(`want a value; an empty text is ""`)
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, p.errorf(`null is no value: say exists, or "null" for the text`)
	}
	if !plainNumber.MatchString(text) || countDigits(text) > maxExactDigits {
		return text, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, p.errorf("%s is out of range", text)
	}
	return n, nil
}

func countDigits(s string) int {
	return len(s) - strings.Count(s, "-") - strings.Count(s, ".")
}

// end checks that nothing but blanks is left.
func (p *conditionParser) end() error {
	p.skipBlanks()
	if secondCondition.MatchString(" " + p.expr[p.pos:]) {
		return p.errorf("one --filter takes one condition; repeat --filter for another")
	}
	if p.pos < len(p.expr) {
		return p.errorf("unexpected %q", p.expr[p.pos:])
	}
	return nil
}

func (p *conditionParser) skipBlanks() bool { return p.take(unicode.IsSpace) != "" }

// peek returns the next character, or 0 at the end.
func (p *conditionParser) peek() rune {
	if p.pos == len(p.expr) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(p.expr[p.pos:])
	return r
}

func (p *conditionParser) take(want func(rune) bool) string {
	rest := p.expr[p.pos:]
	n := strings.IndexFunc(rest, func(r rune) bool { return !want(r) })
	if n < 0 {
		n = len(rest)
	}
	p.pos += n
	return rest[:n]
}

// errorf returns an error about the current position, counted in characters
// from 1 as a person would.
func (p *conditionParser) errorf(format string, args ...any) error {
	at := utf8.RuneCountInString(p.expr[:p.pos]) + 1
	return provider.Invalidf("--filter", "%q, character %d: %s", p.expr, at, fmt.Sprintf(format, args...))
}
