package embedded

import (
	"encoding/binary"
	"math"
)

// sortedStrings is a list of different strings in ascending byte order, read in
// place. Blocks of blockStrings strings begin with a whole one; the others say
// how many bytes they share with the one before:
//
//	the offset of each block, 4 bytes little-endian
//	blocks: len(first) first { shared len(rest) rest }...   numbers as uvarint
//
// The bytes come from a file: whatever they are, no method panics, and all end.
type sortedStrings struct {
	n      int
	blocks []byte
	data   []byte
}

const blockStrings = 16

// openSorted returns the list of n strings in raw.
func openSorted(raw []byte, n int) (sortedStrings, bool) {
	blocks := (n + blockStrings - 1) / blockStrings
	if len(raw) < 4*blocks {
		return sortedStrings{}, false
	}
	return sortedStrings{n, raw[:4*blocks], raw[4*blocks:]}, true
}

// block returns the bytes of block b and what follows it.
func (s sortedStrings) block(b int) []byte {
	at := binary.LittleEndian.Uint32(s.blocks[4*b:])
	if uint64(at) > uint64(len(s.data)) {
		return nil
	}
	return s.data[at:]
}

// find returns the place of key.
func (s sortedStrings) find(key string) (int, bool) {
	// The last block whose first string is not greater than key.
	low, high := 0, len(s.blocks)/4
	for low < high {
		mid := int(uint(low+high) / 2)
		first, _, ok := cutBytes(s.block(mid))
		if !ok {
			return 0, false
		}
		if string(first) <= key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0, false
	}
	b := low - 1
	first, rest, ok := cutBytes(s.block(b))
	if !ok {
		return 0, false
	}
	i, end := b*blockStrings, min(s.n, (b+1)*blockStrings)
	common := commonPrefix(first, key)
	if common == len(key) && common == len(first) {
		return i, true
	}
	// The string before is less than key and has the first common bytes of
	// it. One that shares more with it is less, too; one that shares less is
	// greater.
	for i++; i < end; i++ {
		shared, suffix, next, ok := cutShared(rest)
		if !ok || shared < common {
			return 0, false
		}
		rest = next
		if shared > common {
			continue
		}
		n := commonPrefix(suffix, key[common:])
		common += n
		switch {
		case n == len(suffix) && common == len(key):
			return i, true
		case common == len(key), n < len(suffix) && suffix[n] > key[common]:
			return 0, false
		}
	}
	return 0, false
}

// at appends string i to buf.
func (s sortedStrings) at(i int, buf []byte) ([]byte, bool) {
	if i < 0 || i >= s.n {
		return buf, false
	}
	first, rest, ok := cutBytes(s.block(i / blockStrings))
	if !ok {
		return buf, false
	}
	start := len(buf)
	buf = append(buf, first...)
	for range i % blockStrings {
		shared, suffix, next, ok := cutShared(rest)
		if !ok || shared > len(buf)-start {
			return buf[:start], false
		}
		buf = append(buf[:start+shared], suffix...)
		rest = next
	}
	return buf, true
}

// sortedCursor reads a list from its start.
type sortedCursor struct {
	list    sortedStrings
	i       int // of current; list.n behind the last
	current []byte
	rest    []byte
	broken  bool
}

func (s sortedStrings) cursor() *sortedCursor {
	c := &sortedCursor{list: s, i: -1}
	c.next()
	return c
}

// next moves on. It reports false behind the last string, and where the bytes
// are no list, which broken tells.
func (c *sortedCursor) next() bool {
	c.i++
	if c.i >= c.list.n {
		c.i = c.list.n
		return false
	}
	shared, suffix, ok := 0, []byte(nil), false
	if c.i%blockStrings == 0 {
		suffix, c.rest, ok = cutBytes(c.list.block(c.i / blockStrings))
	} else {
		shared, suffix, c.rest, ok = cutShared(c.rest)
	}
	if !ok || shared > len(c.current) {
		c.broken = true
		c.i = c.list.n
		return false
	}
	c.current = append(c.current[:shared], suffix...)
	return true
}

func (c *sortedCursor) done() bool { return c.i >= c.list.n }

// sortedWriter writes a list; strings are added in ascending order.
type sortedWriter struct {
	n      int
	blocks []byte
	data   []byte
	last   []byte
}

func (w *sortedWriter) add(s []byte) {
	if w.n%blockStrings == 0 {
		w.blocks = binary.LittleEndian.AppendUint32(w.blocks, uint32(len(w.data)))
		w.data = binary.AppendUvarint(w.data, uint64(len(s)))
		w.data = append(w.data, s...)
	} else {
		shared := commonPrefix(w.last, string(s))
		w.data = binary.AppendUvarint(w.data, uint64(shared))
		w.data = binary.AppendUvarint(w.data, uint64(len(s)-shared))
		w.data = append(w.data, s[shared:]...)
	}
	w.n++
	w.last = append(w.last[:0], s...)
}

func (w *sortedWriter) appendTo(raw []byte) []byte {
	return append(append(raw, w.blocks...), w.data...)
}

func commonPrefix(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func cutShared(b []byte) (shared int, suffix, rest []byte, ok bool) {
	n, b, ok := cutUvarint(b)
	if !ok || n > math.MaxInt32 {
		return 0, nil, nil, false
	}
	suffix, rest, ok = cutBytes(b)
	return int(n), suffix, rest, ok
}

func cutBytes(b []byte) (value, rest []byte, ok bool) {
	n, b, ok := cutUvarint(b)
	if !ok || n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

func cutUvarint(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], true
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}
