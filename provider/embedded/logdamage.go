package embedded

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// SQLite takes a write-ahead log to end at the first frame that is not as it was
// written, which is right for one that a crash cut off in the middle of its last
// transaction. Where transactions that were acknowledged follow, the frame was
// damaged later, and they would vanish without a word.

// lostTransactions returns how many transactions in a log come after its first
// damaged frame, where that is more than the last one: those before that were on
// disk before it began.
func lostTransactions(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var header [logHeaderBytes]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return 0
	}
	pageSize := binary.BigEndian.Uint32(header[8:])
	sum := logSum{order: binary.LittleEndian}
	if header[3]&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	whole := sum.is(header[24:]) && pageSize >= 512 && pageSize <= 1<<16
	salts := bytes.Clone(header[16:24])
	if !whole { // which of its bytes are wrong, nobody knows
		pageSize, sum.order = pageBytes, binary.LittleEndian
		salts = nil
	}
	// Behind a damaged frame the sum goes on from what it has, or from what it
	// says that it has, if one of these is right.
	written := sum
	frame := make([]byte, frameHeaderBytes+pageSize)
	lost, chain, ours := 0, 0, true
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			break
		}
		if salts == nil {
			salts = bytes.Clone(frame[8:16])
		}
		for _, s := range []*logSum{&sum, &written} {
			s.add(frame[:8])
			s.add(frame[frameHeaderBytes:])
		}
		salted := bytes.Equal(frame[8:16], salts)
		follows := sum.is(frame[16:])
		if !follows && !whole && written.is(frame[16:]) {
			sum, follows = written, true
		}
		whole = whole && follows && salted
		if !follows {
			// What a transaction left that was given up does not lead on to
			// what another one left.
			chain = 0
		}
		ours = salted || follows && ours // else it is of the log that was here before
		written.s0, written.s1 = binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])
		if ours && !whole && binary.BigEndian.Uint32(frame[4:]) != 0 {
			chain++
			lost = max(lost, chain)
		}
	}
	if lost < 2 {
		return 0
	}
	return lost
}
