package embedded

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is something of a text that can be searched for.
type token struct {
	// text is as written for a word, and folded for a gram.
	text string
	// start and end are where it stands in the text.
	start, end int
	kind       tokenKind
}

type tokenKind uint8

const (
	// word is letters and digits without anything between them.
	word tokenKind = iota
	// compound is the parts of a word such as e-mail, node.js or O'Reilly
	// without what joins them, so that it is found however it is written.
	compound
	// code is a word with a sign that makes another word of it: C++, C#.
	code
	// gram is one or two letters of a script that writes no spaces between
	// words, or puts particles on them.
	gram
	// letter is a single letter inside a run of such a script. It is
	// indexed, so that a word of one letter is found in a longer run; a
	// query has letters only where the run is no longer.
	letter
)

// counts reports whether a token adds to the length of its text. What stands
// for words that count themselves does not.
func (k tokenKind) counts() bool { return k == word || k == gram }

// maxCompound bounds the parts and the bytes of a word joined by hyphens of
// which the parts together are indexed. Longer chains are made of words; a code
// may have as many parts as an ISBN or a UUID, and some more.
const (
	maxCompoundParts = 4
	maxCodeParts     = 8
	maxCompoundBytes = 40
)

// eachToken calls yield for every token of text, which may be any text. Nothing
// in it is syntax: signs part words, or belong to one of the kinds above.
func eachToken(text string, yield func(token)) {
	t := tokenizer{text: text, yield: yield}
	b := boundaries{text: text}
	for start := 0; start < len(text); {
		end, plain := b.next(start)
		if plain {
			t.endRun()
			t.word(start, end, true)
		} else {
			t.segment(start, end)
		}
		start = end
	}
	t.endRun()
	t.endChain()
}

// tokenizer puts the segments of Unicode's word boundaries (UAX 29) together
// where they are not yet what a reader would search for.
type tokenizer struct {
	text  string
	yield func(token)

	// A chain is words joined by single hyphens.
	chainStart, chainEnd, chainParts int

	// A run is what is indexed as grams.
	runStart, runEnd int
}

// segment takes a segment. Hangul is kept with Latin letters by UAX 29, but KTX is
// to be found in KTX를.
func (t *tokenizer) segment(start, end int) {
	for start < end {
		n := sameClass(t.text[start:end])
		t.piece(start, start+n)
		start += n
	}
}

func (t *tokenizer) piece(start, end int) {
	first, _ := utf8.DecodeRuneInString(t.text[start:])
	switch classOf(first) {
	case classGram:
		t.endChain()
		if t.runEnd != start {
			t.endRun()
			t.runStart = start
		}
		t.runEnd = end
	case classWord:
		t.endRun()
		t.word(start, start+len(strings.TrimRightFunc(t.text[start:end], isSign)), false)
	default:
		t.endRun()
		if isHyphen(first) && t.chainParts > 0 && start == t.chainEnd {
			t.chainEnd = end
			return
		}
		t.endChain()
		// UAX 29 keeps an underscore with the word that follows it.
		if i := strings.IndexFunc(t.text[start:end], func(r rune) bool { return classOf(r) != classNone }); i > 0 {
			t.segment(start+i, end)
		}
	}
}

// sameClass returns how much of a segment belongs to its first letter: all of it,
// unless Hangul follows other letters or digits, or these follow Hangul.
func sameClass(segment string) int {
	hangul, other := false, false
	for i, r := range segment {
		switch {
		case r < 0x1100, 0xff10 <= r && r <= 0xff5a: // full width ends the range
			other = other || classOf(r) == classWord && !unicode.Is(unicode.M, r)
		case unicode.Is(unicode.Hangul, r):
			hangul = true
		}
		if hangul && other {
			return i
		}
	}
	return len(segment)
}

// word takes a segment that begins with a letter or digit and ends with one;
// plain says that it is nothing else.
func (t *tokenizer) word(start, end int, plain bool) {
	if t.chainParts == 0 || start != t.chainEnd {
		t.endChain()
		t.chainStart = start
	}
	t.chainEnd = end
	t.chainParts++
	if plain {
		t.yield(token{t.text[start:end], start, end, word})
	} else {
		t.parts(start, end)
	}
	if rest := t.text[end:]; rest != "" && (rest[0] == '+' || rest[0] == '#') {
		t.code(start, end, rest)
	}
}

// parts yields a segment that UAX 29 keeps whole although a sign is in it, such
// as 3.14 or O'Reilly, as its parts and as the whole without the sign. A part
// of one letter means nothing by itself.
func (t *tokenizer) parts(start, end int) {
	segment := t.text[start:end]
	if cut := indexSign(segment); cut < 0 {
		t.yield(token{segment, start, end, word})
		return
	}
	whole := word
	for at := start; at < end; {
		n := indexSign(t.text[at:end])
		if n < 0 {
			n = end - at
		}
		if part := t.text[at : at+n]; utf8.RuneCountInString(part) > 1 {
			t.yield(token{part, at, at + n, word})
			whole = compound
		}
		_, sign := utf8.DecodeRuneInString(t.text[at+n : end])
		at += n + sign
	}
	if joined := withoutSigns(segment); joined != "" {
		t.yield(token{joined, start, end, whole})
	}
}

