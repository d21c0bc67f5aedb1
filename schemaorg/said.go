package schemaorg

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// say says words: a text without a letter is a number that means nothing
// without its property.
func (p *prose) say(s string) {
	if s != "" && isLetterOrDigit(s[0]) && s[0] > '9' || strings.IndexFunc(s, unicode.IsLetter) >= 0 {
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

// hashFolded returns a hash of s with ASCII letters in lower case. Two texts with
// one hash would cost the second its place in the text, no more.
func hashFolded(s string) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03
	h := uint64(len(s)) ^ k1
	for len(s) >= 8 {
		v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		high, low := bits.Mul64(lowerEight(v)^k0, h^k1)
		h, s = high^low, s[8:]
	}
	v := uint64(0)
	for i := 0; i < len(s); i++ {
		v = v<<8 | uint64(s[i])
	}
	high, low := bits.Mul64(lowerEight(v)^k0, h^k1)
	return high ^ low
}

// lowerEight returns eight bytes with the ASCII letters among them in lower case.
func lowerEight(v uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	seven := v &^ highs
	fromA := seven + (0x80-'A')*ones     // the high bit is set from A on
	beyondZ := seven + (0x80-'Z'-1)*ones // and here beyond Z
	return v | (fromA&^beyondZ&^v&highs)>>2
}
