package filter

import "strings"

// Dialect says how a single quote and a backslash are written inside a
// literal.
type Dialect int

const (
	// Backslash is what servers of the line v1.0.32x accept: \' and \\, and
	// \n, \r and \t for control characters. A doubled quote is an error.
	Backslash Dialect = iota
	// Doubled is what GoodMem documents: '' is a quote, and a backslash is
	// itself.
	Doubled
	// Sloppy is Backslash as a decoder reads it that replaces \n, \r and \t
	// before it looks for \\ : the literal '\\new' is a backslash and a line
	// feed. A backslash before any other character is itself.
	Sloppy
	// Either accepts both \' and ''.
	Either
	// Neither has no way to write a quote or a backslash.
	Neither
)

// String returns the name of the dialect.
func (d Dialect) String() string {
	switch d {
	case Backslash:
		return "Backslash"
	case Doubled:
		return "Doubled"
	case Sloppy:
		return "Sloppy"
	case Either:
		return "Either"
	case Neither:
		return "Neither"
	}
	return "Dialect?"
}

func (d Dialect) doubles() bool { return d == Doubled || d == Either }

func (d Dialect) escapes() bool { return d == Backslash || d == Sloppy || d == Either }

// Quote returns s as a literal of the dialect. It reports false where the
// dialect has no literal for s: control characters besides those it has an
// escape for, and under Neither quotes and backslashes.
func Quote(s string, d Dialect) (string, bool) {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range []byte(s) {
		switch {
		case c == '\'' && d.escapes():
			b.WriteString(`\'`)
		case c == '\'' && d.doubles():
			b.WriteString(`''`)
		case c == '\\' && d.escapes():
			b.WriteString(`\\`)
		case c == '\\' && d == Doubled:
			b.WriteByte(c)
		case c == '\'' || c == '\\':
			return "", false
		case isControl(c) && d.escapes() && strings.IndexByte("\n\r\t", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("nrt"[strings.IndexByte("\n\r\t", c)])
		case isControl(c):
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	literal := b.String()
	if d == Sloppy {
		// A backslash before n, r or t cannot be told from an escape.
		if back, err := unquote(literal[1:len(literal)-1], d); err != "" || back != s {
			return "", false
		}
	}
	return literal, true
}

func isControl(c byte) bool { return c < 0x20 || c == 0x7f }

// unquote decodes what stands between the quotes of a literal. The second
// result is what is wrong with it, or empty.
func unquote(body string, d Dialect) (string, string) {
	for i := range len(body) {
		if isControl(body[i]) {
			return "", "a literal holds a control character"
		}
	}
	switch {
	case d == Doubled:
		return strings.ReplaceAll(body, "''", "'"), ""
	case !d.doubles() && strings.IndexByte(body, '\\') < 0:
		return body, ""
	case d == Neither:
		return "", "a literal holds a backslash"
	case d == Sloppy:
		return unquoteSloppily(body), ""
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\'' { // the first of two, or the lexer had ended the literal
			i++
			b.WriteByte('\'')
			continue
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		i++
		switch body[i] {
		case '\'', '\\':
			b.WriteByte(body[i])
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		default:
			return "", "a literal holds an unknown escape \\" + string(body[i])
		}
	}
	return b.String(), ""
}

var (
	controls = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t")
	quoted   = strings.NewReplacer(`\\`, `\`, `\'`, `'`)
)

// unquoteSloppily replaces the control escapes first, so that the second
// backslash of \\n belongs to a line feed, and the others after.
func unquoteSloppily(body string) string { return quoted.Replace(controls.Replace(body)) }
