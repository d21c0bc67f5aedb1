package schemaorg

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// skip passes over what means nothing between two tokens: JSON's blanks, which
// are kept, and comments, wrappers and other blanks, which are not.
func (r *repairer) skip() {
	for r.pos < len(r.in) {
		rest := r.in[r.pos:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.copy(1)
		case c == '/' && r.comment(rest):
		case c == '<' && bytes.HasPrefix(rest, []byte("<![CDATA[")):
			r.drop(len("<![CDATA["), fixedCDATA)
		case c == ']' && len(r.stack) == 0 && bytes.HasPrefix(rest, []byte("]]>")):
			r.drop(len("]]>"), fixedCDATA)
		case c == '<' && bytes.HasPrefix(rest, []byte("<!--")):
			r.drop(r.htmlCommentLen(rest), fixedHTML)
		case c == '-' && bytes.HasPrefix(rest, []byte("-->")):
			r.drop(len("-->"), fixedHTML)
		default:
			odd, size := utf8.DecodeRune(rest)
			if !oddBlank(odd) {
				return
			}
			r.drop(size, fixedBlank)
		}
	}
}

func oddBlank(c rune) bool {
	return c == '\uFEFF' || c == '\u200B' || unicode.IsSpace(c) || c == 0
}

// htmlCommentLen returns how much of a text that begins with "<!--" to pass
// over: a whole comment, or the mark alone where it wraps the JSON, as old
// pages do to hide scripts from older browsers. Of one without end it is the
// line, as far as no object begins in it.
func (r *repairer) htmlCommentLen(rest []byte) int {
	const mark = len("<!--")
	inside := bytes.TrimLeft(rest[mark:], jsonBlanks)
	if len(inside) > 0 && bytes.IndexByte([]byte("{[/<"), inside[0]) >= 0 {
		return mark
	}
	if end := r.endOfComment(rest[mark:], "-->"); end >= 0 {
		return mark + end + len("-->")
	}
	line := rest[:lineLen(rest)]
	if object := bytes.IndexByte(line, '{'); object >= 0 {
		return object
	}
	return len(line)
}

// comment passes over a JavaScript comment. A line comment that only hides a
// wrapper's mark from JavaScript ends with that mark: the JSON may follow on
// the same line.
func (r *repairer) comment(rest []byte) bool {
	if bytes.HasPrefix(rest, []byte("/*")) {
		end := r.endOfComment(rest[2:], "*/")
		if end < 0 {
			return false
		}
		r.drop(2+end+2, fixedComment)
		return true
	}
	if !bytes.HasPrefix(rest, []byte("//")) {
		return false
	}
	n := 2 + len(rest[2:]) - len(bytes.TrimLeft(rest[2:], " \t"))
	for _, mark := range []string{"<![CDATA[", "]]>", "-->", "<!--"} {
		if bytes.HasPrefix(rest[n:], []byte(mark)) {
			what := fixedHTML
			if mark == "]]>" || mark == "<![CDATA[" {
				what = fixedCDATA
			}
			r.drop(n, what)
			if mark == "]]>" || mark == "-->" {
				r.drop(len(mark), what)
			}
			return true
		}
	}
	r.drop(lineLen(rest), fixedComment)
	return true
}

// endOfComment returns where the end mark of a comment stands in rest; -1 where
// there is none, which is looked for once only.
func (r *repairer) endOfComment(rest []byte, end string) int {
	from := len(r.in) - len(rest)
	if none, ok := r.endless[end]; ok && from >= none {
		return -1
	}
	at := bytes.Index(rest, []byte(end))
	if at < 0 {
		r.endless[end] = from
	}
	return at
}

func lineLen(text []byte) int {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end
	}
	return len(text)
}
