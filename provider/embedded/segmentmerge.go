package embedded

import (
	"bytes"
	"cmp"
)

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
	heads := heads{compare: func(a, b int) int { return bytes.Compare(cursors[a].current, cursors[b].current) }}
	for i, p := range parts {
		renumbered[i] = make([]uint32, p.docs)
		cursors[i] = p.urls.cursor()
		if !cursors[i].done() {
			heads.add(i)
		}
	}
	for len(heads.order) > 0 {
		first := heads.order[0]
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
		heads.moved(c.next())
	}
	for _, c := range cursors {
		if c.broken {
			return nil, damaged("the URLs of an index segment are cut off")
		}
	}
	return renumbered, nil
}

func mergeTerms(w *segmentWriter, parts []part, renumbered [][]uint32) error {
	cursors := make([]*dictionaryCursor, len(parts))
	heads := heads{compare: func(a, b int) int {
		if c := cmp.Compare(cursors[a].hash, cursors[b].hash); c != 0 {
			return c
		}
		return bytes.Compare(cursors[a].term, cursors[b].term)
	}}
	for i := range parts {
		cursors[i] = parts[i].terms.cursor()
		if !cursors[i].done {
			heads.add(i)
		}
	}
	var m listMerger
	for len(heads.order) > 0 {
		first := cursors[heads.order[0]]
		hash, term := first.hash, first.term
		m.list = m.list[:0]
		for len(heads.order) > 0 {
			i := heads.order[0]
			c := cursors[i]
			if c.hash != hash || !bytes.Equal(c.term, term) {
				break
			}
			if err := m.add(c.list, renumbered[i]); err != nil {
				return err
			}
			c.next()
			heads.moved(!c.done)
		}
		if len(m.list) > 0 {
			w.terms.add(hash, term, m.list, w.lengths)
		}
	}
	for _, c := range cursors {
		if c.broken != nil {
			return c.broken
		}
	}
	return nil
}

// listMerger makes one list of the postings of a term in several segments.
type listMerger struct {
	list   []posting
	reader postingReader
	other  []posting
}

// add adds the postings in a segment of which renumbered has the new numbers of
// the documents, which ascend.
func (m *listMerger) add(l postingList, renumbered []uint32) error {
	if err := m.reader.read(l, len(renumbered)); err != nil {
		return err
	}
	before := len(m.list)
	for {
		r := &m.reader
		if err := r.next(); err != nil {
			return err
		}
		if r.n == 0 {
			break
		}
		for i, doc := range r.docs[:r.n] {
			if doc = renumbered[doc]; doc == gone {
				continue
			}
			p := posting{doc: doc, text: r.texts[i]}
			if r.named {
				p.name = r.names[i]
			}
			m.list = append(m.list, p)
		}
	}
	if before > 0 && before < len(m.list) && m.list[before-1].doc > m.list[before].doc {
		m.merge(before)
	}
	return nil
}

// merge merges the two halves of list, of which the second begins at middle.
func (m *listMerger) merge(middle int) {
	m.other = append(m.other[:0], m.list[:middle]...)
	a, b, out := m.other, m.list[middle:], m.list[:0]
	for len(a) > 0 && len(b) > 0 {
		if a[0].doc < b[0].doc {
			out = append(out, a[0])
			a = a[1:]
		} else {
			out = append(out, b[0])
			b = b[1:]
		}
	}
	_ = append(out, a...) // what is left of b is in its place
}

// heads is the numbers of lists, the one whose head is the least on top, of equal
// ones the one with the least number.
type heads struct {
	order   []int
	compare func(a, b int) int
}

func (h *heads) less(a, b int) bool { return cmp.Or(h.compare(a, b), cmp.Compare(a, b)) < 0 }

func (h *heads) add(list int) {
	h.order = append(h.order, list)
	raiseLast(h.order, h.less)
}

// moved is called when the list on top has another head, or with more false, has
// none any more.
func (h *heads) moved(more bool) {
	if !more {
		last := len(h.order) - 1
		h.order[0] = h.order[last]
		h.order = h.order[:last]
	}
	sinkFirst(h.order, h.less)
}
