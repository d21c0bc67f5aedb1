package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// windowBytes is how much of a text is looked at to tell its format.
const windowBytes = 256 << 10

// format is how a text is cut into units.
type format int

const (
	formatUnknown format = iota
	formatLines          // one JSON value, or url<TAB>JSON, a line
	formatValues         // JSON values, each on as many lines as it likes
	formatHTML           // one page
)

var errBinary = errors.New("is binary")

var errNoFormat = errors.New("is neither JSON, JSON Lines, url<TAB>JSON lines nor HTML")

// sniff tells the format of a text by its beginning; whole says that window is
// all of it. The error says what the text seems to be when it is of no format
// that is read.
func sniff(window []byte, whole bool) (format, error) {
	text := bytes.TrimSpace(window)
	if mostlyControl(text) {
		return formatUnknown, errBinary
	}
	if len(text) == 0 {
		if whole {
			return formatUnknown, errors.New("is empty")
		}
		return formatLines, nil
	}
	switch line := firstLine(text); {
	case text[0] == '<':
		return sniffMarkup(text)
	case text[0] == '{' || text[0] == '[':
		return sniffJSON(text, whole), nil
	case isTabLine(line):
		return formatLines, nil
	}
	if mostLinesGood(text, whole) {
		return formatLines, nil
	}
	lower := bytes.ToLower(text)
	for _, tag := range []string{"<script", "<html", "<!doctype html", "<head", "<body"} {
		if bytes.Contains(lower, []byte(tag)) {
			return formatHTML, nil
		}
	}
	// A value behind a comment, an assignment or the like: package schemaorg
	// knows which of those can be mended.
	if bytes.IndexByte(text, '{') >= 0 && !looksBinary(text) {
		return formatValues, nil
	}
	if looksBinary(text) {
		return formatUnknown, errBinary
	}
	return formatUnknown, errNoFormat
}

// sniffMarkup tells HTML from XML, and from JSON behind a comment.
func sniffMarkup(text []byte) (format, error) {
	rest := text
	for bytes.HasPrefix(rest, []byte("<!--")) {
		_, after, ok := bytes.Cut(rest, []byte("-->"))
		if !ok {
			break
		}
		rest = bytes.TrimSpace(after)
	}
	if len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') || bytes.HasPrefix(rest, []byte("<![CDATA[")) {
		return formatValues, nil
	}
	lower := bytes.ToLower(rest[:min(len(rest), 4<<10)])
	if bytes.HasPrefix(lower, []byte("<?xml")) && bytes.Contains(lower, []byte("<html")) {
		return formatHTML, nil
	}
	for _, root := range []string{"<rss", "<feed", "<rdf:rdf", "<urlset", "<sitemapindex"} {
		if i := bytes.Index(lower, []byte(root)); i >= 0 && !bytes.Contains(lower[:i], []byte("<html")) {
			return formatUnknown, fmt.Errorf("is XML (%s>), which is not read", root)
		}
	}
	if bytes.HasPrefix(lower, []byte("<?xml")) {
		return formatUnknown, errors.New("is XML, which is not read")
	}
	return formatHTML, nil
}

// sniffJSON tells lines from values in a text that begins with a bracket.
//
// Valid values in a row decide: lines when each is on one line of its own,
// values when one of them goes over a line's end. Where the text is broken, it
// is lines if most lines are valid by themselves, because in a broken value of
// several lines hardly any line is.
func sniffJSON(text []byte, whole bool) format {
	const enough = 16 // values; the rest will be like them
	dec := json.NewDecoder(bytes.NewReader(text))
	end := 0
	for n := range enough {
		var v json.RawMessage
		err := dec.Decode(&v)
		switch {
		case err == io.EOF && n == 1 && whole:
			return formatValues // a single value: a page of its own, whatever its length
		case err == io.EOF:
			return formatLines
		case err != nil && n > 0 && !bareBracket.Match(text):
			return formatLines
		case errors.Is(err, io.ErrUnexpectedEOF):
			if !whole {
				return formatValues // many lines, or one longer than the window
			}
			fallthrough
		case err != nil:
			if mostLinesGood(text, whole) {
				return formatLines
			}
			return formatValues
		case bytes.IndexByte(v, '\n') >= 0:
			return formatValues
		}
		end = int(dec.InputOffset())
		rest := bytes.TrimLeft(text[end:], " \t\r")
		if len(rest) > 0 && rest[0] != '\n' { // something else on the line
			_, next, _ := bytes.Cut(rest, []byte("\n"))
			next = bytes.TrimSpace(next)
			if (len(next) > 0 && (next[0] == '{' || next[0] == '[') || n > 0) && !bareBracket.Match(text) {
				return formatLines
			}
			return formatValues
		}
	}
	return formatLines
}

// bareBracket is a line that is only an opening bracket: the beginning of a
// value over several lines.
var bareBracket = regexp.MustCompile(`(?m)^[ \t]*[{\[][ \t\r]*$`)

// mostLinesGood reports whether more than half of the lines of text begin like
// a line of formatLines, and one of them is good by itself. How many are good
// says nothing: lines can be broken, each for itself.
func mostLinesGood(text []byte, whole bool) bool {
	good, begun, all, indent := false, 0, 0, -1
	for line := range bytes.Lines(text) {
		if line[len(line)-1] != '\n' && !whole {
			break
		}
		indented := len(line) - len(bytes.TrimLeft(line, " \t"))
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if all++; indent < 0 {
			indent = indented
		}
		switch {
		case isTabLine(line):
			begun, good = begun+1, true
		case indented == indent && len(line) > 2 && (line[0] == '{' || line[0] == '[') && bytes.IndexByte([]byte("{[:"), line[len(line)-1]) < 0:
			begun++
			good = good || validJSON(line)
		}
	}
	return good && begun*2 > all
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// isTabLine reports whether line is text, a tab and the beginning of a JSON
// object, list or string.
func isTabLine(line []byte) bool {
	before, after, ok := bytes.Cut(line, []byte("\t"))
	if !ok || bytes.ContainsAny(before, "{}[]\"") && !bytes.Contains(before, []byte("://")) {
		return false
	}
	before, after = bytes.TrimSpace(before), bytes.TrimLeft(after, " ")
	return len(before) > 0 && len(after) > 0 && (after[0] == '{' || after[0] == '[' || after[0] == '"')
}

// mostlyControl reports whether a text begins with more control characters than
// a damaged text file would.
func mostlyControl(text []byte) bool {
	head := text[:min(len(text), 1<<10)]
	n := 0
	for _, c := range head {
		if isControl(c) {
			n++
		}
	}
	return n*16 > len(head) && n > 1
}

// looksBinary reports whether text has control characters that no text file
// has.
func looksBinary(text []byte) bool {
	return bytes.IndexFunc(text, func(c rune) bool { return c < ' ' && isControl(byte(c)) }) >= 0
}

func isControl(c byte) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1b' && c != '\x1e' && c != '\v' && c != '\b'
}
