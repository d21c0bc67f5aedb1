package embedded

import (
	"bytes"
	"encoding/binary"
	"math"
)

// dictionary holds the terms of a segment, in the order of their hashes, and
// says for each how many documents have it and where they are listed. A search
// asks every segment for every term, most of which are in few of them; by its
// hash a term is found in two looks at memory, or seen to be missing, where a
// search among sorted terms takes a dozen. It is read in place:
//
//	buckets  for each, where in entries it begins, and where in the postings
//	         those of its terms begin, 4 bytes each
//	entries  of each bucket: the number of its terms, a uvarint; the last byte
//	         of each one's hash; and each one's entry, in the order of the
//	         hashes, terms of the same hash in byte order:
//	         len(term) term documents rest
//
// where rest is the posting itself of a term that one document has, and else
// the length of the postings in bytes, a uvarint as the other numbers.
//
// The bytes come from a file: whatever they are, no method panics, and all end.
type dictionary struct {
	n        int
	buckets  []byte
	entries  []byte
	postings []byte
}

const (
	bucketTerms = 8 // on average
	bucketBytes = 8
)

func bucketsFor(terms int) int { return (terms + bucketTerms - 1) / bucketTerms }

// bucketOf returns the one of n buckets that a hash falls into.
func bucketOf(hash uint32, n int) int { return int(uint64(hash) * uint64(n) >> 32) }

// openDictionary returns the dictionary of n terms in raw.
func openDictionary(raw []byte, n int, postings []byte) (dictionary, bool) {
	size := bucketBytes * bucketsFor(n)
	if len(raw) < size {
		return dictionary{}, false
	}
	return dictionary{n, raw[:size:size], raw[size:], postings}, true
}

// hashTerm returns the hash of a term. It is part of the format of a segment.
func hashTerm(term []byte) uint32 {
	const factor = 0x9e3779b97f4a7c15
	h := uint64(len(term)) * factor
	for ; len(term) >= 8; term = term[8:] {
		h = (h ^ binary.LittleEndian.Uint64(term)) * factor
		h ^= h >> 32
	}
	var last uint64
	for i, c := range term {
		last |= uint64(c) << (8 * i)
	}
	h = (h ^ last) * factor
	h ^= h >> 29
	return uint32(h * factor >> 32)
}

// find returns the postings of a term, none where it is not there.
func (d *dictionary) find(term string, hash uint32) (postingList, error) {
	if d.n == 0 {
		return postingList{}, nil
	}
	return d.findIn(d.placeOf(hash), term, hash)
}

// bucketPlace is where the terms of a bucket and their postings begin.
type bucketPlace struct{ entries, postings uint32 }

