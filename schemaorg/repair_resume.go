package schemaorg

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxReread is how many bytes of a script, beside as many as it has, may be read
// in vain. A script that has more of that has no order worth finding.
const maxReread = 1 << 20

// maxFaults is how many errors of a script are told apart.
const maxFaults = 10_000

// maxIndent is more than any line is indented.
const maxIndent = maxScriptBytes

// mark is a place to go back to.
type mark struct{ in, out, comma, lost int }

func (r *repairer) mark() mark { return mark{r.pos, len(r.out), r.comma, len(r.lost)} }

// leaveOut makes up for an error in a member of a list that only holds objects:
// the member is left out, and what follows it is next. Where the error comes
// after such a list, the rest of the value is left out. It returns false where
// no such list is there.
func (r *repairer) leaveOut(err *syntaxError) bool {
	switch {
	case r.graph.out > 0:
		r.giveUp(r.graph, err)
		r.close(1)
		return true
	case r.holder == 0 || len(r.stack) < r.holder:
		return false
	case r.within:
		r.stack = r.stack[:r.holder]
		r.giveUp(r.member, err)
		r.within, r.ended = false, false
		for r.skip(); r.pos < len(r.in) && r.in[r.pos] == ','; r.skip() {
			r.pos++ // the comma after what was left out
		}
		if r.pos == len(r.in) {
			r.close(r.holder)
		}
	case r.pos == len(r.in):
		r.errs = append(r.errs, err)
		r.close(r.holder)
	default: // something else stands between two members
		at, ended := r.mark(), r.ended
		if r.swallowed(err.offset) && r.member.in == r.text.start {
			at, ended = r.member, false
			err.offset = at.in
		}
		r.errs = append(r.errs, err)
		from := max(at.in, err.offset) + 1
		r.goOn(at, from+stray(r.in[from:]))
		r.ended = ended
	}
	return true
}

// close writes the closing brackets of the outermost n.
func (r *repairer) close(n int) {
	r.dropPendingComma()
	for ; n > 0; n-- {
		r.out = append(r.out, r.stack[n-1]+2) // ] of [, } of {
	}
	r.stack, r.holder, r.ended = r.stack[:0], 0, true
}

// giveUp leaves out what began at a mark and goes on after it.
func (r *repairer) giveUp(at mark, err *syntaxError) {
	r.errs = append(r.errs, err)
	r.reread += len(r.out) - at.out
	start := at.in
	if at == r.graph {
		start = r.start
	}
	fault := err.offset
	switch {
	case r.in[start] == '[': // objects that were whole go with the list
		err.offset = start
	case r.swallowed(fault) && r.text.end > start:
		err.offset = r.text.start
	}
	next := max(at.in, r.resume(start, fault))
	if r.reread > len(r.in)+maxReread {
		next = len(r.in)
	}
	r.pos = min(max(err.offset, at.in), next)
	r.notRead(next)
	r.goOn(at, next)
}

// swallowed reports whether what stands before a fault is a text that holds a
// brace: it is likely that its first quote was one too many.
func (r *repairer) swallowed(fault int) bool {
	t := r.text
	return t.end > 0 && t.end <= fault && bytes.IndexByte(r.in[t.start:t.end], '{') >= 0 &&
		len(bytes.TrimLeft(r.in[t.end:fault], jsonBlanks)) == 0
}

// goOn continues at next with what was written up to a mark.
func (r *repairer) goOn(at mark, next int) {
	if len(r.errs) >= maxFaults && next < len(r.in) {
		r.notRead(len(r.in))
		next = len(r.in)
	}
	r.out, r.lost, r.comma = r.out[:at.out], r.lost[:at.lost], at.comma
	for range bytes.Count(r.in[at.in:next], []byte{'\n'}) {
		r.lost = append(r.lost, len(r.out))
	}
	r.pos = next
}

// notRead says in the last error how much from here to next is passed over, if
// that might have held an object.
func (r *repairer) notRead(next int) {
	if bytes.IndexByte(r.in[r.pos:next], '{') >= 0 {
		r.errs[len(r.errs)-1].reason += fmt.Sprintf("; what follows, %d bytes, is not read", next-r.pos)
	}
}

// checkUTF8 returns the error of what was read since a mark and written from
// out on.
func (r *repairer) checkUTF8(at mark, out int) *syntaxError {
	if !r.invalid || utf8.Valid(r.out[out:]) {
		return nil
	}
	return &syntaxError{offset: at.in + invalidUTF8(r.in[at.in:r.pos]), reason: "not valid UTF-8"}
}

// resume returns where to go on after a value that begins at start and is
// broken at fault: where its brackets close, or at a line before that which
// begins with a bracket and is not indented further, unless the line before it
// says that it is a part of the value. It is always after start.
func (r *repairer) resume(start, fault int) int {
	text := r.in
	if c := text[start]; c != '{' && c != '[' {
		return start + stray(text[start:])
	}
	if inside := start + 1 + blanks(text[start+1:]); fault == inside && fault < len(text) && text[fault] == '{' {
		return fault // a bracket that opens nothing
	}
	indent := indentation(text, start)
	var e extent
	part := -1 // the first line passed over
	for at := start; at < len(text); {
		next := nextLine(text, at, indent)
		if n, done := e.feed(text[at:next]); done {
			return at + n
		}
		if next == len(text) {
			break
		}
		before := bytes.TrimRight(text[:next], jsonBlanks)
		last := before[len(before)-1]
		mayHold := e.depth > 1 || text[start] == '['
		if last != ':' && !(mayHold && (last == ',' || last == '[' || last == '{')) {
			return next
		}
		if part < 0 {
			part = next
		}
		at = next
	}
	if part > 0 {
		r.reread += len(text) - part
		return part
	}
	return len(text)
}

// nextLine returns where, after at, a line begins with a bracket behind no more
// than indent blanks; the end of text when there is none.
func nextLine(text []byte, at, indent int) int {
	for {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
		i := 0
		for i < len(text)-at && (text[at+i] == ' ' || text[at+i] == '\t') {
			i++
		}
		if at += i; i <= indent && at < len(text) && (text[at] == '{' || text[at] == '[') {
			return at
		}
	}
}

// indentation returns how many blanks the line of a place begins with.
func indentation(text []byte, at int) int {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, jsonBlanks)) }

// stray returns the length of what is no member of a list.
func stray(text []byte) int {
	if n := bytes.IndexAny(text, ",]{["); n >= 0 {
		return n
	}
	return len(text)
}

// extent finds where a value ends by counting brackets outside of strings. Its
// text is fed to it in pieces.
type extent struct {
	depth             int
	inString, escaped bool
}

func (e *extent) feed(text []byte) (n int, done bool) {
	for i, c := range text {
		switch {
		case e.escaped:
			e.escaped = false
		case e.inString:
			e.escaped, e.inString = c == '\\', c != '"'
		case c == '"':
			e.inString = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			if e.depth--; e.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}
