package goodmem

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// Dialect is how a server writes a quote inside a text of a filter. What is
// right in one dialect breaks out of the text in the other, so a text that
// needs to know is never sent on a guess.
type Dialect int

// The dialects.
const (
	// AnyDialect is that of an expression that reads the same in both, which
	// is every one whose texts have neither a quote nor a backslash.
	AnyDialect Dialect = iota
	// Backslash writes \' and \\, as servers v1.0.320 to v1.0.323 do.
	Backslash
	// Doubling writes '', as the documentation says; a backslash is a
	// character as any other.
	Doubling
)

// String returns the name of the dialect.
func (d Dialect) String() string {
	switch d {
	case Backslash:
		return "backslash"
	case Doubling:
		return "doubling"
	}
	return "any"
}

// checkLiteral refuses what no text of a filter can hold.
func checkLiteral(arg, s string) error {
	if !utf8.ValidString(s) {
		return provider.Invalidf(arg, "is not valid UTF-8")
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return provider.Invalidf(arg, "has the control character %U at byte %d, which no filter can hold", r, i)
	}
	return nil
}

// needsDialect reports whether the two dialects write s differently.
func needsDialect(s string) bool { return strings.ContainsAny(s, `'\`) }

// quote writes s, which passed checkLiteral, as an expression whose value is s.
//
// A backslash stands in a literal of its own, joined with ||. Some servers may
// read \\n inside a longer one as a line break; a backslash with no letter
// behind it leaves them nothing to mistake.
func (d Dialect) quote(s string) string {
	if !strings.Contains(s, `\`) {
		return d.literal(s)
	}
	var parts []string
	for i, piece := range strings.Split(s, `\`) {
		if i > 0 {
			parts = append(parts, d.literal(`\`))
		}
		if piece != "" {
			parts = append(parts, d.literal(piece))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// literal writes a text that is free of backslashes, or one backslash.
func (d Dialect) literal(s string) string {
	if d == Doubling {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return "'" + backslashes.Replace(s) + "'"
}

var backslashes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
