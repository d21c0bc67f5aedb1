package embedded

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// posting is a document that has a term, and how often in which field.
type posting struct {
	doc        uint32
	name, text uint32
}

// postingList is the postings of a term, in ascending order of documents, as a
// segment holds them. A list shorter than blockPostings is its postings one
// after another, each as appendPosting writes it. A longer one is cut into
// blocks of as many, the last of which may be shorter:
//
//	skips   of each block: its last document, and where it ends behind the
//	        skips, 4 bytes each; and its blockBounds, 6 bytes
//	blocks  the first ones packed, as appendBlock writes them; the last one, if
//	        it is shorter, as a short list
type postingList struct {
	n    int
	data []byte
}

const (
	blockPostings = 128
	skipBytes     = 14
)

// The kinds of posting: a number is 4*gap + kind, where gap is how many
// documents are between this one and the one before. Most words occur once in a
// text, and the words of a name are in the text once more.
const (
	postingOnce   = iota // once in the text
	postingBoth          // once in the name and once in the text
	postingText          // in the text, as often as the number that follows
	postingCounts        // in the name and in the text, as often as the two numbers that follow
)

// appendPosting appends p to b; before is the document before it, -1 for none.
func appendPosting(b []byte, before int, p posting) []byte {
	gap := uint64(int(p.doc)-before-1) << 2
	switch {
	case p.name == 0 && p.text == 1:
		return binary.AppendUvarint(b, gap+postingOnce)
	case p.name == 1 && p.text == 1:
		return binary.AppendUvarint(b, gap+postingBoth)
	case p.name == 0:
		b = binary.AppendUvarint(b, gap+postingText)
	default:
		b = binary.AppendUvarint(b, gap+postingCounts)
		b = binary.AppendUvarint(b, uint64(p.name))
	}
	return binary.AppendUvarint(b, uint64(p.text))
}

// postingBytes returns the length of the posting that b begins with.
func postingBytes(b []byte) (int, bool) {
	v, rest, ok := cutUvarint(b)
	if kind := v & 3; ok && kind >= postingText {
		if _, rest, ok = cutUvarint(rest); ok && kind == postingCounts {
			_, rest, ok = cutUvarint(rest)
		}
	}
	return len(b) - len(rest), ok
}

// maxCount bounds how often a term occurs in a document.
const maxCount = 1 << 31

func cutCount(b []byte) (uint32, []byte, bool) {
	v, rest, ok := cutUvarint(b)
	return uint32(v), rest, ok && v <= maxCount
}

// appendPostings appends the postings of a term that more than one document
// has.
func appendPostings(b []byte, list []posting, lengths fieldLengths) []byte {
	if len(list) < blockPostings {
		return appendShort(b, -1, list)
	}
	skips := len(b)
	b = append(b, make([]byte, skipBytes*((len(list)+blockPostings-1)/blockPostings))...)
	start, before := len(b), -1
	for at := skips; len(list) > 0; at += skipBytes {
		block := list[:min(len(list), blockPostings)]
		list = list[len(block):]
		if len(block) == blockPostings {
			b = appendBlock(b, before, block)
		} else {
			b = appendShort(b, before, block)
		}
		before = int(block[len(block)-1].doc)
		binary.LittleEndian.PutUint32(b[at:], uint32(before))
		binary.LittleEndian.PutUint32(b[at+4:], uint32(len(b)-start))
		boundsOf(block, lengths).put(b[at+8:])
	}
	return b
}

func appendShort(b []byte, before int, list []posting) []byte {
	for _, p := range list {
		b = appendPosting(b, before, p)
		before = int(p.doc)
	}
	return b
}

