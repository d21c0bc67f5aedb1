package embedded

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// segment is the index of some of a site's documents. It never changes once it
// is written. Its documents are numbered in the byte order of their URLs, so
// that numbers break ties as the ranking wants them broken. In its bytes,
// numbers are little-endian, and sections follow one another without gaps:
//
//	header     magic, format, then documents, terms, and the bytes of urls,
//	           dictionary and postings, 4 bytes each
//	ids        the number of each document's row, 5 bytes
//	lengths    of each document's name, then of each one's text, 1 byte (see lengthCode)
//	languages  of each document, 1 byte
//	urls       of the documents, a sortedStrings
//	dictionary the terms, a sortedStrings
//	offsets    where the postings of every blockStrings-th term begin, 4 bytes
//	postings   of each term: their length in bytes, a uvarint, and each as
//	           appendPosting writes it
//	checksum   CRC-32C of all that is before it
type segment struct {
	docs                     int
	ids                      []byte
	nameLengths, textLengths []byte
	languages                []byte
	urls, dictionary         sortedStrings
	offsets, postings        []byte
	size                     int
}

const (
	segmentMagic  = "SPsg"
	segmentFormat = 1
	headerBytes   = 4 + 1 + 5*4
	idBytes       = 5
	maxRowID      = 1<<(8*idBytes) - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openSegment reads a segment in place. An error says what is wrong with it; a
// segment of which no error is reported may still be nonsense, and then its
// methods report so, or find nothing.
func openSegment(raw []byte) (*segment, error) {
	if len(raw) < headerBytes+4 || string(raw[:4]) != segmentMagic {
		return nil, damaged("an index segment of %d bytes is not one", len(raw))
	}
	if raw[4] != segmentFormat {
		return nil, damaged("an index segment has the format %d, and %d is the only one", raw[4], segmentFormat)
	}
	body, sum := raw[:len(raw)-4], binary.LittleEndian.Uint32(raw[len(raw)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, damaged("an index segment of %d bytes does not match its checksum", len(raw))
	}
	return parseSegment(body)
}

// parseSegment is openSegment behind the checksum.
func parseSegment(body []byte) (*segment, error) {
	var sizes [5]int64
	for i := range sizes {
		sizes[i] = int64(binary.LittleEndian.Uint32(body[5+4*i:]))
	}
	docs, terms, urls, dictionary, postings := sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
	offsets := 4 * ((terms + blockStrings - 1) / blockStrings)
	if headerBytes+docs*(idBytes+3)+urls+dictionary+offsets+postings != int64(len(body)) {
		return nil, damaged("an index segment of %d documents and %d terms has the wrong length %d", docs, terms, len(body))
	}
	s := &segment{docs: int(docs), size: len(body) + 4}
	rest := body[headerBytes:]
	cut := func(n int64) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	s.ids = cut(docs * idBytes)
	s.nameLengths, s.textLengths, s.languages = cut(docs), cut(docs), cut(docs)
	var okURLs, okTerms bool
	s.urls, okURLs = openSorted(cut(urls), int(docs))
	s.dictionary, okTerms = openSorted(cut(dictionary), int(terms))
	if !okURLs || !okTerms {
		return nil, damaged("the lists of an index segment are too short")
	}
	s.offsets, s.postings = cut(offsets), cut(postings)
	return s, nil
}

// id returns the row of a document.
func (s *segment) id(doc int) int64 {
	b := s.ids[doc*idBytes:]
	return int64(binary.LittleEndian.Uint32(b)) | int64(b[4])<<32
}

// find returns the number of the document with this URL.
func (s *segment) find(url string) (int, bool) { return s.urls.find(url) }

// posting is a document that has a term, and how often in which field.
type posting struct {
	doc        uint32
	name, text uint32
}

// term appends to list the postings of a term, in ascending order of documents.
func (s *segment) term(term string, list []posting) ([]posting, error) {
	i, ok := s.dictionary.find(term)
	if !ok {
		return list, nil
	}
	return s.postingsOf(i, list)
}

func (s *segment) postingsOf(i int, list []posting) ([]posting, error) {
	at := binary.LittleEndian.Uint32(s.offsets[4*(i/blockStrings):])
	if uint64(at) > uint64(len(s.postings)) {
		return list, damaged("the postings of an index segment are out of place")
	}
	rest := s.postings[at:]
	var b []byte
	for range i%blockStrings + 1 {
		var ok bool
		if b, rest, ok = cutBytes(rest); !ok {
			return list, damaged("the postings of an index segment are cut off")
		}
	}
	doc := -1
	for len(b) > 0 {
		v, rest, ok := cutUvarint(b)
		gap := v >> 2
		if !ok || gap >= uint64(s.docs-doc-1) {
			return list, damaged("a posting of an index segment is out of range")
		}
		doc += 1 + int(gap)
		p := posting{doc: uint32(doc), text: 1}
		switch v & 3 {
		case postingBoth:
			p.name = 1
		case postingText:
			p.text, rest, ok = cutCount(rest)
		case postingCounts:
			if p.name, rest, ok = cutCount(rest); ok {
				p.text, rest, ok = cutCount(rest)
			}
		}
		if !ok {
			return list, damaged("a posting of an index segment is cut off")
		}
		b = rest
		list = append(list, p)
	}
	return list, nil
}

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

func cutCount(b []byte) (uint32, []byte, bool) {
	v, rest, ok := cutUvarint(b)
	return uint32(v), rest, ok && v <= 1<<31
}

// lengthCode returns the code of a length in words: exact up to 32, then in
// steps of about 6 %, up to far more words than a document can have.
func lengthCode(words uint32) byte {
	i, found := slices.BinarySearch(lengthOf[:], words)
	if !found {
		i--
	}
	return byte(i)
}

// lengthOf is the length that a code stands for.
var lengthOf = func() (table [256]uint32) {
	for i := 1; i < len(table); i++ {
		table[i] = table[i-1] + max(1, table[i-1]/16)
	}
	return table
}()

// bitmap is a set of documents of a segment; nil is the empty set.
type bitmap []byte

func (m bitmap) has(doc int) bool { return doc>>3 < len(m) && m[doc>>3]&(1<<(doc&7)) != 0 }

func (m bitmap) count() int {
	n := 0
	for _, b := range m {
		n += bits.OnesCount8(b)
	}
	return n
}

// with returns m with doc in it; n is the number of documents of the segment.
func (m bitmap) with(doc, n int) bitmap {
	if size := (n + 7) / 8; len(m) < size {
		m = append(m, make(bitmap, size-len(m))...)
	}
	m[doc>>3] |= 1 << (doc & 7)
	return m
}
