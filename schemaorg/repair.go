package schemaorg

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// The repairs, as Repair.What names them.
const (
	fixedBlank     = "byte order mark or other odd blank"
	fixedHTML      = "HTML comment"
	fixedCDATA     = "CDATA wrapper"
	fixedComment   = "JavaScript comment"
	fixedComma     = "stray comma"
	fixedSemicolon = "semicolon"
	fixedControl   = "raw control character in a string"
	fixedSeveral   = "several values one after another"
	fixedEscape    = "bad escape"
	fixedTail      = "text after the value"
	fixedEntities  = "quotes written as HTML entities"
	fixedQuote     = "single quotes"
	fixedKey       = "property name without quotes"
	fixedMissing   = "missing value"
	fixedLiteral   = "literal that JSON lacks"
	fixedBetween   = "missing comma between objects"
)

// repairer copies a script that strict JSON rejects, changing only what has
// one plain reading. It is a state machine with a stack of its own, so that
// nesting cannot exhaust the goroutine's.
type repairer struct {
	in    []byte
	pos   int
	out   []byte
	stack []byte // '{' and '[' of the open objects and lists
	comma int    // where out holds a comma no member has followed yet; -1: nowhere
	ended bool   // a member has just ended: a comma or the end must follow
	fixed map[string]bool
	lost  []int

	invalid bool           // in is not valid UTF-8 throughout
	holder  int            // brackets that only hold objects: 1 in a list, 2 in the list of a @graph; 0: none
	within  bool           // in a member of the holder,
	member  mark           // which begins here
	start   int            // of the value in in
	graph   mark           // the end of the value's @graph, once that is read; else out is 0
	text    span           // of the string that was read last, in in
	reread  int            // bytes that were read in vain so far
	endless map[string]int // end mark of a comment: from where on there is none
	errs    []*syntaxError
}

// entityQuoted reports whether the very first string of a script begins with a
// quote written as an entity: then all its quotes are. Valid JSON never does,
// and nor does JSON that merely has entities inside its strings.
func entityQuoted(text []byte) bool {
	rest := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), jsonBlanks)
	if len(rest) == 0 || rest[0] != '{' && rest[0] != '[' {
		return false
	}
	rest = bytes.TrimLeft(rest, "{["+jsonBlanks)
	return entityQuote.Match(rest[:min(len(rest), 16)])
}

var entityQuote = regexp.MustCompile(`^&(?:quot|#0*34|#[xX]0*22);`)

// repair reads a script as JSON with the mistakes that pages make. It never
// guesses where a string with unescaped quotes ends, which comma of an object is
// missing, or what a cut-off script went on to say: those stay errors. What is
// whole before and after them is returned beside the errors.
func repair(text []byte) (parsed, []*syntaxError) {
	r := repairer{
		in: text, out: make([]byte, 0, len(text)), comma: -1, fixed: map[string]bool{},
		invalid: !utf8.Valid(text), endless: map[string]int{},
	}
	if entityQuoted(text) {
		r.fixed[fixedEntities] = true
		r.in = []byte(html.UnescapeString(string(text)))
	}
	p := parsed{values: r.values()}
	p.text, p.lost = r.out, r.lost
	for what := range r.fixed {
		p.what = append(p.what, what)
	}
	slices.Sort(p.what)
	if r.fixed[fixedEntities] {
		for _, err := range r.errs {
			err.offset = 0 // it counted bytes of the decoded text
		}
	}
	return p, r.errs
}

