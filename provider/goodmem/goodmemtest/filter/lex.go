package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with an expression.
type Error struct {
	Offset int    // in bytes from the start of the expression
	Reason string // in plain words
	// Internal marks an expression that the server takes and then fails on
	// with HTTP 500, as a cast to a type that does not exist.
	Internal bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter expression: %s (at byte %d)", e.Reason, e.Offset)
}

type tokenKind int

const (
	tokenEnd    tokenKind = iota
	tokenWord             // an identifier or keyword, upper case in text
	tokenString           // decoded in text
	tokenNumber
	tokenSymbol
)

type token struct {
	kind   tokenKind
	text   string
	offset int
}

// symbols are the operators and brackets, longest first.
var symbols = []string{"==", "!=", "<>", "<=", ">=", "||", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","}

// lex splits an expression into tokens, the last of which is the end.
func lex(src string, d Dialect) ([]token, *Error) {
	if !utf8.ValidString(src) {
		return nil, &Error{Reason: "not valid UTF-8"}
	}
	var out []token
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(src[i:], "--"):
			end := strings.IndexByte(src[i:], '\n')
			if end < 0 {
				end = len(src) - i
			}
			i += end
		case c == '\'':
			end := endOfString(src, i, d)
			if end < 0 {
				return nil, &Error{Offset: i, Reason: "a literal that does not end"}
			}
			text, wrong := unquote(src[i+1:end], d)
			if wrong != "" {
				return nil, &Error{Offset: i, Reason: wrong}
			}
			out = append(out, token{tokenString, text, i})
			i = end + 1
		case isDigit(c):
			end, wrong := endOfNumber(src, i)
			if wrong != "" {
				return nil, &Error{Offset: i, Reason: wrong}
			}
			out = append(out, token{tokenNumber, src[i:end], i})
			i = end
		case isLetter(c):
			end := i
			for end < len(src) && (isLetter(src[end]) || isDigit(src[end])) {
				end++
			}
			out = append(out, token{tokenWord, strings.ToUpper(src[i:end]), i})
			i = end
		default:
			symbol := ""
			for _, s := range symbols {
				if strings.HasPrefix(src[i:], s) {
					symbol = s
					break
				}
			}
			if symbol == "" {
				r, _ := utf8.DecodeRuneInString(src[i:])
				return nil, &Error{Offset: i, Reason: fmt.Sprintf("unexpected character %q", r)}
			}
			out = append(out, token{tokenSymbol, symbol, i})
			i += len(symbol)
		}
	}
	return append(out, token{tokenEnd, "", len(src)}), nil
}

// endOfString returns the offset of the quote that closes the literal which
// opens at start, or -1.
func endOfString(src string, start int, d Dialect) int {
	for i := start + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && d.escapes():
			i++
		case src[i] == '\'' && d.doubles() && strings.HasPrefix(src[i+1:], "'"):
			i++
		case src[i] == '\'':
			return i
		}
	}
	return -1
}

// endOfNumber returns the end of the number at start: digits, a fraction, an
// exponent.
func endOfNumber(src string, start int) (int, string) {
	i := digits(src, start)
	if i < len(src) && src[i] == '.' {
		end := digits(src, i+1)
		if end == i+1 {
			return 0, "a number ends with a point"
		}
		i = end
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		at := i + 1
		if at < len(src) && (src[at] == '+' || src[at] == '-') {
			at++
		}
		end := digits(src, at)
		if end == at {
			return 0, "a number has an empty exponent"
		}
		i = end
	}
	if i < len(src) && (isLetter(src[i]) || src[i] == '.') {
		return 0, "a number runs into something else"
	}
	return i, ""
}

func digits(src string, i int) int {
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }
