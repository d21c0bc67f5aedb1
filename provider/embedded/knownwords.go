package embedded

import (
	"math/bits"
	"strings"
)

// knownWords remembers the terms of words, so that a word is folded and stemmed
// once however often it occurs. It forgets some where it has to: what it holds
// is bounded, also for a text that was made to fill it. The zero value is ready.
type knownWords struct {
	slots []knownWord // a power of two of them
	used  int
	long  map[longWord]termIDs
}

// termIDs is the terms of a word: the folded word and its stems.
type termIDs struct {
	n   uint8
	ids [maxWordTerms]uint32
}

// maxWordTerms is how many terms a word has at most (see stemmer.stems).
const maxWordTerms = 3

// knownWord is a word of at most maxShortWord bytes, which are in it, with its
// terms: what most look-ups need is in half a cache line.
type knownWord struct {
	low, high uint64 // its first and its last eight bytes, or all of it twice
	size      uint8  // 0 for none
	key       wordKey
	termIDs
}

// longWord is any other.
type longWord struct {
	text string
	key  wordKey
}

// wordKey is what the terms of a word depend on besides its letters.
type wordKey uint8

func keyOf(l language, kind tokenKind) wordKey {
	switch kind {
	case code:
		return wordKey(l)<<2 | 1
	case gram, letter:
		return wordKey(l)<<2 | 2
	}
	return wordKey(l) << 2
}

const (
	maxShortWord = 16
	minKnown     = 1 << 10
	maxKnown     = 1 << 18 // slots, 8 MiB
	maxKnownLong = 1 << 15
	// probes is how many slots a word may be in: those from its own on.
	probes = 8
)

// find returns the terms of a word; ok is false if it is not known.
func (k *knownWords) find(text string, key wordKey) (found termIDs, ok bool) {
	if len(text) > maxShortWord {
		found, ok = k.long[longWord{text, key}]
		return found, ok
	}
	if len(k.slots) == 0 {
		return found, false
	}
	low, high := ends(text)
	at := k.home(low, high, uint8(len(text)), key)
	for i := range probes {
		s := &k.slots[(at+i)&(len(k.slots)-1)]
		switch {
		case s.low == low && s.high == high && int(s.size) == len(text) && s.key == key:
			return s.termIDs, true
		case s.size == 0:
			return found, false
		}
	}
	return found, false
}

// add makes a word known.
func (k *knownWords) add(text string, key wordKey, terms termIDs) {
	if len(text) > maxShortWord {
		if len(k.long) >= maxKnownLong {
			clear(k.long)
		}
		if k.long == nil {
			k.long = make(map[longWord]termIDs)
		}
		k.long[longWord{strings.Clone(text), key}] = terms
		return
	}
	if 2*k.used >= len(k.slots) && len(k.slots) < maxKnown {
		k.grow()
	}
	low, high := ends(text)
	k.put(knownWord{low, high, uint8(len(text)), key, terms})
}

func (k *knownWords) grow() {
	old := k.slots
	k.slots, k.used = make([]knownWord, max(minKnown, 4*len(old))), 0
	for _, w := range old {
		if w.size > 0 {
			k.put(w)
		}
	}
}

// put takes a free slot, or the word's own where there is none.
func (k *knownWords) put(w knownWord) {
	at := k.home(w.low, w.high, w.size, w.key)
	for i := range probes {
		if s := &k.slots[(at+i)&(len(k.slots)-1)]; s.size == 0 {
			*s = w
			k.used++
			return
		}
	}
	k.slots[at] = w
}

func (k *knownWords) home(low, high uint64, size uint8, key wordKey) int {
	a, b := bits.Mul64(low^0x9e3779b97f4a7c15, high^0xd1b54a32d192ed03^uint64(key)<<56^uint64(size)<<48)
	return int((a ^ b) & uint64(len(k.slots)-1))
}

// ends returns the first and the last eight bytes of a word of at most
// maxShortWord bytes, which may overlap; of a shorter word, all of it. Together
// with the number of bytes they tell a word from any other.
func ends(w string) (low, high uint64) {
	switch n := len(w); {
	case n >= 8:
		return loadString(w), loadString(w[n-8:])
	case n >= 4:
		low = uint64(loadHalf(w)) | uint64(loadHalf(w[n-4:]))<<32
	case n > 0:
		low = uint64(w[0]) | uint64(w[n/2])<<8 | uint64(w[n-1])<<16
	}
	return low, low
}

func loadHalf(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
