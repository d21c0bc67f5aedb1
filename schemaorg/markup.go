package schemaorg

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText returns what a reader sees of a string that may be HTML, may be
// escaped once or twice, and may be neither: entities decoded at most twice,
// tags gone, blanks joined. Text that merely looks like markup stays.
func cleanText(s string) string {
	if isClean(s) {
		return s
	}
	markup := false
	for pass := 0; ; pass++ {
		if strings.IndexByte(s, '<') >= 0 {
			stripped, found := stripTags(s)
			s, markup = stripped, markup || found
		}
		if pass == 2 || strings.IndexByte(s, '&') < 0 {
			break
		}
		decoded := html.UnescapeString(s)
		if decoded == s {
			break
		}
		s = decoded
	}
	return joinBlanks(s, markup)
}

// isClean spares most strings the work: no markup, no blank but single spaces
// between words, no invisible character.
func isClean(s string) bool {
	if s == "" {
		return true
	}
	if s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ', c == '<', c == '&', c == 0x7F:
			return false
		case c == ' ':
			if s[i+1] == ' ' {
				return false
			}
		case c == 0xC2, c == 0xE2, c == 0xE3, c == 0xE1, c == 0xEF:
			// U+0080 to U+00BF and the blocks of odd blanks
			return !strings.ContainsFunc(s[i:], func(r rune) bool { return isOdd(r) }) && isCleanRest(s[i+1:])
		}
	}
	return true
}

func isCleanRest(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '<' || c == '&' || c == 0x7F || c == ' ' && i+1 < len(s) && s[i+1] == ' ' {
			return false
		}
	}
	return true
}

func isOdd(r rune) bool {
	return r > ' ' && (isInvisible(r) || unicode.IsSpace(r) || unicode.IsControl(r))
}

// isInvisible reports whether a character shows nothing and separates nothing:
// soft hyphens, zero-width spaces, marks of direction and byte order. The
// joiners of Persian, Indic scripts and emoji are none of them.
func isInvisible(r rune) bool {
	switch {
	case r == '\u00AD', r == '\u200B', r == '\u200E', r == '\u200F', r == '\u2060', r == '\uFEFF':
		return true
	case '\u202A' <= r && r <= '\u202E', '\u2066' <= r && r <= '\u2069':
		return true
	}
	return false
}

// joinBlanks writes each run of blanks as one: a line break if it has one, else
// a space. In markup the line breaks of the source are spaces; those of the
// blocks are vertical tabs (see stripTags).
func joinBlanks(s string, markup bool) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := byte(0)
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		switch {
		case isInvisible(r):
			continue
		case r == '\v' || !markup && (r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\f'):
			blank = '\n'
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			if blank == 0 {
				blank = ' '
			}
			continue
		}
		if blank != 0 && b.Len() > 0 {
			b.WriteByte(blank)
		}
		blank = 0
		if r >= utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		end := i + plainLength(s[i:])
		b.WriteString(s[i-1 : end])
		i = end
	}
	return b.String()
}

// plainLength returns how much of s, which follows a letter, is written as it
// is because it is visible ASCII and single spaces.
func plainLength(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isVisibleASCII(c) && (c != ' ' || i+1 == len(s) || !isVisibleASCII(s[i+1])) {
			return i
		}
	}
	return len(s)
}

func isVisibleASCII(c byte) bool { return ' ' < c && c < 0x7F }
