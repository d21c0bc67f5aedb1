package schemaorg

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// quoted reads a string in double quotes, or in single ones as JavaScript has
// them, to the next quote that no backslash escapes. It writes a JSON string
// that says the same.
func (r *repairer) quoted(quote byte) *syntaxError {
	start := r.pos
	if quote == '\'' {
		r.fixed[fixedQuote] = true
	}
	r.pos++
	r.out = append(r.out, '"')
	for r.pos < len(r.in) {
		switch c := r.in[r.pos]; {
		case c == quote:
			r.pos++
			r.out = append(r.out, '"')
			r.text = span{start, r.pos}
			return nil
		case c == '"':
			r.pos++
			r.out = append(r.out, '\\', '"')
		case c == '\\':
			r.escape()
		case c < ' ':
			r.control(c)
		default:
			n := bytes.IndexFunc(r.in[r.pos:], func(c rune) bool {
				return c < ' ' || c == '"' || c == '\'' && quote == '\'' || c == '\\'
			})
			if n < 0 {
				n = len(r.in) - r.pos
			}
			r.copy(n)
		}
	}
	r.pos = start
	return r.fail("a string does not end")
}

// control writes a raw control character, which JSON allows only escaped.
func (r *repairer) control(c byte) {
	short := map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[c]
	if short == "" {
		short = fmt.Sprintf(`\u%04x`, c)
	}
	r.drop(1, fixedControl)
	r.out = append(r.out, short...)
}

// escape reads a backslash and what it escapes. JSON's own escapes stay as they
// are. A backslash before a sign that needs none, as in \' or \_, is dropped;
// before a letter or digit it is kept as a backslash, for C:\dir is likelier
// than a forgotten escape; \x41 and a broken line are JavaScript's.
func (r *repairer) escape() {
	rest := r.in[r.pos+1:]
	if len(rest) == 0 {
		r.pos++
		return // no quote follows either, so that the string does not end
	}
	switch c := rest[0]; {
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		r.copy(2)
	case c == 'u' && hexDigits(rest[1:], 4):
		r.copy(6)
	case c == 'x' && hexDigits(rest[1:], 2):
		r.write(`\u00`+string(rest[1:3]), fixedEscape)
		r.pos += 4
	case c == '\n':
		r.drop(2, fixedEscape)
	case c < ' ':
		r.drop(1, fixedEscape)
		r.control(c)
	case c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
		r.write(`\\`, fixedEscape)
		r.pos++
	default:
		r.drop(1, fixedEscape)
		r.copy(1)
	}
}

func hexDigits(b []byte, n int) bool {
	if len(b) < n {
		return false
	}
	for _, c := range b[:n] {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}
