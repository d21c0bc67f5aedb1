package embedded

import (
	"encoding/binary"
)

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
