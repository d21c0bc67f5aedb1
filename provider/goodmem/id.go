package goodmem

import (
	"encoding/binary"
	"strconv"

	"github.com/google/uuid"

	"github.com/siteprovider/siteprovider/provider"
)

// canonicalIDBytes is the length of a UUID in its canonical form.
const canonicalIDBytes = 36

// checkID returns id in lower case if it is a UUID in its canonical form, the
// only one that a server takes and the only one that goes into a path: eight,
// four, four, four and twelve hexadecimal digits with hyphens between. A refusal
// names arg and does not repeat id, which might be a key set in the wrong place.
func checkID(arg, id string) (string, error) {
	if id == "" {
		return "", provider.Invalidf(arg, "is empty, want a UUID")
	}
	if len(id) != canonicalIDBytes {
		return "", provider.Invalidf(arg, "is no UUID such as 01234567-89ab-cdef-0123-456789abcdef: it has %d bytes, not 36", len(id))
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return "", provider.Invalidf(arg, "is no UUID such as 01234567-89ab-cdef-0123-456789abcdef")
	}
	return parsed.String(), nil
}

// checkIDs is checkID for each of a list. What is there twice is kept once.
func checkIDs(arg string, ids []string) ([]string, error) {
	kept := make([]string, 0, len(ids))
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		id, err := checkID(arg+"["+strconv.Itoa(i)+"]", id)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// memoryNamespace is the UUIDv5 namespace of memory ids. Another value would
// give every stored document another id, and have each stored once more.
var memoryNamespace = uuid.MustParse("6f1d6a52-6a0c-5c1e-9b55-3f2f7d0a1c48")

// memoryID is the id of the memory that holds one version of a document: the
// same for the same content, however often and from wherever it is stored, so
// that storing it again finds it there. space is a canonical id, hash that of
// the content. The lengths that are hashed along keep ("a", "bc") from ("ab", "c").
func memoryID(space, site, url, hash string) string {
	var name []byte
	for _, part := range []string{space, site, url, hash} {
		name = binary.BigEndian.AppendUint32(name, uint32(len(part)))
		name = append(name, part...)
	}
	return uuid.NewSHA1(memoryNamespace, name).String()
}
