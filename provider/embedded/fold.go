package embedded

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTermBytes bounds a term. Longer words are cut, alike in documents and
// queries: nobody types them, and a dictionary need not hold them whole.
const maxTermBytes = 64

// fold returns the form under which a word is compared: compatibility forms
// (full and half width, ligatures) replaced, case folded, and accents removed
// where they are an addition to a letter. Marks that are vowels or tones, as in
// the scripts of India and South-East Asia, and letters of their own, such as
// the Cyrillic short i, stay. The result is empty for what has no letter or
// digit in it.
func fold(word string) string {
	if isASCII(word) {
		return cutTerm(lowerASCII(word))
	}
	var b strings.Builder
	b.Grow(len(word))
	for _, r := range norm.NFKC.String(word) {
		foldRune(&b, r)
	}
	folded := b.String()
	if strings.Contains(folded, "\u094d") {
		folded = nasals.Replace(folded)
	}
	return cutTerm(folded)
}

// nasals writes a nasal of Devanagari before a consonant of its own row as the
// dot that may stand for it: हिंदी for हिन्दी.
var nasals = strings.NewReplacer(nasalRows("ङकखगघ", "ञचछजझ", "णटठडढ", "नतथदध", "मपफबभ")...)

func nasalRows(rows ...string) []string {
	var pairs []string
	for _, row := range rows {
		letters := []rune(row)
		for _, c := range letters[1:] {
			pairs = append(pairs, string([]rune{letters[0], 0x94d, c}), string([]rune{0x902, c}))
		}
	}
	return pairs
}

func foldRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		b.WriteByte(byte(r))
		return
	}
	r = unicode.ToLower(r)
	if s, ok := foldedAs[r]; ok {
		b.WriteString(s)
		return
	}
	switch {
	case isDroppedMark(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
	case unicode.Is(unicode.Nd, r):
		b.WriteByte('0' + digitValue(r))
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Arabic):
		base := norm.NFD.PropertiesString(string(r)).Decomposition()
		if base == nil {
			b.WriteRune(r)
			return
		}
		for _, d := range string(base) {
			if s, ok := foldedAs[d]; ok {
				b.WriteString(s)
			} else if !isDroppedMark(d) {
				b.WriteRune(d)
			}
		}
	default:
		b.WriteRune(r)
	}
}

// foldedAs holds what no decomposition of Unicode's says: letters with a
// stroke, letters that are two, variants of one letter at a word's end or on
// another keyboard, and what is dropped.
var foldedAs = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l",
	'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t", 'ĸ': "k", 'ſ': "s",
	'ς': "σ",
	'ё': "е",
	'ى': "ي", 'ی': "ي", 'ک': "ك", 'ة': "ه", 'ٱ': "ا", 'ـ': "",
	'़': "", // nukta
	'ँ': "ं",
}

// isDroppedMark reports whether r is a mark that adds to a letter without which
// the word is still read: accents, and the optional vowels of Arabic and
// Hebrew.
func isDroppedMark(r rune) bool {
	switch {
	case 0x0300 <= r && r <= 0x036f, // combining diacritical marks
		0x0591 <= r && r <= 0x05c7,                                                                      // Hebrew points
		0x0610 <= r && r <= 0x061a, 0x064b <= r && r <= 0x065f, r == 0x0670, 0x06d6 <= r && r <= 0x06ed, // Arabic
		0x1ab0 <= r && r <= 0x1aff, 0x1dc0 <= r && r <= 0x1dff, 0x20d0 <= r && r <= 0x20ff, 0xfe20 <= r && r <= 0xfe2f:
		return unicode.Is(unicode.M, r)
	}
	return false
}

// digitValue returns the value of a decimal digit of any script. Unicode
// encodes each script's ten in a row.
func digitValue(r rune) byte {
	n := byte(0)
	for unicode.Is(unicode.Nd, r-1) {
		r--
		n++
	}
	return n % 10
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}

func cutTerm(s string) string {
	if len(s) <= maxTermBytes {
		return s
	}
	end := maxTermBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