// appendBlock appends blockPostings postings: how many bits a number takes in
// each of the columns that follow, 1 byte each; the least number of occurrences
// in a text, a uvarint; and the columns: gaps (see appendPosting), occurrences
// in texts beyond the least, and in names.
func appendBlock(b []byte, before int, list []posting) []byte {
	var gaps, texts, names [blockPostings]uint32
	var allGaps, allTexts, allNames uint32
	least := list[0].text
	for _, p := range list {
		least = min(least, p.text)
	}
	for i, p := range list {
		gaps[i] = p.doc - uint32(before+1)
		before = int(p.doc)
		texts[i], names[i] = p.text-least, p.name
		allGaps, allTexts, allNames = allGaps|gaps[i], allTexts|texts[i], allNames|names[i]
	}
	b = append(b, byte(bits.Len32(allGaps)), byte(bits.Len32(allTexts)), byte(bits.Len32(allNames)))
	b = binary.AppendUvarint(b, uint64(least))
	b = appendPacked(b, &gaps, bits.Len32(allGaps))
	b = appendPacked(b, &texts, bits.Len32(allTexts))
	return appendPacked(b, &names, bits.Len32(allNames))
}

// packedBytes is the length of blockPostings numbers of a number of bits.
func packedBytes(width int) int { return width * blockPostings / 8 }

func appendPacked(b []byte, values *[blockPostings]uint32, width int) []byte {
	var buffer uint64
	have := 0
	for _, v := range values {
		if width == 0 {
			break
		}
		buffer |= uint64(v) << have
		if have += width; have >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(buffer))
			buffer >>= 32
			have -= 32
		}
	}
	return b // a multiple of 128 bits
}

// unpack reads numbers of width bits, at most 32, of which b has blockPostings.
func unpack(values *[blockPostings]uint32, b []byte, width int) {
	var padded [packedMax + 8]byte
	if len(b) < packedBytes(width)+8 {
		b = padded[:copy(padded[:packedMax], b)+8]
	}
	mask := uint64(1)<<width - 1
	at := 0
	for i := range values {
		values[i] = uint32(binary.LittleEndian.Uint64(b[at>>3:]) >> (at & 7) & mask)
		at += width
	}
}

const packedMax = 32 * blockPostings / 8

// blockBounds bounds what the documents of a block count in a ranking, whatever
// the lengths of other documents are: no document has the term as often in a
// text as short as one of two, or in a name as short as one.
type blockBounds struct {
	once  countedLength // of the texts that have it once at most
	more  countedLength // of the other texts
	names countedLength
}

// countedLength is a number of occurrences in a field of a length. A count of
// manyTimes is that many or more; one of 0 says that there is no such field.
type countedLength struct{ count, length byte }

const manyTimes = 255

// unbounded is the bounds of a list that says none.
var unbounded = blockBounds{more: countedLength{count: manyTimes}}

// fieldLengths is the codes of the lengths of each document's fields.
type fieldLengths struct{ names, texts []byte }

func boundsOf(list []posting, lengths fieldLengths) blockBounds {
	var b blockBounds
	for _, p := range list {
		if p.text > 1 {
			b.more.add(p.text, lengths.texts[p.doc])
		} else {
			b.once.add(p.text, lengths.texts[p.doc])
		}
		b.names.add(p.name, lengths.names[p.doc])
	}
	return b
}

// amount is the most that a document within the bounds counts.
func (b blockBounds) amount(n *norms) float64 {
	return b.names.amount(&n.name) + max(b.once.amount(&n.text), b.more.amount(&n.text))
}

func (c countedLength) amount(norm *[256]float64) float64 {
	if c.count == manyTimes {
		return math.Inf(1)
	}
	return float64(c.count) * norm[c.length]
}

func (c *countedLength) add(count uint32, length byte) {
	if count == 0 {
		return
	}
	if c.count == 0 || length < c.length {
		c.length = length
	}
	c.count = max(c.count, byte(min(count, manyTimes)))
}

func (b blockBounds) put(raw []byte) {
	raw[0], raw[1], raw[2], raw[3], raw[4], raw[5] = b.once.count, b.once.length, b.more.count, b.more.length, b.names.count, b.names.length
}

func readBounds(raw []byte) blockBounds {
	_ = raw[5]
	return blockBounds{countedLength{raw[0], raw[1]}, countedLength{raw[2], raw[3]}, countedLength{raw[4], raw[5]}}
}
