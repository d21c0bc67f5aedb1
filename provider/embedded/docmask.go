package embedded

// docMask is a set of documents of a window.
type docMask [windowDocs / 64]uint64

func (m *docMask) set(d uint32)      { m[d>>6] |= 1 << (d & 63) }
func (m *docMask) has(d uint32) bool { return m[d>>6]>>(d&63)&1 != 0 }

// anyIn reports whether any document from first to last is in m.
func (m *docMask) anyIn(first, last uint32) bool {
	for i := first >> 6; i <= last>>6; i++ {
		bits := m[i]
		if i == first>>6 {
			bits &= ^uint64(0) << (first & 63)
		}
		if i == last>>6 {
			bits &= ^uint64(0) >> (63 - last&63)
		}
		if bits != 0 {
			return true
		}
	}
	return false
}
