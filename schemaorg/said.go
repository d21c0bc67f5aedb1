package schemaorg

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// say says words: a text without a letter is a number that means nothing
// without its property.
func (p *prose) say(s string) {
	if strings.IndexFunc(s, unicode.IsLetter) >= 0 {
		p.put(s, true)
	}
}

// put appends s, unless it was said before or has nothing to read.
// words says whether s counts as something to read for itself.
func (p *prose) put(s string, words bool) {
	if p.done() || strings.IndexFunc(s, isWordRune) < 0 {
		return
	}
	hash := hashFolded(s)
	if _, dup := p.said[hash]; dup {
		return
	}
	p.said[hash] = struct{}{}
	p.words = p.words || words
	gap := p.gap
	if p.runes == 0 {
		gap = ""
	}
	room := p.limit - p.runes - len(gap)
	n := utf8.RuneCountInString(s)
	if n > room {
		p.full = true
		if s = cutAtWord(s, max(room, 0)); s == "" {
			return
		}
		n = utf8.RuneCountInString(s)
	}
	p.out = append(p.out, gap...)
	p.out = append(p.out, s...)
	p.runes += len(gap) + n
}

// hashFolded is FNV-1a over s with ASCII letters in lower case. Two texts with
// one hash would cost the second its place in the text, no more.
func hashFolded(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
