package ingest

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// validJSON reports whether text is one JSON value that is nested no deeper
// than a document may be. The depth comes first, because validating recurses.
func validJSON(text []byte) bool {
	return provider.JSONDepth(text) <= provider.MaxJSONDepth && gjson.ValidBytes(text)
}

// extent finds where a JSON object or list ends, by counting brackets outside
// of strings. It does not validate, takes its text in pieces, and needs no
// memory for nesting.
type extent struct {
	depth    int
	inString bool
	escaped  bool
}

// feed goes on with the next piece of text, the first of which begins with the
// opening bracket. It returns how many bytes of it belong to the value, and
// whether the value has ended.
func (e *extent) feed(text []byte) (int, bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case e.escaped:
			e.escaped = false
		case e.inString:
			switch c {
			case '"':
				e.inString = false
			case '\\':
				e.escaped = true
			default:
				// Nothing of interest comes before the next quote or escape.
				rest := text[i:]
				j := bytes.IndexByte(rest, '"')
				if j < 0 {
					j = len(rest)
				}
				if k := bytes.IndexByte(rest[:j], '\\'); k >= 0 {
					j = k
				}
				i += j - 1
			}
		case c == '"':
			e.inString = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
			if e.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}
