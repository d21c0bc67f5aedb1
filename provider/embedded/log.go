package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"os"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// SQLite trusts that a write-ahead log belongs to the file beside it. Where a
// backup was copied over a store whose last writer was killed, the log belongs
// to the file that is gone, and replaying it would destroy the backup or undo
// it. Both the file and the log say which store and which generation they are
// of, so the two can be told apart before SQLite opens them.

// The layout of a log, from the documentation of SQLite's file format.
const (
	logHeaderBytes   = 32
	frameHeaderBytes = 24
)

// storePage is the page of the one row of the table store.
const storePage = 2

// checkLog makes sure that the log beside the file at path, if there is one, is
// the file's own, and has lost nothing.
func checkLog(ctx context.Context, path string) error {
	const tries = 5
	for try := 1; ; try++ {
		fits, err := logFits(ctx, path)
		if err != nil {
			return err
		}
		lost := lostTransactions(path + "-wal")
		if fits && lost == 0 {
			return nil
		}
		// Another process may have written to the log, or moved it into
		// the file, between two looks.
		if try == tries {
			return logError(path, lost)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func logError(path string, lost int) error {
	if lost > 0 {
		return provider.Errorf(provider.ErrCorrupt, "%s-wal is damaged, and %d transactions in it cannot be read; "+
			"restore the store from a backup (empty its directory first), or move %s-wal and %s-shm away and ingest again what changed last: the store is then what %s alone holds", path, lost, FileName, FileName, FileName)
	}
	return provider.Errorf(provider.ErrCorrupt, "%s-wal is the log of another file than %s, as when a backup is put beside the log of the file it replaces; "+
		"move %s-wal and %s-shm away: the store is then what %s alone holds", path, FileName, FileName, FileName, FileName)
}

func logFits(ctx context.Context, path string) (bool, error) {
	if size(path+"-wal") <= logHeaderBytes {
		return true, nil
	}
	id, generation, ok := markOfFile(ctx, path)
	if !ok {
		return true, ctx.Err()
	}
	first, found, ok := markOfLog(path+"-wal", id)
	if !ok {
		return true, nil
	}
	// Every transaction moves the generation up by one, and the file has all
	// that came before the first one of the log.
	return found && first <= generation+1, nil
}

// markOfFile returns what the file alone says of itself, without its log.
func markOfFile(ctx context.Context, path string) (id storeID, generation uint64, ok bool) {
	db, err := sql.Open("sqlite", dataSourceFixed(path))
	if err != nil {
		return id, 0, false
	}
	defer db.Close()
	var m mark
	var page int
	err = db.QueryRowContext(ctx, "SELECT mark, (SELECT rootpage FROM sqlite_schema WHERE name = 'store') FROM store").Scan((*[]byte)(&m), &page)
	if err != nil || len(m) != markBytes || page != storePage {
		return id, 0, false
	}
	return m.id(), m.generation(), true
}

// markOfLog returns the generation of the first transaction in a log that
// changed it, if it is one of the store id. It is not ok where the log has no
// such transaction, whole.
func markOfLog(path string, id storeID) (generation uint64, found, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, false
	}
	defer f.Close()
	var header [logHeaderBytes]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return 0, false, false
	}
	pageSize := binary.BigEndian.Uint32(header[8:])
	if pageSize < 512 || pageSize > 1<<16 {
		return 0, false, false
	}
	sum := logSum{order: binary.LittleEndian}
	if header[3]&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	seen := false
	frame := make([]byte, frameHeaderBytes+pageSize)
	if !sum.is(header[24:]) {
		return 0, false, false
	}
	for {
		if _, err := io.ReadFull(f, frame); err != nil {
			return 0, false, false
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderBytes:])
		// Other salts are those of an older log, of which this is a rest.
		if !bytes.Equal(frame[8:16], header[16:24]) || !sum.is(frame[16:]) {
			return 0, false, false
		}
		if binary.BigEndian.Uint32(frame) == storePage {
			generation, found = markOfPage(frame[frameHeaderBytes:], id)
			seen = true
		}
		if seen && binary.BigEndian.Uint32(frame[4:]) != 0 { // the last frame of a transaction
			return generation, found, true
		}
	}
}

// logSum is the checksum that goes on from frame to frame of a log.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *logSum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		s.s0 += s.order.Uint32(data) + s.s1
		s.s1 += s.order.Uint32(data[4:]) + s.s0
	}
}

// is reports whether the sum is the one that is written at the start of stored.
func (s *logSum) is(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == s.s0 && binary.BigEndian.Uint32(stored[4:]) == s.s1
}

// markOfPage finds the mark of the store id in the row that a page holds.
func markOfPage(page []byte, id storeID) (generation uint64, found bool) {
	const pageHeader, rowHeader = 8, 32
	cell := int(binary.BigEndian.Uint16(page[pageHeader:]))
	if page[0] != 0x0d || cell >= len(page) { // a leaf of a table
		return 0, false
	}
	row := page[cell:min(cell+rowHeader+markBytes, len(page))]
	at := bytes.Index(row, id[:])
	if at < 0 || at+markBytes > len(row) {
		return 0, false
	}
	return mark(row[at : at+markBytes]).generation(), true
}
