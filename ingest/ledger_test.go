package ingest

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLedgerRemembersEverythingAlsoInAFile(t *testing.T) {
	for name, limit := range map[string]int{"in memory": 1 << 30, "from memory to file": 1 << 17} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLedger(dir)
			l.limit = limit
			rnd := rand.New(rand.NewPCG(1, 2))
			want := make(map[digest]record)
			const keys = 4_000
			for range 3 * keys {
				var key digest
				// Few bits, and the same ones for all keys in a part of the
				// table: collisions and long probes.
				binary.LittleEndian.PutUint64(key[:], rnd.Uint64N(keys)&^0xF)
				key[8] = byte(rnd.Uint32N(16))
				r := record{
					source: rnd.Uint32(), line: rnd.Uint32(), inStore: rnd.Uint32N(2) == 0, inRun: rnd.Uint32N(2) == 0,
				}
				r.known[3], r.seen[15] = byte(rnd.Uint32()), byte(rnd.Uint32())
				err := l.update(key, func(have *record) {
					if *have != want[key] {
						t.Fatalf("key %x: %+v, want %+v", key, *have, want[key])
					}
					*have = r
				})
				if err != nil {
					t.Fatal(err)
				}
				want[key] = r
			}
			require.Greater(t, len(want), keys/3)
			for key, r := range want {
				require.NoError(t, l.update(key, func(have *record) { require.Equal(t, r, *have) }))
			}
			_, inFile := l.slots.(fileSlots)
			require.Equal(t, limit < 1<<20, inFile)
			require.NoError(t, l.Close())
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "the file must be gone")
		})
	}
}

func TestLedgerSaysThatItHasNoRoom(t *testing.T) {
	l := newLedger(filepath.Join(t.TempDir(), "not there"))
	l.limit = 0
	for i := 0; ; i++ {
		var key digest
		binary.LittleEndian.PutUint64(key[:], uint64(i))
		if err := l.update(key, func(r *record) { r.inRun = true }); err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
			return
		}
		require.Less(t, i, 10_000, "the ledger grew past its limit without a file")
	}
}
