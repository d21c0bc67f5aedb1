package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/siteprovider/siteprovider/provider"
)

// ledger is what a run remembers: for every identity it has met or the store
// has listed, which object the store holds and which one the run came across.
//
// It is a hash table of fixed slots with linear probing. A small one lies in
// memory; from ledgerMemory on it is a temporary file, so that a run of a
// hundred million documents needs no more memory than one of a hundred thousand. A
// database would do as well at several times the cost for each document, and
// that cost is most of what ingesting an unchanged document is.
type ledger struct {
	dir   string // of the file
	limit int    // bytes of slots up to which the table lies in memory
	slots slotStore
	count int // slots in the table, a power of two
	used  int
}

// ledgerMemory is the size up to which a ledger lies in memory.
const ledgerMemory = 16 << 20

// digest is the first half of a SHA-256: of an identity, or of an object.
type digest [16]byte

// record is what a ledger holds for an identity.
type record struct {
	known   digest // of the object in the store, when inStore
	seen    digest // of the object of this run, when inRun
	source  uint32 // where in the run: index of the input,
	line    uint32 // and line
	inStore bool
	inRun   bool
}

const slotBytes = 64 // key 16, known 16, seen 16, source 4, line 4, flags 1, unused 7

const (
	slotUsed = 1 << iota
	slotInStore
	slotInRun
)

// newLedger returns an empty ledger. It uses no file before it has to.
func newLedger(dir string) *ledger {
	const few = 1 << 10
	return &ledger{dir: dir, limit: ledgerMemory, slots: make(memorySlots, few*slotBytes), count: few}
}

// update calls change with what is recorded under key, the zero record at
// first, and records what change makes of it. An error matches ErrUnavailable:
// there is no room for the file.
func (l *ledger) update(key digest, change func(*record)) error {
	if l.used*2 >= l.count {
		if err := l.grow(); err != nil {
			return fmt.Errorf("%w: grow the record of what was read: %w", provider.ErrUnavailable, err)
		}
	}
	at, r, used, err := find(l.slots, l.count, key)
	if err == nil {
		change(&r)
		err = writeSlot(l.slots, at, key, r)
	}
	if err != nil {
		return fmt.Errorf("%w: keep the record of what was read: %w", provider.ErrUnavailable, err)
	}
	if !used {
		l.used++
	}
	return nil
}

func (l *ledger) grow() error {
	count := l.count * 4
	bigger, err := l.newSlots(count * slotBytes)
	if err != nil {
		return err
	}
	var slot [slotBytes]byte
	for i := range l.count {
		if _, err := l.slots.ReadAt(slot[:], int64(i)*slotBytes); err != nil {
			bigger.Close()
			return err
		}
		key, r, used := decodeSlot(&slot)
		if !used {
			continue
		}
		at, _, _, err := find(bigger, count, key)
		if err == nil {
			err = writeSlot(bigger, at, key, r)
		}
		if err != nil {
			bigger.Close()
			return err
		}
	}
	l.slots.Close()
	l.slots, l.count = bigger, count
	return nil
}

func (l *ledger) newSlots(size int) (slotStore, error) {
	if size <= l.limit {
		return make(memorySlots, size), nil
	}
	f, err := os.CreateTemp(l.dir, "siteprovider-ingest-*")
	if err != nil {
		return nil, err
	}
	// Where the system allows it, the file goes as soon as it is open, so
	// that not even a killed run leaves it behind.
	s := fileSlots{File: f, removed: os.Remove(f.Name()) == nil}
	if err := f.Truncate(int64(size)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close gives up what the ledger holds.
func (l *ledger) Close() error { return l.slots.Close() }

// find returns the place of key in a table: its slot, or the free one where it
// would be.
func find(slots slotStore, count int, key digest) (at int, r record, used bool, err error) {
	var slot [slotBytes]byte
	mask := count - 1
	for at = int(binary.LittleEndian.Uint64(key[:])) & mask; ; at = (at + 1) & mask {
		if _, err := slots.ReadAt(slot[:], int64(at)*slotBytes); err != nil {
			return 0, record{}, false, err
		}
		k, r, used := decodeSlot(&slot)
		if !used || k == key {
			return at, r, used, nil
		}
	}
}

func decodeSlot(slot *[slotBytes]byte) (key digest, r record, used bool) {
	copy(key[:], slot[:])
	copy(r.known[:], slot[16:])
	copy(r.seen[:], slot[32:])
	r.source = binary.LittleEndian.Uint32(slot[48:])
	r.line = binary.LittleEndian.Uint32(slot[52:])
	r.inStore = slot[56]&slotInStore != 0
	r.inRun = slot[56]&slotInRun != 0
	return key, r, slot[56]&slotUsed != 0
}

func writeSlot(slots slotStore, at int, key digest, r record) error {
	var slot [slotBytes]byte
	copy(slot[:], key[:])
	copy(slot[16:], r.known[:])
	copy(slot[32:], r.seen[:])
	binary.LittleEndian.PutUint32(slot[48:], r.source)
	binary.LittleEndian.PutUint32(slot[52:], r.line)
	slot[56] = slotUsed
	if r.inStore {
		slot[56] |= slotInStore
	}
	if r.inRun {
		slot[56] |= slotInRun
	}
	_, err := slots.WriteAt(slot[:], int64(at)*slotBytes)
	return err
}

// slotStore holds the slots of a ledger.
type slotStore interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

type memorySlots []byte

func (m memorySlots) ReadAt(p []byte, at int64) (int, error)  { return copy(p, m[at:]), nil }
func (m memorySlots) WriteAt(p []byte, at int64) (int, error) { return copy(m[at:], p), nil }
func (m memorySlots) Close() error                            { return nil }

type fileSlots struct {
	*os.File
	removed bool
}

func (f fileSlots) Close() error {
	err := f.File.Close()
	if !f.removed {
		os.Remove(f.Name())
	}
	return err
}
