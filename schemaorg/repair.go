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
// guesses where a string with unescaped quotes ends, which comma is missing, or
// what a cut-off script went on to say: those stay errors. With an error it
// returns the values that were complete.
func repair(text []byte) (parsed, *syntaxError) {
	r := repairer{in: text, out: make([]byte, 0, len(text)), comma: -1, fixed: map[string]bool{}}
	if entityQuoted(text) {
		r.fixed[fixedEntities] = true
		r.in = []byte(html.UnescapeString(string(text)))
	}
	values, err := r.values()
	p := parsed{text: r.out, values: values, lost: r.lost}
	for what := range r.fixed {
		p.what = append(p.what, what)
	}
	slices.Sort(p.what)
	if err != nil && r.fixed[fixedEntities] {
		err.offset = 0 // it counted bytes of the decoded text
	}
	return p, err
}

// values reads the top level: values with nothing of weight between them. Text
// after a complete value is dropped to the end; a value in that text belongs
// to whatever went wrong before it.
func (r *repairer) values() ([]span, *syntaxError) {
	var found []span
	for {
		r.skip()
		if r.pos == len(r.in) {
			return found, nil
		}
		c := r.in[r.pos]
		switch {
		case c == '{' || c == '[':
			if len(found) > 0 {
				r.fixed[fixedSeveral] = true
			}
			start := len(r.out)
			if err := r.value(); err != nil {
				r.out = r.out[:start]
				return found, err
			}
			found = append(found, span{start, len(r.out)})
		case len(found) == 0:
			return nil, r.fail("neither an object nor a list begins here")
		case c == ';':
			r.drop(1, fixedSemicolon)
		case c == ',':
			r.drop(1, fixedComma)
		case c == '}' || c == ']':
			r.drop(1, fixedTail)
		default:
			r.drop(len(r.in)-r.pos, fixedTail)
		}
	}
}

// value reads one object or list to its end.
func (r *repairer) value() *syntaxError {
	if err := r.open(); err != nil {
		return err
	}
	for len(r.stack) > 0 {
		r.skip()
		if r.pos == len(r.in) {
			return r.fail("the text ends inside an object or list")
		}
		var err *syntaxError
		if r.stack[len(r.stack)-1] == '{' {
			err = r.member()
		} else {
			err = r.element()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// member reads what may stand next in an object: a whole "name": value, a
// comma, or the end.
func (r *repairer) member() *syntaxError {
	done, err := r.separator('}')
	if done || err != nil {
		return err
	}
	if err := r.key(); err != nil {
		return err
	}
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
	return r.scalarOrOpen()
}

// element reads what may stand next in a list.
func (r *repairer) element() *syntaxError {
	done, err := r.separator(']')
	if done || err != nil {
		return err
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
		r.ended = true
		return true, nil
	case c == ',' && r.ended:
		r.comma, r.ended = len(r.out), false
		r.copy(1)
		return true, nil
	case c == ',':
		r.drop(1, fixedComma)
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
	if len(r.stack) == provider.MaxJSONDepth {
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
	r.ended = true
	if c == '"' || c == '\'' {
		return r.quoted(c)
	}
	return r.bare()
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
