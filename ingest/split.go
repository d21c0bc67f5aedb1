package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/siteprovider/siteprovider/provider"
)

const (
	// maxUnit is the longest text that is read as one page: a line, a JSON
	// value, an HTML file. Objects of a longer list are pages of their own.
	maxUnit = 16 << 20
	// maxSkip is how much of an overlong line or value is passed over in
	// search of its end. Past that the rest of the input is given up, so
	// that a stream that never ends a line does not hold a run up forever.
	maxSkip = 512 << 20
)

// unit is a piece of an input that is read by itself, or the reason why it
// cannot be.
type unit struct {
	text   []byte
	line   int   // 1-based line on which text starts
	offset int64 // of text in the input
	html   bool
	whole  bool // the input holds nothing else
	err    error
	unread bool // err says that the input is of no format that is read, which nobody claimed
	notice string
}

// errGaveUp ends an input whose overlong line or value has no end within maxSkip.
var errGaveUp = errors.New("what follows is not read")

// splitter cuts a text into units. Every byte of the text is in a unit, in the
// place of a unit that is an error, or is a blank, comma or semicolon between
// units.
type splitter struct {
	r      *bufio.Reader
	line   int   // of the next byte
	offset int64 // of the next byte
	inList bool  // between the members of a list that is read member by member
	limit  int   // maxUnit, less in tests
	skip   int   // maxSkip, less in tests
}

func newSplitter(r *bufio.Reader, offset int64) *splitter {
	return &splitter{r: r, line: 1, offset: offset, limit: maxUnit, skip: maxSkip}
}

// openList goes on behind the bracket of the list that comes next, so that
// nextValue returns its members.
func (s *splitter) openList() {
	if _, err := s.skipBlanks(); err != nil {
		return // which nextValue will come across again
	}
	if c, err := s.r.Peek(1); err == nil && c[0] == '[' {
		s.consume(c)
		s.inList = true
	}
}

// nextLine returns the next line that is not blank, without its end. The error
// is io.EOF, errGaveUp, or that of the source; what was read of a line before
// the source failed is lost with it unless it is whole.
func (s *splitter) nextLine() (unit, error) {
	for {
		u := unit{line: s.line, offset: s.offset}
		var long bool
		for {
			piece, err := s.r.ReadSlice('\n')
			s.advance(piece)
			if len(u.text)+len(piece) > s.limit+2 { // a line end may be two bytes
				u.text, long = nil, true
			} else if !long {
				u.text = append(u.text, piece...)
			}
			if err == nil || err == io.EOF && (len(u.text) > 0 || long) {
				break
			}
			if err != bufio.ErrBufferFull && validJSON(u.text) {
				break // the error comes again
			}
			if err != bufio.ErrBufferFull {
				return unit{}, err
			}
			if s.offset-u.offset > int64(s.limit+s.skip) {
				u.err = fmt.Errorf("the line has no end within %d bytes; %w", s.offset-u.offset, errGaveUp)
				return u, errGaveUp
			}
		}
		if long || len(bytes.TrimRight(u.text, "\r\n")) > s.limit {
			u.text = nil
			u.err = provider.Invalidf("line", "%d bytes are more than %d, the limit of a line", s.offset-u.offset, s.limit)
			return u, nil
		}
		u.text = bytes.TrimRight(u.text, "\r\n")
		if len(bytes.TrimSpace(u.text)) > 0 {
			return u, nil
		}
	}
}

// nextValue returns the next JSON object or list, or what stands where one
// should be. A list that is too long for a unit is opened, and its members
// follow one by one.
func (s *splitter) nextValue() (unit, error) {
	c, err := s.skipBlanks()
	if err != nil {
		if err == io.EOF && s.inList {
			s.inList = false
			return unit{line: s.line, offset: s.offset, err: errors.New("the list has no end")}, nil
		}
		return unit{}, err
	}
	if c != '{' && c != '[' {
		return s.stray()
	}
	u := unit{line: s.line, offset: s.offset}
	var e extent
	for {
		piece, err := s.peek()
		if err == io.EOF {
			return u, nil // without its end; whoever reads it may mend that
		}
		if err != nil {
			return unit{}, err
		}
		n, done := e.feed(piece)
		if len(u.text)+n > s.limit {
			if c == '[' && !s.inList {
				s.putBack(u)
				s.openList()
				return unit{line: u.line, offset: u.offset, notice: fmt.Sprintf(
					"the list is longer than %d MiB and is read member by member: its members are not joined with each other",
					s.limit>>20)}, nil
			}
			return s.skipValue(u, e, n, done)
		}
		u.text = append(u.text, piece[:n]...)
		s.consume(piece[:n])
		if done {
			return u, nil
		}
	}
}