// values reads the top level: values and what stands between them. Text after a
// complete value is dropped up to where the next one begins. After a broken one
// only what begins a line is taken for a value, for the rest of a line is
// likely to be a part of what is broken.
func (r *repairer) values() []span {
	var found []span
	broken := false
	for {
		r.skip()
		if r.pos == len(r.in) {
			return found
		}
		c := r.in[r.pos]
		switch {
		case c == '{' || c == '[':
			at, before := r.mark(), len(r.errs)
			err := r.value()
			if err == nil {
				if len(found) > 0 {
					r.fixed[fixedSeveral] = true
				}
				found = append(found, span{at.out, len(r.out)})
				broken = len(r.errs) > before
				continue
			}
			r.giveUp(at, err)
			broken = true
		case len(found) == 0 && len(r.errs) == 0:
			r.errs = append(r.errs, r.fail("neither an object nor a list begins here"))
			r.notRead(len(r.in))
			return nil
		case c == ';':
			r.drop(1, fixedSemicolon)
		case c == ',':
			r.drop(1, fixedComma)
		case c == '}' || c == ']':
			r.drop(1, fixedTail)
		case broken:
			next := nextLine(r.in, r.pos, maxIndent)
			r.notRead(next)
			r.drop(next-r.pos, fixedTail)
			broken = false
		default:
			n := len(r.in) - r.pos
			if bytes.IndexByte(r.in[r.pos:], '{') >= 0 {
				n = bytes.IndexAny(r.in[r.pos:], "{[")
			}
			r.drop(n, fixedTail)
		}
	}
}

// value reads one object or list to its end. Of a list, and of the list of a
// @graph, a broken member is left out and its error noted.
func (r *repairer) value() *syntaxError {
	at := r.mark()
	r.start, r.graph = r.pos, mark{}
	r.stack, r.holder, r.within = r.stack[:0], 0, false
	if r.in[r.pos] == '[' {
		r.holder = 1
	}
	if err := r.open(); err != nil {
		return err
	}
	for len(r.stack) > 0 {
		err := r.step()
		if err != nil && !r.leaveOut(err) {
			return err
		}
	}
	return r.checkUTF8(at, at.out)
}

// step reads the next token, or few of them, of an open object or list.
func (r *repairer) step() *syntaxError {
	r.skip()
	if r.pos == len(r.in) {
		return r.fail("the text ends inside an object or list")
	}
	if r.stack[len(r.stack)-1] == '{' {
		if err := r.property(); err != nil {
			return err
		}
	} else if err := r.element(); err != nil {
		return err
	}
	if !r.within || !r.ended || len(r.stack) != r.holder {
		return nil
	}
	err := r.checkUTF8(r.member, r.member.out)
	if at := r.member.in; err == nil && r.in[at] == '\'' && r.swallowed(r.pos) {
		err = &syntaxError{offset: at, reason: "a text in single quotes holds what may be objects"}
	}
	r.within = err != nil
	return err
}

// property reads what may stand next in an object: a whole "name": value, a
// comma, or the end.
func (r *repairer) property() *syntaxError {
	done, err := r.separator('}')
	if done || err != nil {
		return err
	}
	name := len(r.out)
	if err := r.key(); err != nil {
		return err
	}
	graph := len(r.stack) == 1 && string(r.out[name:]) == `"@graph"`
	r.skip()
	if r.pos == len(r.in) || r.in[r.pos] != ':' {
		return r.fail("a property name is not followed by a colon")
	}
	r.copy(1)
	r.skip()
	if r.pos < len(r.in) && (r.in[r.pos] == ',' || r.in[r.pos] == '}') {
		r.write("null", fixedMissing)
		r.ended = true
		return nil
	}
	if graph && r.pos < len(r.in) && r.in[r.pos] == '[' {
		r.holder = 2
	}
	return r.scalarOrOpen()
}

// element reads what may stand next in a list.
func (r *repairer) element() *syntaxError {
	comma := r.comma
	done, err := r.separator(']')
	if done || err != nil {
		return err
	}
	if len(r.stack) == r.holder {
		r.within, r.member = true, r.mark()
		r.member.comma = comma
	}
	return r.scalarOrOpen()
}

