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

// postingReader reads the postings of a term, block by block.
type postingReader struct {
	// The block at hand, of which the postings before at have been used.
	docs, texts, names [blockPostings]uint32
	at, n              int
	named              bool // whether any of names is not 0
	bounds             blockBounds

	limit  int    // the number of documents of the segment
	left   int    // postings behind the block at hand
	before int    // the last document of the block at hand; -1 before the first
	skips  []byte // of the blocks that are left; nil in a short list
	start  int    // where the next one begins
	data   []byte // the blocks, or the whole of a short list
}

// read begins with the first block of list, in a segment of limit documents.
func (r *postingReader) read(list postingList, limit int) error {
	r.at, r.n, r.limit, r.left, r.before = 0, 0, limit, list.n, -1
	r.skips, r.start, r.data = nil, 0, list.data
	if list.n > limit {
		return damagedPostings()
	}
	if list.n >= blockPostings {
		size := skipBytes * ((list.n + blockPostings - 1) / blockPostings)
		if len(list.data) < size {
			return damagedPostings()
		}
		r.skips, r.data = list.data[:size], list.data[size:]
	}
	return nil
}

// next reads the next block; behind the last one n is 0.
func (r *postingReader) next() error {
	r.at, r.n = 0, min(r.left, blockPostings)
	if r.n == 0 {
		return nil
	}
	r.left -= r.n
	if r.skips == nil {
		r.bounds = unbounded
		return r.readShort(r.data)
	}
	r.bounds = readBounds(r.skips[8:])
	last, end := int(binary.LittleEndian.Uint32(r.skips)), int(binary.LittleEndian.Uint32(r.skips[4:]))
	r.skips = r.skips[skipBytes:]
	if end < r.start || end > len(r.data) {
		return r.fail()
	}
	block := r.data[r.start:end]
	r.start = end
	if r.n < blockPostings {
		return r.readShort(block)
	}
	if err := r.readBlock(block); err != nil {
		return err
	}
	if r.before != last {
		return r.fail()
	}
	return nil
}

// skip passes over the next block, which is whole, without reading it.
func (r *postingReader) skip() error {
	last, end := int(binary.LittleEndian.Uint32(r.skips)), int(binary.LittleEndian.Uint32(r.skips[4:]))
	if last <= r.before || last >= r.limit || end < r.start || end > len(r.data) {
		return r.fail()
	}
	r.at, r.n = 0, 0
	r.left -= blockPostings
	r.before, r.start, r.skips = last, end, r.skips[skipBytes:]
	return nil
}

// seek moves on to the first posting of a document from doc on, if it is not there
// yet, past whole blocks without reading them.
func (r *postingReader) seek(doc uint32) error {
	for {
		if r.at < r.n && r.docs[r.n-1] >= doc {
			for r.docs[r.at] < doc {
				r.at++
			}
			return nil
		}
		if r.at = r.n; r.left == 0 {
			return nil
		}
		if r.skips != nil && r.left >= blockPostings && binary.LittleEndian.Uint32(r.skips) < doc {
			if err := r.skip(); err != nil {
				return err
			}
			continue
		}
		if err := r.next(); err != nil {
			return err
		}
	}
}

// most returns the most that a document from one number up to another,
// exclusive, counts in a ranking: T for one form with the weight 1. Postings
// before from are behind the reader.
func (r *postingReader) most(from, to uint32, n *norms) float64 {
	most := 0.0
	if r.at < r.n && r.docs[r.at] < to {
		most = r.bounds.amount(n)
	}
	if r.skips == nil {
		if r.left > 0 {
			most = unbounded.amount(n)
		}
		return most
	}
	before := r.before
	for skips := r.skips; len(skips) > 0 && before+1 < int(to); skips = skips[skipBytes:] {
		if before = int(binary.LittleEndian.Uint32(skips)); before >= int(from) {
			most = max(most, readBounds(skips[8:]).amount(n))
		}
	}
	return most
}

func (r *postingReader) fail() error {
	r.n, r.left = 0, 0
	return damagedPostings()
}

func damagedPostings() error {
	return damaged("the postings of an index segment are not what they should be")
}

// readShort reads n postings, which are all that b holds.
func (r *postingReader) readShort(b []byte) error {
	doc, counted := r.before, uint32(0)
	for i := range r.n {
		v, rest, ok := cutUvarint(b)
		gap := v >> 2
		if !ok || gap >= uint64(r.limit-doc-1) {
			return r.fail()
		}
		doc += 1 + int(gap)
		name, text := uint32(0), uint32(1)
		switch v & 3 {
		case postingBoth:
			name = 1
		case postingText:
			text, rest, ok = cutCount(rest)
		case postingCounts:
			if name, rest, ok = cutCount(rest); ok {
				text, rest, ok = cutCount(rest)
			}
		}
		if !ok {
			return r.fail()
		}
		b = rest
		r.docs[i], r.texts[i], r.names[i] = uint32(doc), text, name
		counted |= name
	}
	if len(b) > 0 {
		return r.fail()
	}
	r.before, r.named = doc, counted > 0
	return nil
}

// readBlock reads what appendBlock wrote.
func (r *postingReader) readBlock(b []byte) error {
	if len(b) < 4 || max(b[0], b[1], b[2]) > 32 {
		return r.fail()
	}
	gaps, texts, names := int(b[0]), int(b[1]), int(b[2])
	least, b, ok := cutCount(b[3:])
	if !ok || len(b) != packedBytes(gaps+texts+names) {
		return r.fail()
	}
	unpack(&r.docs, b, gaps)
	doc := int64(r.before)
	for i, gap := range r.docs {
		doc += 1 + int64(gap)
		r.docs[i] = uint32(doc)
	}
	if doc >= int64(r.limit) {
		return r.fail()
	}
	r.before = int(doc)
	b = b[packedBytes(gaps):]
	if texts == 0 {
		for i := range r.texts {
			r.texts[i] = least
		}
	} else {
		unpack(&r.texts, b, texts)
		for i := range r.texts {
			r.texts[i] += least
		}
	}
	if r.named = names > 0; r.named {
		unpack(&r.names, b[packedBytes(texts):], names)
	}
	return nil
}

// appendTo appends all postings to list.
func (l postingList) appendTo(list []posting, limit int) ([]posting, error) {
	var r postingReader
	if err := r.read(l, limit); err != nil {
		return list, err
	}
	for {
		if err := r.next(); err != nil || r.n == 0 {
			return list, err
		}
		for i := range r.n {
			p := posting{doc: r.docs[i], text: r.texts[i]}
			if r.named {
				p.name = r.names[i]
			}
			list = append(list, p)
		}
	}
}

// living returns how many of the documents of l are not in dead.
func (l postingList) living(dead bitmap, r *postingReader, limit int) (int, error) {
	if len(dead) == 0 {
		return l.n, nil
	}
	if err := r.read(l, limit); err != nil {
		return 0, err
	}
	n := l.n
	for {
		if r.skips != nil && r.left >= blockPostings {
			if last := int(binary.LittleEndian.Uint32(r.skips)); !dead.anyIn(r.before+1, last+1) {
				if err := r.skip(); err != nil {
					return 0, err
				}
				continue
			}
		}
		if err := r.next(); err != nil || r.n == 0 {
			return n, err
		}
		for _, doc := range r.docs[:r.n] {
			if dead.has(int(doc)) {
				n--
			}
		}
	}
}
