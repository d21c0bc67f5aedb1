package embedded

import (
	"hash/maphash"
	"strings"
	"sync"
)

// lexicon numbers terms, for as long as a program runs. It is safe for
// concurrent use.
type lexicon struct {
	mu    sync.RWMutex
	names []string
	seed  maphash.Seed
	// slots are a power of two, at most three quarters of them taken: the upper
	// half of one is a term's hash, the lower half its number plus one. A term
	// is in the first free slot from that of its hash on.
	slots []uint64
}

// maxLexicon is the number of terms from which on a new lexicon is begun.
const maxLexicon = 1 << 19

func newLexicon() *lexicon {
	return &lexicon{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<8)}
}

// id returns the number of a term, a new one where it had none.
func (x *lexicon) id(term string) uint32 {
	hash := maphash.String(x.seed, term) >> 32
	x.mu.Lock() // not often: analysers remember what they asked for
	defer x.mu.Unlock()
	mask := uint64(len(x.slots) - 1)
	at := hash & mask
	for ; x.slots[at] != 0; at = (at + 1) & mask {
		if slot := x.slots[at]; slot>>32 == hash && x.names[uint32(slot)-1] == term {
			return uint32(slot) - 1
		}
	}
	x.names = append(x.names, strings.Clone(term))
	x.slots[at] = hash<<32 | uint64(len(x.names))
	if 4*len(x.names) > 3*len(x.slots) {
		x.grow()
	}
	return uint32(len(x.names) - 1)
}

func (x *lexicon) grow() {
	old := x.slots
	x.slots = make([]uint64, 4*len(old))
	mask := uint64(len(x.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> 32 & mask
		for x.slots[at] != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = slot
	}
}

// terms returns the terms numbered so far, by number.
func (x *lexicon) terms() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.names
}