// separator reads a comma or the end of an object or list; done says that it
// read one. It fails where a comma is missing.
func (r *repairer) separator(end byte) (done bool, err *syntaxError) {
	switch c := r.in[r.pos]; {
	case c == end:
		r.dropPendingComma()
		r.stack = r.stack[:len(r.stack)-1]
		r.copy(1)
		if len(r.stack) < r.holder {
			r.holder = 0
			r.graph = r.mark()
		}
		r.ended = true
		return true, nil
	case c == ',' && r.ended:
		r.comma, r.ended = len(r.out), false
		r.copy(1)
		return true, nil
	case c == ',':
		r.drop(1, fixedComma)
		return true, nil
	case r.ended && len(r.stack) == r.holder && (c == '{' || c == '['):
		r.comma, r.ended = len(r.out), false
		r.write(",", fixedBetween)
		return true, nil
	case r.ended:
		return false, r.fail("a comma or %q is missing", end)
	}
	r.comma = -1
	return false, nil
}

// dropPendingComma takes back a comma that no member followed.
func (r *repairer) dropPendingComma() {
	if r.comma < 0 {
		return
	}
	r.out = slices.Delete(r.out, r.comma, r.comma+1)
	for i := len(r.lost) - 1; i >= 0 && r.lost[i] > r.comma; i-- {
		r.lost[i]--
	}
	r.comma = -1
	r.fixed[fixedComma] = true
}

func (r *repairer) open() *syntaxError {
	if len(r.stack) == provider.MaxJSONDepth+r.holder {
		return r.fail("nested more than %d deep", provider.MaxJSONDepth)
	}
	r.stack = append(r.stack, r.in[r.pos])
	r.copy(1)
	r.ended = false
	return nil
}

func (r *repairer) scalarOrOpen() *syntaxError {
	if r.pos == len(r.in) {
		return r.fail("the text ends where a value is missing")
	}
	c := r.in[r.pos]
	if c == '{' || c == '[' {
		return r.open()
	}
	read := r.bare
	if c == '"' || c == '\'' {
		read = func() *syntaxError { return r.quoted(c) }
	}
	err := read()
	r.ended = err == nil
	return err
}

func (r *repairer) key() *syntaxError {
	c := r.in[r.pos]
	if c == '"' || c == '\'' {
		return r.quoted(c)
	}
	name := bareName.Find(r.in[r.pos:])
	if name == nil {
		return r.fail("a property name is missing")
	}
	r.pos += len(name)
	r.write(`"`+string(name)+`"`, fixedKey)
	return nil
}

var (
	bareName   = regexp.MustCompile(`^[A-Za-z_$@][A-Za-z0-9_$@]*`)
	bareValue  = regexp.MustCompile(`^[-+.A-Za-z0-9_$]+`)
	jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
)

// bareLiterals are what other languages print for the values of JSON, and for
// those it has no word for.
var bareLiterals = map[string]string{
	"undefined": "null", "NaN": "null", "Infinity": "null", "-Infinity": "null",
	"None": "null", "True": "true", "False": "false",
}

// bare reads a number or a literal.
func (r *repairer) bare() *syntaxError {
	word := bareValue.Find(r.in[r.pos:])
	switch w := string(word); {
	case w == "true", w == "false", w == "null", jsonNumber.Match(word):
		r.copy(len(word))
	case bareLiterals[w] != "":
		r.pos += len(word)
		r.write(bareLiterals[w], fixedLiteral)
	default:
		return r.fail("no value begins here")
	}
	return nil
}

func (r *repairer) copy(n int) {
	r.out = append(r.out, r.in[r.pos:r.pos+n]...)
	r.pos += n
}

func (r *repairer) write(s, what string) {
	r.out = append(r.out, s...)
	r.fixed[what] = true
}

// drop leaves n bytes out, keeping count of their line breaks.
func (r *repairer) drop(n int, what string) {
	for _, c := range r.in[r.pos : r.pos+n] {
		if c == '\n' {
			r.lost = append(r.lost, len(r.out))
		}
	}
	r.pos += n
	r.fixed[what] = true
}

func (r *repairer) fail(format string, args ...any) *syntaxError {
	reason := fmt.Sprintf(format, args...)
	if r.pos < len(r.in) {
		found, _ := utf8.DecodeRune(r.in[r.pos:])
		reason += fmt.Sprintf(" (found %q)", found)
	}
	return &syntaxError{offset: r.pos, reason: reason}
}
