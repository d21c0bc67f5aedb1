package embedded

import (
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/siteprovider/siteprovider/provider"
)

// An object is stored packed: packedMark, then an S2 block relative to the
// dictionary of packWords. What says little beyond the words of the vocabulary
// takes half the space, and a microsecond to unpack. One that does not become
// smaller, and every one that a version before 3 wrote, is stored as it is: no
// JSON text begins with the mark.

const (
	packedMark = 1
	// Shorter objects do not become smaller by much.
	minPacked = 32
)

var packDictionary = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(packWords(), []byte(`{"@context":"https://schema.org","@type":"`)) })

// packObject returns what is stored of an object.
func packObject(object []byte) []byte {
	if len(object) < minPacked {
		return object
	}
	room := make([]byte, 1+s2.MaxEncodedLen(len(object)))
	room[0] = packedMark
	block := packDictionary().Encode(room[1:], object)
	if 1+len(block) >= len(object) {
		return object
	}
	return room[: 1+len(block) : 1+len(block)]
}

// unpackObject returns the object that packObject made stored of, in room if it
// has any and the object fits.
func unpackObject(room, stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packedMark {
		return append(room[:0], stored...), nil
	}
	n, err := s2.DecodedLen(stored[1:])
	if err != nil || n > provider.MaxObjectBytes {
		return nil, damaged("an object cannot be unpacked")
	}
	if cap(room) < n {
		room = make([]byte, n)
	}
	object, err := packDictionary().Decode(room[:n], stored[1:])
	if err != nil {
		return nil, damaged("an object cannot be unpacked")
	}
	return object, nil
}
