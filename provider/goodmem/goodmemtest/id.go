package goodmemtest

import (
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// ids makes UUIDs of version 7 that grow, also within a millisecond.
type ids struct {
	mu   sync.Mutex
	last uint64 // milliseconds and a 12-bit counter
}

func (g *ids) next(ms int64) string {
	g.mu.Lock()
	g.last = max(uint64(ms)<<12, g.last+1)
	stamp := g.last
	g.mu.Unlock()
	var u [16]byte
	ms = int64(stamp >> 12)
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = 0x70 | byte(stamp>>8)&0x0f
	u[7] = byte(stamp)
	r := rand.Uint64()
	for i := range 8 {
		u[8+i] = byte(r >> (8 * i))
	}
	u[8] = 0x80 | u[8]&0x3f
	return formatUUID(u)
}

func formatUUID(u [16]byte) string {
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// parseUUID returns the lower-case form of a canonical UUID.
func parseUUID(s string) (string, bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return "", false
	}
	var u [16]byte
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return "", false
	}
	return formatUUID(u), true
}
