package schemaorg

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lead says the titles and bodies of an object.
func (p *prose) lead(f *fields, depth int) {
	said := p.runes
	var store [16]passage
	passages := store[:0]
	add := func(s string, title bool) bool {
		if s != "" {
			passages = append(passages, passage{s, title})
		}
		return len(passages) < maxPassages
	}
	for i, v := range f.lead {
		if i == titleCount-1 {
			if len(passages) == 0 {
				add(f.personName(), true)
			}
			add(oneLine(f.legalName), true)
		}
		eachString(v, 0, func(raw string) bool {
			return isNoise(raw) || add(cleanText(raw), i < titleCount)
		})
	}
	for i, s := range passages {
		if saidBy(passages, i, depth) {
			continue
		}
		p.put(s.text, true)
		p.separate(said, paragraph(depth))
	}
	for _, v := range f.lead[titleCount:] {
		if v.IsObject() {
			p.value(v, told, depth+1)
			p.separate(said, paragraph(depth))
		}
	}
}

// passage is a title or body of an object.
type passage struct {
	text  string
	title bool
}

// maxPassages bounds the titles and bodies of one object, which are compared
// with each other.
const maxPassages = 64

// saidBy reports whether another of an object's passages says what this one
// says: a body that holds a body, as an article holds its excerpt, or, in what
// is nested, a body that begins with a title. The title of a document stays.
func saidBy(all []passage, i, depth int) bool {
	s := strings.TrimRight(all[i].text, " .…[]")
	if s == "" {
		return false
	}
	for k, other := range all {
		if k == i || other.title || len(other.text) < len(s) {
			continue
		}
		if all[i].title {
			if depth > 0 && len(s) <= len(other.text) && strings.EqualFold(other.text[:len(s)], s) && endsWord(other.text, len(s)) {
				return true
			}
			continue
		}
		at := strings.Index(other.text, s)
		if at >= 0 && endsWord(other.text, at) && endsWord(other.text, at+len(s)) && (len(other.text) > len(all[i].text) || k < i) {
			return true
		}
	}
	return false
}

// endsWord reports whether no word runs across s[:i] and s[i:].
func endsWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return i == 0 || i == len(s) || !isWordRune(before) || !isWordRune(after)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
