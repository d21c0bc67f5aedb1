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
			r.drop(htmlCommentLen(rest), fixedHTML)
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
// pages do to hide scripts from older browsers.
func htmlCommentLen(rest []byte) int {
	const mark = len("<!--")
	inside := bytes.TrimLeft(rest[mark:], jsonBlanks)
	if len(inside) > 0 && bytes.IndexByte([]byte("{[/<"), inside[0]) >= 0 {
		return mark
	}
	if end := bytes.Index(rest[mark:], []byte("-->")); end >= 0 {
		return mark + end + len("-->")
	}
	return lineLen(rest)
}

// comment passes over a JavaScript comment. A line comment that only hides a
// wrapper's mark from JavaScript ends with that mark: the JSON may follow on
// the same line.
func (r *repairer) comment(rest []byte) bool {
	if bytes.HasPrefix(rest, []byte("/*")) {
		end := bytes.Index(rest[2:], []byte("*/"))
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

func lineLen(text []byte) int {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end
	}
	return len(text)
}
