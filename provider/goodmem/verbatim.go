package goodmem

import (
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// verbatimExpr is an expression in the server's own language. It is for what an
// operator configured, never for what a request brought. It is refused where,
// in parentheses beside others, it could take part of them along: brackets that
// do not pair up, a text without end, a comment. An expression is good if it is
// so in one dialect: its author knows the server.
func verbatimExpr(arg, text string) Expr {
	text = strings.TrimSpace(text)
	if text == "" {
		return Expr{}
	}
	if err := checkLiteral(arg, text); err != nil {
		return broke(err)
	}
	why := standsAlone(text, Backslash)
	if why != "" && standsAlone(text, Doubling) != "" {
		return broke(provider.Invalidf(arg, "%s", why))
	}
	return Expr{kind: verbatim, text: text}
}

// standsAlone says what is wrong with text as an operand; "" if nothing is.
func standsAlone(text string, d Dialect) string {
	var open []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'':
			for i++; i < len(text) && text[i] != '\''; i++ {
				if text[i] == '\\' && d == Backslash {
					i++
				}
			}
			if i >= len(text) {
				return "has a text that does not end"
			}
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case ')', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return "closes a bracket that it did not open"
			}
			open = open[:len(open)-1]
		case '-':
			if strings.HasPrefix(text[i:], "--") {
				return "has a comment, which would hide what stands behind the expression"
			}
		}
	}
	if len(open) > 0 {
		return "has a bracket that it does not close"
	}
	return ""
}
