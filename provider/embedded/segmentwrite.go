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
	id    int64
	url   string
	terms terms
}

// buildSegment returns the segment of docs, whose URLs are all different. It
// sorts docs.
func buildSegment(docs []indexed) []byte {
	slices.SortFunc(docs, func(a, b indexed) int { return strings.Compare(a.url, b.url) })
	var w segmentWriter
	at := make(map[string]int)
	var names []string
	var lists [][]posting
	for i, d := range docs {
		w.document(d.id, []byte(d.url), lengthCode(d.terms.nameLength), lengthCode(d.terms.textLength), byte(d.terms.language))
		for _, c := range d.terms.counts {
			n, ok := at[c.term]
			if !ok {
				n = len(lists)
				at[c.term] = n
				names = append(names, c.term)
				lists = append(lists, nil)
			}
			lists[n] = append(lists[n], posting{uint32(i), c.name, c.text})
		}
	}
	slices.Sort(names)
	for _, name := range names {
		w.term([]byte(name), lists[at[name]])
	}
	return w.finish()
}

// segmentWriter writes a segment: first all documents, in order, then all
// terms, in order.
type segmentWriter struct {
	docs                                         int
	ids, nameLengths, textLengths, languageBytes []byte
	urls, dictionary                             sortedWriter
	offsets, postings                            []byte
}

func (w *segmentWriter) document(id int64, url []byte, nameLength, textLength, language byte) {
	w.docs++
	w.ids = append(w.ids, byte(id), byte(id>>8), byte(id>>16), byte(id>>24), byte(id>>32))
	w.nameLengths = append(w.nameLengths, nameLength)
	w.textLengths = append(w.textLengths, textLength)
	w.languageBytes = append(w.languageBytes, language)
	w.urls.add(url)
}

func (w *segmentWriter) term(term []byte, list []posting) {
	w.dictionary.add(term)
	w.offsets = binary.LittleEndian.AppendUint32(w.offsets, uint32(len(w.postings)))
	before := -1
	for _, p := range list {
		w.postings = appendPosting(w.postings, before, p)
		before = int(p.doc)
	}
}

func (w *segmentWriter) finish() []byte {
	w.offsets = binary.LittleEndian.AppendUint32(w.offsets, uint32(len(w.postings)))
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
	b = append(append(b, w.offsets...), w.postings...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// part is a segment and those of its documents that are no more.
type part struct {
	*segment
	dead bitmap
}

// mergeSegments returns one segment of the living documents of parts. No two of
// them have the same URL. The result is the one that buildSegment makes of
// these documents.
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
