package embedded

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Whatever byte of the log is another, what was acknowledged is there, or Open
// says that the log is damaged. Only the last transaction can go without a word:
// nobody can tell a damaged one from one that a crash cut off.
func TestAFlippedByteInTheLogLosesNoTransactionSilently(t *testing.T) {
	flips := 24
	if long() {
		flips = 3000
	}
	const log = FileName + "-wal"
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	put(t, s, drink("tea"))
	s.Close()
	s = open(t, Options{Dir: dir})
	words := []string{"rice", "soup", "bread", "juice", "cocoa"}
	for _, w := range words {
		put(t, s, drink(w))
	}
	raw, err := os.ReadFile(filepath.Join(dir, log))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, a log of %d bytes", seed, len(raw))
	random := rand.New(rand.NewPCG(seed, 0))
	row := &faultRow{}
	for i := range flips {
		at := random.IntN(len(raw))
		switch i % 3 {
		case 1:
			at = random.IntN(logHeaderBytes)
		case 2: // the header of a frame
			at = logHeaderBytes + random.IntN((len(raw)-logHeaderBytes)/(frameHeaderBytes+pageBytes))*(frameHeaderBytes+pageBytes) + random.IntN(frameHeaderBytes)
		}
		flipped := bytes.Clone(raw)
		flipped[at] ^= byte(1 << random.IntN(8))
		killed := t.TempDir()
		copyStore(t, dir, killed, FileName)
		if err := os.WriteFile(filepath.Join(killed, log), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		row.tried++
		s, err := Open(t.Context(), Options{Dir: killed})
		if err != nil {
			wantError(t, err, provider.ErrCorrupt, log, "damaged", "restore")
			row.said++
			continue
		}
		for _, w := range append([]string{"tea"}, words[:len(words)-1]...) {
			if got := found(t, s, w, provider.AllSites()); len(got) != 1 {
				t.Errorf("byte %d (%02x -> %02x): %s is gone", at, raw[at], flipped[at], w)
				row.lost++
				break
			}
		}
		row.harmless++
		if r, err := s.Check(t.Context(), nil); err != nil || r.Found > 0 {
			t.Errorf("byte %d: %+v, %v", at, r, err)
		}
		s.Close()
	}
	logFaults(t, "a byte in", map[string]*faultRow{"the log": row})
}

// What is left in a log behind its end is not lost: of a log that was begun anew, or
// of a transaction that was cut off.
func TestWhatIsLeftBehindTheEndOfALogIsNotLost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName+"-wal")
	s := open(t, Options{Dir: dir})
	for i := range 6 {
		put(t, s, drink(fmt.Sprint("word", i)), doc("a.example", fmt.Sprint("https://a.example/long/", i), "", strings.Repeat("x", 20_000)))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = frameHeaderBytes + pageBytes
	var ends []int // of transactions
	for at := logHeaderBytes; at+size <= len(raw); at += size {
		if binary.BigEndian.Uint32(raw[at+4:]) != 0 {
			ends = append(ends, at+size)
		}
	}
	if len(ends) < 6 {
		t.Fatalf("%d transactions in the log, want 6 or more", len(ends))
	}
	otherDir := t.TempDir()
	put(t, open(t, Options{Dir: otherDir}), drink("tea"))
	anew, err := os.ReadFile(filepath.Join(otherDir, FileName+"-wal"))
	if err != nil || len(anew) >= len(raw) {
		t.Fatalf("a log of %d bytes, %v; want a shorter one", len(anew), err)
	}
	older := append(anew, raw[len(anew):]...)
	torn := bytes.Clone(raw)
	torn[ends[len(ends)-2]+100] ^= 0xff
	for name, log := range map[string][]byte{"whole": raw, "begun anew over another": older, "cut off": raw[:len(raw)-size/2], "a torn last transaction": torn} {
		if err := os.WriteFile(path+"2", log, 0o600); err != nil {
			t.Fatal(err)
		}
		if lost := lostTransactions(path + "2"); lost != 0 {
			t.Errorf("%s: %d transactions are lost, want 0", name, lost)
		}
	}
	damagedLog := bytes.Clone(raw)
	damagedLog[ends[0]+100] ^= 0xff
	if err := os.WriteFile(path+"2", damagedLog, 0o600); err != nil {
		t.Fatal(err)
	}
	if lost := lostTransactions(path + "2"); lost != len(ends)-1 {
		t.Errorf("a byte in the second of %d transactions: %d are lost, want all from it on", len(ends), lost)
	}
}
