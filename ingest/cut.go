package ingest

import (
	"bufio"
	"bytes"

	"github.com/siteprovider/siteprovider/provider"
)

// maxReread is how many bytes cutValues reads again, in all, to look for values
// in what another one without end has swallowed. A text that makes it go back
// more often than that has no order worth finding.
const maxReread = 16 << 20

// maxValues is how many values of one unit are told apart.
const maxValues = 250_000

// cutValues cuts a unit into the values it is made of or, if it is a list and
// members is set, into the members of that. clean says that they are several
// and all of them valid. A value that does not end is cut where a line begins
// that is valid by itself.
func cutValues(u unit, members bool) (pieces []unit, clean bool) {
	s := newSplitter(bufio.NewReaderSize(bytes.NewReader(u.text), windowBytes), u.offset)
	s.line = u.line
	if members {
		s.openList()
	}
	clean = true
	for reread := 0; ; {
		p, err := s.nextValue()
		if err != nil {
			return pieces, clean && len(pieces) > 1
		}
		if len(pieces) == maxValues {
			p.err = provider.Invalidf("text", "holds more than %d values; what follows is not read", maxValues)
			return append(pieces, p), false
		}
		if p.err == nil && !validJSON(p.text) {
			start := int(p.offset - u.offset)
			endless := start+len(p.text) == len(u.text)
			if n := validLine(p.text); endless && n > 0 && reread < maxReread {
				reread += len(p.text) - n
				p.text = p.text[:n]
				s.putBack(unit{text: u.text[start+n:], line: p.line + bytes.Count(p.text, []byte("\n")), offset: p.offset + int64(n)})
			}
			clean = false
		}
		clean = clean && p.err == nil
		pieces = append(pieces, p)
	}
}

// validLine returns where, after the first, a line begins that is a JSON object
// by itself and not indented; 0 when there is none.
func validLine(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		if at > 0 && line[0] == '{' && validJSON(line) {
			return at
		}
		at += len(line)
	}
	return 0
}
