package embedded

import (
	"encoding/binary"
	"math/bits"

	"github.com/siteprovider/siteprovider/provider"
)

// A document's text is mostly what its object says, word for word. It is stored
// as the stretches of the object's bytes that it repeats, with what is between
// them, which takes a fraction of its length: pairs of
//
//	len(literal) literal, length and offset of a stretch
//
// in uvarints; a last literal may stand without a stretch.

const (
	packWindow   = 8  // bytes that are looked up
	packMinMatch = 12 // shorter stretches are not worth their numbers
	// packStride is how far apart the windows of an object are that can be
	// found. A stretch worth its numbers has one of them whole in it.
	packStride    = packMinMatch - packWindow + 1
	packTableBits = 16 // at most
)

// packText returns text relative to object.
func packText(object []byte, text string) []byte {
	var small [1 << 10]uint32
	table, shift := stretchTable(small[:], object)
	var out []byte
	literal := 0
	for i := 0; i+packWindow <= len(text); {
		at := int(table[hashWindow(loadString(text[i:]))>>shift]) - 1
		n, before := 0, 0
		if at >= 0 {
			n = commonPrefix(object[at:], text[i:])
		}
		if n >= packWindow {
			for before < i-literal && before < at && object[at-before-1] == text[i-before-1] {
				before++
			}
		}
		if before+n < packMinMatch {
			i++
			continue
		}
		out = appendLiteral(out, text[literal:i-before])
		out = binary.AppendUvarint(out, uint64(before+n))
		out = binary.AppendUvarint(out, uint64(at-before))
		i += n
		literal = i
	}
	if literal < len(text) {
		out = appendLiteral(out, text[literal:])
	}
	return out
}

// unpackText returns the text that packText made packed of.
func unpackText(object, packed []byte) (string, error) {
	out := make([]byte, 0, min(2*len(packed)+len(object), provider.MaxObjectBytes))
	for len(packed) > 0 {
		literal, rest, ok := cutBytes(packed)
		if !ok {
			return "", damaged("the text of a document is cut off")
		}
		out = append(out, literal...)
		if packed = rest; len(packed) == 0 {
			break
		}
		n, rest, ok := cutUvarint(packed)
		if !ok {
			return "", damaged("the text of a document is cut off")
		}
		at, rest, ok := cutUvarint(rest)
		if !ok || at > uint64(len(object)) || n > uint64(len(object))-at || uint64(len(out))+n > 2*provider.MaxObjectBytes {
			return "", damaged("the text of a document is not part of its object")
		}
		out = append(out, object[at:at+n]...)
		packed = rest
	}
	return string(out), nil
}

// stretchTable returns a table from the hash of packWindow bytes of object, by
// its highest bits, to where they stand, plus one. It takes small for it where
// that is large enough.
func stretchTable(small []uint32, object []byte) (table []uint32, shift int) {
	size := min(bits.Len(uint(max(len(object)/2, len(small)-1))), packTableBits)
	table, shift = small, 64-size
	if 1<<size > len(small) {
		table = make([]uint32, 1<<size)
	}
	for i := 0; i+packWindow <= len(object); i += packStride {
		table[hashWindow(binary.LittleEndian.Uint64(object[i:]))>>shift] = uint32(i + 1)
	}
	return table, shift
}

func hashWindow(v uint64) uint64 { return v * 0x9e3779b97f4a7c15 }

func loadString(s string) uint64 {
	_ = s[packWindow-1]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func appendLiteral(out []byte, literal string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(literal))), literal...)
}
