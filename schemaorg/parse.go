package schemaorg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// maxScriptBytes bounds one script. A JSON value this size is still joined as
// one graph; what is longer has to be split by whoever reads the source.
const maxScriptBytes = 16 << 20

// parsed is a script as far as it could be read.
type parsed struct {
	text   []byte   // valid JSON at values; the script itself, or its repaired form
	values []span   // the top-level values, in order
	what   []string // what had to be repaired, sorted; empty: nothing
	lost   []int    // offsets in text at which the repair took out a line break
}

// span is text[start:end].
type span struct{ start, end int }

// syntaxError is a script that could not be read to its end.
type syntaxError struct {
	offset int // of the byte of the script that could not be read
	reason string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("read JSON: byte %d of the script: %s", e.offset, e.reason)
}

func (e *syntaxError) Unwrap() error { return provider.ErrInvalid }

// parse reads a script strictly and, only if that fails, repairs it. Beside the
// errors it returns what is whole. Its work and depth are bounded, whatever the
// bytes.
func parse(text []byte) (parsed, []*syntaxError) {
	if len(text) > maxScriptBytes {
		return parsed{}, []*syntaxError{{maxScriptBytes, fmt.Sprintf("%d bytes are more than %d", len(text), maxScriptBytes)}}
	}
	// What is nested too deep is read as if it were broken, because a list may
	// hold objects that are not.
	if provider.JSONDepth(text) <= provider.MaxJSONDepth && utf8.Valid(text) && json.Valid(text) {
		start := len(text) - len(bytes.TrimLeft(text, jsonBlanks))
		end := len(bytes.TrimRight(text, jsonBlanks))
		return parsed{text: text, values: []span{{start, end}}}, nil
	}
	return repair(text)
}

const jsonBlanks = " \t\r\n"

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// newlines returns how many line breaks of the script lie between two offsets
// of its readable form; from is -1 for the start of the script, because the
// repair may have taken out some before the first byte.
func (p *parsed) newlines(from, to int) int {
	lost := sort.SearchInts(p.lost, to+1) - sort.SearchInts(p.lost, from+1)
	from = max(from, 0)
	return lost + countBreaks(p.text[from:], to-from)
}

// countBreaks returns how many line breaks the first n bytes of text have.
func countBreaks(text []byte, n int) int {
	return bytes.Count(text[:min(n, len(text))], []byte{'\n'})
}
