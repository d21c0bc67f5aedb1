package embedded

import (
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
	distinct []countedTerm
	order    []uint64 // of distinct: a hash, then a place
	postings []posting
}

// countedTerm is a term of the segment being built; its postings are the count
// ones before end.
type countedTerm struct{ id, count, end uint32 }

// build returns the body of a segment of docs, which are in the order of their
// URLs. Terms are numbers in names. The documents have no rows yet: see setID.
func (b *segmentBuilder) build(names []string, docs []indexed) []byte {
	if len(b.at) < len(names) {
		b.at = make([]uint32, len(names)+len(names)/4)
	}
	b.distinct = b.distinct[:0]
	for _, d := range docs {
		for _, c := range d.terms.counts {
			b.term(c.id).count++
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
			t := b.term(c.id)
			b.postings[t.end] = posting{uint32(i), c.name, c.text}
			t.end++
		}
	}
	b.sort(names)
	for _, o := range b.order {
		t := b.distinct[uint32(o)]
		w.terms.add(uint32(o>>32), []byte(names[t.id]), b.postings[t.end-t.count:t.end], w.lengths)
	}
	return w.finish()
}

func (b *segmentBuilder) term(id uint32) *countedTerm {
	i := b.at[id]
	if int(i) >= len(b.distinct) || b.distinct[i].id != id {
		i = uint32(len(b.distinct))
		b.at[id] = i
		b.distinct = append(b.distinct, countedTerm{id: id})
	}
	return &b.distinct[i]
}

// sort puts distinct in the order of a dictionary.
func (b *segmentBuilder) sort(names []string) {
	b.order = b.order[:0]
	for i, t := range b.distinct {
		b.order = append(b.order, uint64(hashTerm([]byte(names[t.id])))<<32|uint64(i))
	}
	slices.Sort(b.order)
	name := func(o uint64) string { return names[b.distinct[uint32(o)].id] }
	for i := 0; i < len(b.order); {
		same := i + 1
		for same < len(b.order) && b.order[same]>>32 == b.order[i]>>32 {
			same++
		}
		if same > i+1 {
			slices.SortFunc(b.order[i:same], func(x, y uint64) int { return strings.Compare(name(x), name(y)) })
		}
		i = same
	}
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
	docs      int
	ids       []byte
	lengths   fieldLengths
	languages []byte
	urls      sortedWriter
	terms     dictionaryWriter
}

func (w *segmentWriter) document(id int64, url []byte, nameLength, textLength, language byte) {
	w.docs++
	w.ids = append(w.ids, 0, 0, 0, 0, 0)
	putID(w.ids[len(w.ids)-idBytes:], id)
	w.lengths.names = append(w.lengths.names, nameLength)
	w.lengths.texts = append(w.lengths.texts, textLength)
	w.languages = append(w.languages, language)
	w.urls.add(url)
}

// finish returns the body of the segment, with room for its checksum.
func (w *segmentWriter) finish() []byte {
	urls := len(w.urls.blocks) + len(w.urls.data)
	b := make([]byte, headerBytes, headerBytes+w.docs*(idBytes+3)+urls+w.terms.size()+len(w.terms.postings)+4)
	for _, part := range [][]byte{w.ids, w.lengths.names, w.lengths.texts, w.languages} {
		b = append(b, part...)
	}
	b = w.urls.appendTo(b)
	dictionary := len(b)
	b = w.terms.appendTo(b)
	dictionary = len(b) - dictionary
	b = append(b, w.terms.postings...)
	copy(b, segmentMagic)
	b[len(segmentMagic)] = segmentFormat
	for i, n := range []int{w.docs, len(w.terms.ends), urls, dictionary, len(w.terms.postings)} {
		binary.LittleEndian.PutUint32(b[len(segmentMagic)+1+4*i:], uint32(n))
	}
	return b
}
