package embedded

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
)

// indexed is a document to be written into a segment.
type indexed struct {
	url   string
	terms terms
}

// segmentBuilder builds segments. It is not safe for concurrent use; what it
// allocates serves for the next one.
type segmentBuilder struct {
	at       []uint32 // by term number: its place in distinct, where that place is of it
	distinct []termList
	postings []posting
}

// termList is a term of the segment being built; its postings are those up to
// end that are not of the one before.
type termList struct {
	prefix         uint64 // the first bytes of the term, which settle most comparisons
	id, count, end uint32
}

// build returns the body of a segment of docs, which are in the order of their
// URLs. Terms are numbers in names. The documents have no rows yet: see setID.
func (b *segmentBuilder) build(names []string, docs []indexed) []byte {
	if len(b.at) < len(names) {
		b.at = make([]uint32, len(names)+len(names)/4)
	}
	b.distinct = b.distinct[:0]
	for _, d := range docs {
		for _, c := range d.terms.counts {
			b.list(names, c.id).count++
		}
	}
	total := uint32(0)
	for i := range b.distinct {
		b.distinct[i].end = total // moves up as postings come in
		total += b.distinct[i].count
	}
	b.postings = slices.Grow(b.postings[:0], int(total))[:total]
	var w segmentWriter
	for i, d := range docs {
		w.document(0, []byte(d.url), lengthCode(d.terms.nameLength), lengthCode(d.terms.textLength), byte(d.terms.language))
		for _, c := range d.terms.counts {
			l := b.list(names, c.id)
			b.postings[l.end] = posting{uint32(i), c.name, c.text}
			l.end++
		}
	}
	slices.SortFunc(b.distinct, func(x, y termList) int {
		if c := cmp.Compare(x.prefix, y.prefix); c != 0 {
			return c
		}
		return strings.Compare(names[x.id], names[y.id])
	})
	for _, l := range b.distinct {
		w.term([]byte(names[l.id]), b.postings[l.end-l.count:l.end])
	}
	return w.finish()
}

func (b *segmentBuilder) list(names []string, id uint32) *termList {
	i := b.at[id]
	if int(i) >= len(b.distinct) || b.distinct[i].id != id {
		i = uint32(len(b.distinct))
		b.at[id] = i
		b.distinct = append(b.distinct, termList{id: id, prefix: prefixOf(names[id])})
	}
	return &b.distinct[i]
}

// prefixOf returns the first eight bytes of a term as a number of the same order.
func prefixOf(term string) uint64 {
	var b [8]byte
	copy(b[:], term)
	return binary.BigEndian.Uint64(b[:])
}

// setID writes the row of a document into the body of a segment.
func setID(body []byte, doc int, id int64) {
	putID(body[headerBytes+doc*idBytes:], id)
}

func putID(b []byte, id int64) {
	binary.LittleEndian.PutUint32(b, uint32(id))
	b[4] = byte(id >> 32)
}

// seal appends the checksum to the body of a segment.
func seal(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
}

// segmentWriter writes a segment: first all documents, in order, then all
// terms, in order.
type segmentWriter struct {
	docs                                         int
	ids, nameLengths, textLengths, languageBytes []byte
	urls, dictionary                             sortedWriter
	offsets, postings                            []byte
	list                                         []byte // of the term at hand
}

func (w *segmentWriter) document(id int64, url []byte, nameLength, textLength, language byte) {
	w.docs++
	w.ids = append(w.ids, 0, 0, 0, 0, 0)
	putID(w.ids[len(w.ids)-idBytes:], id)
	w.nameLengths = append(w.nameLengths, nameLength)
	w.textLengths = append(w.textLengths, textLength)
	w.languageBytes = append(w.languageBytes, language)
	w.urls.add(url)
}

func (w *segmentWriter) term(term []byte, list []posting) {
	if w.dictionary.n%blockStrings == 0 {
		w.offsets = binary.LittleEndian.AppendUint32(w.offsets, uint32(len(w.postings)))
	}
	w.dictionary.add(term)
	w.list = w.list[:0]
	before := -1
	for _, p := range list {
		w.list = appendPosting(w.list, before, p)
		before = int(p.doc)
	}
	w.postings = binary.AppendUvarint(w.postings, uint64(len(w.list)))
	w.postings = append(w.postings, w.list...)
}

