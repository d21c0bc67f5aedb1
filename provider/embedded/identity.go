package embedded

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"github.com/siteprovider/siteprovider/provider"
)

// storeID tells a store from every other, also from one that takes its place
// under the same path. It is random.
type storeID [16]byte

// storeFile tells a store's file from the others that were at its path while it
// was open. A copy of an older state has the store's id, and may come to the
// same generation, and the same numbers of segments, by another way.
type storeFile struct {
	id   storeID
	file int64 // how many files were there before, and this one
}

// fileAt returns the file that is at a store's path now.
func fileAt(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, provider.Errorf(provider.ErrUnavailable,
			"the file %s was removed while the store was open; ingest again, or put a backup in its place", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, damaged("%s is not a regular file any more", path)
	}
	return info, nil
}

// mark is what a store's row says of itself in a form that is found in raw
// pages: its id, then its generation in 8 bytes, the most significant first.
type mark []byte

const markBytes = len(storeID{}) + 8

func (m mark) id() (id storeID) {
	copy(id[:], m)
	return id
}

func (m mark) generation() uint64 { return binary.BigEndian.Uint64(m[len(storeID{}):]) }

func (s state) mark() mark { return binary.BigEndian.AppendUint64(s.store.id[:], uint64(s.generation)) }