// putBack makes u.text, which was consumed, what comes next again.
func (s *splitter) putBack(u unit) {
	s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(u.text), s.r), windowBytes)
	s.line, s.offset = u.line, u.offset
}

// skipValue passes over a value that is too long; n more bytes of what lies in
// the buffer belong to it.
func (s *splitter) skipValue(u unit, e extent, n int, done bool) (unit, error) {
	u.text = nil
	for {
		piece, err := s.peek()
		if err != nil && err != io.EOF {
			return unit{}, err
		}
		if err == nil {
			s.consume(piece[:n])
		}
		size := s.offset - u.offset
		if done || err == io.EOF {
			u.err = provider.Invalidf("value", "%d bytes are more than %d, the limit of a JSON value that is no list", size, s.limit)
			return u, nil
		}
		if size > int64(s.limit+s.skip) {
			u.err = fmt.Errorf("the JSON value has no end within %d bytes; %w", size, errGaveUp)
			return u, errGaveUp
		}
		if piece, err = s.peek(); err == nil {
			n, done = e.feed(piece)
		}
	}
}

// stray returns what is no object or list: up to the end of the line, the next
// bracket or, in a list, the next comma. It is an error unless it is a JSON
// text, number or literal, which whoever reads it knows how to leave out.
func (s *splitter) stray() (unit, error) {
	const keep = 1 << 10
	u := unit{line: s.line, offset: s.offset}
	var text []byte
	for ended := false; !ended; {
		piece, err := s.peek()
		if err == io.EOF {
			break
		}
		if err != nil {
			return unit{}, err
		}
		stops := "\n{["
		if s.inList {
			stops = "\n{[,]"
		}
		n := bytes.IndexAny(piece, stops)
		if ended = n >= 0; !ended {
			n = len(piece)
		}
		text = append(text, piece[:min(n, keep-len(text))]...)
		s.consume(piece[:n])
		if s.offset-u.offset > int64(s.limit+s.skip) {
			u.err = fmt.Errorf("%q is no JSON object; %w", text[:40], errGaveUp)
			return u, errGaveUp
		}
	}
	text = bytes.TrimRight(text, " \t\r")
	if len(text) < min(keep, s.limit) && validJSON(text) {
		u.text = text
	} else {
		u.err = fmt.Errorf("%q is no JSON object", text[:min(len(text), 40)])
	}
	return u, nil
}

// skipBlanks passes over what may stand between values and returns the byte
// after it, without consuming that.
func (s *splitter) skipBlanks() (byte, error) {
	for {
		piece, err := s.peek()
		if err != nil {
			return 0, err
		}
		for i, c := range piece {
			switch {
			case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';' || c == '\x1e': // the last is RFC 7464's
				continue
			case c == ']' && s.inList:
				s.inList = false
				continue
			}
			s.consume(piece[:i])
			return c, nil
		}
		s.consume(piece)
	}
}

// peek returns what lies in the buffer, at least one byte.
func (s *splitter) peek() ([]byte, error) {
	if s.r.Buffered() == 0 {
		if _, err := s.r.Peek(1); err != nil {
			return nil, err
		}
	}
	return s.r.Peek(s.r.Buffered())
}

func (s *splitter) consume(piece []byte) {
	s.advance(piece)
	s.r.Discard(len(piece))
}

func (s *splitter) advance(piece []byte) {
	s.line += bytes.Count(piece, []byte("\n"))
	s.offset += int64(len(piece))
}