// placeOf returns the place of the bucket that a hash falls into, in a dictionary
// that is not empty.
func (d *dictionary) placeOf(hash uint32) bucketPlace {
	b := d.buckets[bucketBytes*bucketOf(hash, len(d.buckets)/bucketBytes):]
	return bucketPlace{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
}

// touch reads from a bucket, for the memory to be near when it is needed: looks at
// several buckets that do not wait for one another cost little more than one.
func (d *dictionary) touch(at bucketPlace) byte {
	if uint64(at.entries) < uint64(len(d.entries)) {
		return d.entries[at.entries]
	}
	return 0
}

// findIn is find in a bucket.
func (d *dictionary) findIn(at bucketPlace, term string, hash uint32) (postingList, error) {
	prints, rest, ok := d.bucket(at.entries)
	if !ok {
		return postingList{}, damagedTerms()
	}
	i := bytes.IndexByte(prints, byte(hash))
	if i < 0 {
		return postingList{}, nil
	}
	list := uint64(at.postings)
	for j, print := range prints {
		e, next, ok := cutTermEntry(rest)
		if !ok {
			return postingList{}, damagedTerms()
		}
		if j >= i && print == byte(hash) && string(e.term) == term {
			return d.list(&e, list)
		}
		rest = next
		list += uint64(e.bytes)
	}
	return postingList{}, nil
}

// bucket returns the last bytes of the hashes in the bucket that begins at, and
// what follows them.
func (d *dictionary) bucket(at uint32) (prints, rest []byte, ok bool) {
	if uint64(at) > uint64(len(d.entries)) {
		return nil, nil, false
	}
	return cutBytes(d.entries[at:])
}

// list returns the postings of e, which are at, if they are not in e itself.
func (d *dictionary) list(e *termEntry, at uint64) (postingList, error) {
	if e.documents == 1 {
		return postingList{1, e.only}, nil
	}
	if end := at + uint64(e.bytes); end <= uint64(len(d.postings)) {
		return postingList{e.documents, d.postings[at:end]}, nil
	}
	return postingList{}, damaged("the postings of an index segment are out of place")
}

func damagedTerms() error { return damaged("the terms of an index segment are cut off") }

// termEntry is what a dictionary says of a term.
type termEntry struct {
	term      []byte
	documents int
	only      []byte // the one posting, where there is one
	bytes     int    // of the postings, where there are more
}

func cutTermEntry(b []byte) (e termEntry, rest []byte, ok bool) {
	if e.term, rest, ok = cutBytes(b); !ok {
		return e, nil, false
	}
	n, rest, ok := cutUvarint(rest)
	if !ok || n == 0 || n > math.MaxInt32 {
		return e, nil, false
	}
	if e.documents = int(n); n == 1 {
		size, ok := postingBytes(rest)
		if !ok {
			return e, nil, false
		}
		e.only = rest[:size]
		return e, rest[size:], true
	}
	n, rest, ok = cutUvarint(rest)
	e.bytes = int(n)
	return e, rest, ok && n <= math.MaxInt32
}

// dictionaryCursor reads a dictionary from its start, and holds it to its rules.
type dictionaryCursor struct {
	dictionary *dictionary
	hash       uint32
	term       []byte
	list       postingList
	done       bool
	broken     error

	read, bucket int // terms and buckets, those at hand included
	at           int // in postings
	prints, rest []byte
}

func (d *dictionary) cursor() *dictionaryCursor {
	c := &dictionaryCursor{dictionary: d, rest: d.entries}
	c.next()
	return c
}

// next moves on to the next term, if there is one.
func (c *dictionaryCursor) next() {
	d := c.dictionary
	for len(c.prints) == 0 {
		if c.bucket*bucketBytes == len(d.buckets) {
			c.finish()
			return
		}
		b := d.buckets[bucketBytes*c.bucket:]
		c.bucket++
		if int(binary.LittleEndian.Uint32(b)) != len(d.entries)-len(c.rest) || int(binary.LittleEndian.Uint32(b[4:])) != c.at {
			c.fail(damaged("bucket %d of an index segment's terms is out of place", c.bucket-1))
			return
		}
		var ok bool
		if c.prints, c.rest, ok = cutBytes(c.rest); !ok {
			c.fail(damagedTerms())
			return
		}
	}
	e, rest, ok := cutTermEntry(c.rest)
	if !ok {
		c.fail(damagedTerms())
		return
	}
	hash := hashTerm(e.term)
	switch {
	case byte(hash) != c.prints[0], bucketOf(hash, len(d.buckets)/bucketBytes) != c.bucket-1,
		c.read > 0 && (hash < c.hash || hash == c.hash && bytes.Compare(e.term, c.term) <= 0):
		c.fail(damaged("term %d of an index segment is out of order", c.read))
		return
	}
	list, err := d.list(&e, uint64(c.at))
	if err != nil {
		c.fail(err)
		return
	}
	c.hash, c.term, c.list = hash, e.term, list
	c.prints, c.rest = c.prints[1:], rest
	c.at += e.bytes
	c.read++
}

func (c *dictionaryCursor) finish() {
	c.done = true
	if d := c.dictionary; c.read != d.n || len(c.rest) > 0 || c.at != len(d.postings) {
		c.fail(damaged("an index segment has %d terms with %d bytes of postings, and says %d with %d", c.read, c.at, d.n, len(d.postings)))
	}
}

func (c *dictionaryCursor) fail(err error) { c.done, c.broken = true, err }

// dictionaryWriter writes a dictionary; terms are added in its order.
type dictionaryWriter struct {
	ends     []termEnds
	entries  []byte
	postings []byte
}

// termEnds is where the entry and the postings of a term end.
type termEnds struct{ hash, entry, postings uint32 }

func (w *dictionaryWriter) add(hash uint32, term []byte, list []posting, lengths fieldLengths) {
	w.entries = binary.AppendUvarint(w.entries, uint64(len(term)))
	w.entries = append(w.entries, term...)
	w.entries = binary.AppendUvarint(w.entries, uint64(len(list)))
	if len(list) == 1 {
		w.entries = appendPosting(w.entries, -1, list[0])
	} else {
		before := len(w.postings)
		w.postings = appendPostings(w.postings, list, lengths)
		w.entries = binary.AppendUvarint(w.entries, uint64(len(w.postings)-before))
	}
	w.ends = append(w.ends, termEnds{hash, uint32(len(w.entries)), uint32(len(w.postings))})
}

// size returns about how many bytes appendTo appends, and no less.
func (w *dictionaryWriter) size() int {
	return len(w.entries) + len(w.ends) + bucketsFor(len(w.ends))*(bucketBytes+binary.MaxVarintLen32)
}

// appendTo appends the dictionary, without the postings.
func (w *dictionaryWriter) appendTo(b []byte) []byte {
	n := bucketsFor(len(w.ends))
	start := len(b)
	b = append(b, make([]byte, bucketBytes*n)...)
	entries := len(b)
	var before termEnds
	for bucket, i := 0, 0; bucket < n; bucket++ {
		binary.LittleEndian.PutUint32(b[start+bucketBytes*bucket:], uint32(len(b)-entries))
		binary.LittleEndian.PutUint32(b[start+bucketBytes*bucket+4:], before.postings)
		first := i
		for i < len(w.ends) && bucketOf(w.ends[i].hash, n) == bucket {
			i++
		}
		b = binary.AppendUvarint(b, uint64(i-first))
		for _, e := range w.ends[first:i] {
			b = append(b, byte(e.hash))
		}
		if i > first {
			b = append(b, w.entries[before.entry:w.ends[i-1].entry]...)
			before = w.ends[i-1]
		}
	}
	return b
}
