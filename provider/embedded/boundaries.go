package embedded

import "github.com/clipperhouse/uax29/v2/words"

// Unicode's word boundaries (UAX 29) go by a property of each character. Where
// a segment and what follows it is ASCII, or the letters of the Latin and
// Cyrillic scripts that take two bytes, few of the rules are left, and a table
// of bytes is all they need; github.com/clipperhouse/uax29 does the rest. A
// segment never depends on those before it, so that the two can take turns.

// boundaries finds the segments of a text, one after another.
type boundaries struct {
	text string
	full *words.Iterator[string] // made when the table does not suffice
}

// next returns the end of the segment that begins at start, and whether it is
// nothing but letters and digits.
func (b *boundaries) next(start int) (end int, plain bool) {
	switch class := byteClasses[b.text[start]]; {
	case class == byteBeyond || class == byteLead && !isTwoByteLetter(b.text, start):
	case class >= byteUnderscore:
		if end, plain, ok := wordSegment(b.text, start); ok {
			return end, plain
		}
	default:
		if end, ok := blankSegment(b.text, start, class); ok {
			return end, false
		}
	}
	if b.full == nil {
		b.full = words.FromString(b.text[start:])
	} else {
		b.full.SetText(b.text[start:])
	}
	b.full.Next()
	return start + b.full.End(), false
}

// byteClass is a byte's property, as far as it matters here.
type byteClass uint8

const (
	byteSign    byteClass = iota // always a segment of its own
	byteSpace                    // spaces stay together
	byteReturn                   // a carriage return, which a line feed may follow
	byteMiddle                   // between letters or between digits: . and '
	byteInWord                   // between letters: the colon
	byteInDigit                  // between digits: , and ;
	byteBeyond                   // of a character that the rules here are not for
	byteUnderscore
	byteDigit
	byteLetter
	byteLead // the first byte of a letter, nearly always; see isTwoByteLetter
)

var byteClasses = classifyBytes()

func classifyBytes() (classes [256]byteClass) {
	for c := range classes {
		switch c := byte(c); {
		case c == ' ':
			classes[c] = byteSpace
		case c == '\r':
			classes[c] = byteReturn
		case c == '.', c == '\'':
			classes[c] = byteMiddle
		case c == ':':
			classes[c] = byteInWord
		case c == ',', c == ';':
			classes[c] = byteInDigit
		case c == '_':
			classes[c] = byteUnderscore
		case '0' <= c && c <= '9':
			classes[c] = byteDigit
		case isAlnum(c):
			classes[c] = byteLetter
		case 0xc3 <= c && c <= 0xc8, c == 0xd0, c == 0xd1, c == 0xd3: // U+00C0 to U+023F, U+0400 to U+047F, U+04C0 to U+04FF
			classes[c] = byteLead
		case c >= 0x80:
			classes[c] = byteBeyond
		}
	}
	return classes
}

// isTwoByteLetter reports whether the byteLead at text[i] begins a letter: no
// sign of multiplication or division, and nothing cut off.
func isTwoByteLetter(text string, i int) bool {
	return i+1 < len(text) && text[i+1]&0xc0 == 0x80 && (text[i] != 0xc3 || text[i+1] != 0x97 && text[i+1] != 0xb7)
}

// wordSegment returns the end of the segment that begins with a letter, digit
// or underscore at start, and whether there is nothing but letters and digits
// in it. It is not ok where the rules here do not tell.
func wordSegment(text string, start int) (end int, plain, ok bool) {
	plain = true
	for i := start; ; {
		for i < len(text) && (byteClasses[text[i]] == byteLetter || byteClasses[text[i]] == byteDigit) {
			i++
		}
		if i == len(text) {
			return i, plain, true
		}
		switch class := byteClasses[text[i]]; class {
		case byteLead:
			if !isTwoByteLetter(text, i) {
				return 0, false, false
			}
			i += 2
		case byteBeyond:
			return 0, false, false
		case byteUnderscore:
			plain = false
			i++
		case byteMiddle, byteInWord, byteInDigit:
			joins, ok := joinsWord(text, i, class)
			if !ok {
				return 0, false, false
			}
			if !joins {
				return i, plain, true
			}
			plain = false
			i++
		default:
			return i, plain, true
		}
	}
}

// joinsWord reports whether the sign at text[i], which is not the first byte,
// keeps what is before and behind it together.
func joinsWord(text string, i int, class byteClass) (joins, ok bool) {
	if i+1 == len(text) {
		return false, true
	}
	next := byteClasses[text[i+1]]
	if next == byteBeyond || next == byteLead && !isTwoByteLetter(text, i+1) {
		return false, false
	}
	switch before := byteClasses[text[i-1]]; before {
	case byteUnderscore:
		return false, true
	case byteDigit:
		return class != byteInWord && next == byteDigit, true
	}
	return class != byteInDigit && (next == byteLetter || next == byteLead), true
}

// blankSegment returns the end of the segment that begins with a blank or sign
// at start. It is not ok where the rules here do not tell, because what follows
// may be a mark, or cut off.
func blankSegment(text string, start int, class byteClass) (end int, ok bool) {
	end = start + 1
	switch class {
	case byteReturn:
		if end < len(text) && text[end] == '\n' {
			end++
		}
	case byteSpace:
		for end < len(text) && text[end] == ' ' {
			end++
		}
	}
	if end == len(text) {
		return end, true
	}
	next := byteClasses[text[end]]
	return end, next != byteBeyond && (next != byteLead || isTwoByteLetter(text, end))
}