// finish returns the body of the segment, with room for its checksum.
func (w *segmentWriter) finish() []byte {
	urls, dictionary := len(w.urls.blocks)+len(w.urls.data), len(w.dictionary.blocks)+len(w.dictionary.data)
	b := make([]byte, 0, headerBytes+w.docs*(idBytes+3)+urls+dictionary+len(w.offsets)+len(w.postings)+4)
	b = append(append(b, segmentMagic...), segmentFormat)
	for _, n := range []int{w.docs, w.dictionary.n, urls, dictionary, len(w.postings)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, part := range [][]byte{w.ids, w.nameLengths, w.textLengths, w.languageBytes} {
		b = append(b, part...)
	}
	b = w.urls.appendTo(b)
	b = w.dictionary.appendTo(b)
	return append(append(b, w.offsets...), w.postings...)
}

// part is a segment and those of its documents that are no more.
type part struct {
	*segment
	dead bitmap
}

// mergeSegments returns the body of one segment of the living documents of
// parts, of which no two have the same URL. It is the one that a segmentBuilder
// makes of these documents.
func mergeSegments(parts []part) ([]byte, error) {
	var w segmentWriter
	renumbered, err := mergeDocuments(&w, parts)
	if err != nil {
		return nil, err
	}
	if err := mergeTerms(&w, parts, renumbered); err != nil {
		return nil, err
	}
	return w.finish(), nil
}

// gone is the new number of a document that is not taken over.
const gone = ^uint32(0)

func mergeDocuments(w *segmentWriter, parts []part) ([][]uint32, error) {
	renumbered := make([][]uint32, len(parts))
	cursors := make([]*sortedCursor, len(parts))
	for i, p := range parts {
		renumbered[i] = make([]uint32, p.docs)
		cursors[i] = p.urls.cursor()
	}
	for {
		first := least(cursors)
		if first < 0 {
			break
		}
		c, p := cursors[first], parts[first]
		doc := c.i
		if p.dead.has(doc) {
			renumbered[first][doc] = gone
		} else {
			if w.docs > 0 && bytes.Compare(w.urls.last, c.current) >= 0 {
				return nil, damaged("the documents of an index segment are out of order")
			}
			renumbered[first][doc] = uint32(w.docs)
			w.document(p.id(doc), c.current, p.nameLengths[doc], p.textLengths[doc], p.languages[doc])
		}
		c.next()
	}
	return renumbered, anyBroken(cursors)
}

func mergeTerms(w *segmentWriter, parts []part, renumbered [][]uint32) error {
	cursors := make([]*sortedCursor, len(parts))
	for i, p := range parts {
		cursors[i] = p.dictionary.cursor()
	}
	var term []byte
	var list, merged []posting
	for {
		first := least(cursors)
		if first < 0 {
			return anyBroken(cursors)
		}
		term = append(term[:0], cursors[first].current...)
		if w.dictionary.n > 0 && bytes.Compare(w.dictionary.last, term) >= 0 {
			return damaged("the terms of an index segment are out of order")
		}
		merged = merged[:0]
		lists := 0
		for i, c := range cursors {
			if c.done() || !bytes.Equal(c.current, term) {
				continue
			}
			var err error
			if list, err = parts[i].postingsOf(c.i, list[:0]); err != nil {
				return err
			}
			for _, p := range list {
				if p.doc = renumbered[i][p.doc]; p.doc != gone {
					merged = append(merged, p)
				}
			}
			lists++
			c.next()
		}
		if lists > 1 {
			slices.SortFunc(merged, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
		}
		if len(merged) > 0 {
			w.term(term, merged)
		}
	}
}

// least returns the cursor with the least string; -1 where all are done.
func least(cursors []*sortedCursor) int {
	first := -1
	for i, c := range cursors {
		if !c.done() && (first < 0 || bytes.Compare(c.current, cursors[first].current) < 0) {
			first = i
		}
	}
	return first
}

func anyBroken(cursors []*sortedCursor) error {
	for _, c := range cursors {
		if c.broken {
			return damaged("a list of an index segment is cut off")
		}
	}
	return nil
}