// code yields C++ for a C before two plus signs, and C# for one before a hash
// that starts nothing of its own.
func (t *tokenizer) code(start, end int, rest string) {
	sign := ""
	switch {
	case strings.HasPrefix(rest, "++"):
		sign = "++"
	case rest[0] == '#' && (len(rest) == 1 || !isAlnum(rest[1]) && rest[1] != '#'):
		sign = "#"
	default:
		return
	}
	name := t.text[start:end]
	if indexSign(name) >= 0 || len(name) > maxCompoundBytes {
		return
	}
	t.yield(token{t.text[start : end+len(sign)], start, end + len(sign), code})
}

func (t *tokenizer) endChain() {
	if t.chainParts > 1 && t.chainParts <= maxCodeParts && t.chainEnd-t.chainStart <= maxCompoundBytes {
		joined := withoutSigns(t.text[t.chainStart:t.chainEnd])
		if t.chainParts <= maxCompoundParts || isNumbered(joined) {
			t.yield(token{joined, t.chainStart, t.chainEnd, compound})
		}
	}
	t.chainParts = 0
}

// endRun yields the letters and the pairs of neighbouring letters of a run.
func (t *tokenizer) endRun() {
	if t.runEnd == 0 {
		return
	}
	start, end := t.runStart, t.runEnd
	t.runStart, t.runEnd = 0, 0

	before, beforeStart, n := "", 0, 0
	for at := start; at < end; n++ {
		size, first := clusterSize(t.text[at:end])
		cluster := foldCluster(t.text[at:at+size], first)
		switch {
		case cluster == "":
			n--
		case n == 0 && at+size == end:
			t.yield(token{cluster, at, at + size, gram})
		default:
			if unicode.In(first, unicode.Han, unicode.Hangul) {
				t.yield(token{cluster, at, at + size, letter})
			}
			if n > 0 {
				pair := t.text[beforeStart : at+size]
				if len(pair) != len(before)+len(cluster) || !strings.HasPrefix(pair, before) || !strings.HasSuffix(pair, cluster) {
					pair = before + cluster
				}
				t.yield(token{pair, beforeStart, at + size, gram})
			}
		}
		if cluster != "" {
			before, beforeStart = cluster, at
		}
		at += size
	}
}

// clusterSize returns the bytes of the letter that s begins with, its marks
// included.
func clusterSize(s string) (size int, first rune) {
	first, size = utf8.DecodeRuneInString(s)
	for size < len(s) {
		r, n := utf8.DecodeRuneInString(s[size:])
		if !unicode.Is(unicode.M, r) && !unicode.Is(unicode.Cf, r) && r != 0xff9e && r != 0xff9f {
			break
		}
		size += n
	}
	return size, first
}

func foldCluster(s string, first rune) string {
	if 0x4e00 <= first && first <= 0x9fff && len(s) == 3 {
		return s // an ideograph in its only form
	}
	return fold(s)
}

type runeClass uint8

const (
	classNone runeClass = iota
	classWord
	classGram
)

func classOf(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		if isAlnum(byte(r)) {
			return classWord
		}
		return classNone
	case r < 0x0e00:
		if unicode.In(r, unicode.L, unicode.N, unicode.M) {
			return classWord
		}
		return classNone
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar), r == 'ー', r == 'ｰ', r == 0xff9e, r == 0xff9f:
		if unicode.In(r, unicode.L, unicode.M, unicode.Nl) {
			return classGram
		}
		if unicode.Is(unicode.Nd, r) {
			return classWord
		}
		return classNone
	case unicode.In(r, unicode.L, unicode.N, unicode.M):
		return classWord
	}
	return classNone
}

// isNumbered reports whether a word, without signs in it, is one of a number's
// kind: an ISBN, a part's or a telephone's number, a date, but not covid19 or
// 16inch. Half of it at least are digits, and there are three.
func isNumbered(s string) bool {
	digits := 0
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			digits++
		}
	}
	return digits >= 3 && 2*digits >= len(s)
}

func isHyphen(r rune) bool { return r == '-' || r == '‐' || r == '‑' }

func isAlnum(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// indexSign returns the place of the first rune of a word segment that is
// neither letter, digit, mark nor an invisible format character; -1 if none is.
func indexSign(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			n := strings.IndexFunc(s[i:], isSign)
			if n < 0 {
				return -1
			}
			return i + n
		}
		if !isAlnum(s[i]) {
			return i
		}
	}
	return -1
}

func isSign(r rune) bool {
	if r < utf8.RuneSelf {
		return !isAlnum(byte(r))
	}
	return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf)
}

func withoutSigns(s string) string {
	var short [maxCompoundBytes]byte
	b := short[:0]
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(func(r rune) rune {
				if isSign(r) {
					return -1
				}
				return r
			}, s)
		}
		if isAlnum(s[i]) {
			b = append(b, s[i])
		}
	}
	return string(b)
}
