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
//	terms      a dictionary
//	postings   of the terms that more than one document has, each a postingList
//	checksum   CRC-32C of all that is before it
type segment struct {
	docs                     int
	ids                      []byte
	nameLengths, textLengths []byte
	languages                []byte
	urls                     sortedStrings
	terms                    dictionary
	size                     int
}

const (
	segmentMagic  = "SPsg"
	segmentFormat = 2
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
	body, sum := raw[:len(raw)-4], binary.LittleEndian.Uint32(raw[len(raw)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, damaged("an index segment of %d bytes does not match its checksum", len(raw))
	}
	if raw[4] != segmentFormat {
		return nil, damaged("an index segment has the format %d, and this program reads the format %d", raw[4], segmentFormat)
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
	if headerBytes+docs*(idBytes+3)+urls+dictionary+postings != int64(len(body)) {
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
	dict := cut(dictionary)
	s.terms, okTerms = openDictionary(dict, int(terms), cut(postings))
	if !okURLs || !okTerms {
		return nil, damaged("the lists of an index segment are too short")
	}
	return s, nil
}

// id returns the row of a document.
func (s *segment) id(doc int) int64 {
	b := s.ids[doc*idBytes:]
	return int64(binary.LittleEndian.Uint32(b)) | int64(b[4])<<32
}

// find returns the number of the document with this URL.
func (s *segment) find(url string) (int, bool) { return s.urls.find(url) }

// term appends to list the postings of a term.
func (s *segment) term(term string, list []posting) ([]posting, error) {
	found, err := s.terms.find(term, hashTerm([]byte(term)))
	if err != nil {
		return list, err
	}
	return found.appendTo(list, s.docs)
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

// anyIn reports whether a document from one number up to another, exclusive, is in
// m.
func (m bitmap) anyIn(from, to int) bool {
	to = min(to, 8*len(m))
	for doc := from; doc < to; {
		if doc&7 == 0 && m[doc>>3] == 0 {
			doc += 8
		} else if m.has(doc) {
			return true
		} else {
			doc++
		}
	}
	return false
}

// with returns m with doc in it; n is the number of documents of the segment.
func (m bitmap) with(doc, n int) bitmap {
	if size := (n + 7) / 8; len(m) < size {
		m = append(m, make(bitmap, size-len(m))...)
	}
	m[doc>>3] |= 1 << (doc & 7)
	return m
}
