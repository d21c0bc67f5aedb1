package ingest

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Order tells UTF-16 by its byte order mark or, without one, by a text
// that begins like JSON or markup with every second byte zero. It returns the
// byte order and the length of the mark; nil when it is not certain.
func utf16Order(head []byte) (binary.ByteOrder, int) {
	if len(head) < 4 {
		return nil, 0
	}
	switch {
	case head[0] == 0xFF && head[1] == 0xFE && (head[2] != 0 || head[3] != 0): // with zeros it is UTF-32
		return binary.LittleEndian, 2
	case head[0] == 0xFE && head[1] == 0xFF:
		return binary.BigEndian, 2
	}
	begins := func(c byte) bool {
		switch c {
		case '{', '[', '<', ' ', '\r', '\n', '\t':
			return true
		}
		return false
	}
	switch {
	case begins(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return binary.LittleEndian, 0
	case head[0] == 0 && begins(head[1]) && head[2] == 0 && head[3] != 0:
		return binary.BigEndian, 0
	}
	return nil, 0
}

// utf16Reader reads UTF-16 as UTF-8. What is no valid UTF-16 becomes bytes that
// are no valid UTF-8 (half a surrogate pair its three-byte form, an odd byte at
// the end 0xFF), so that it is found where all invalid text is found.
type utf16Reader struct {
	src   io.Reader
	order binary.ByteOrder
	buf   [8 << 10]byte
	in    []byte // the part of buf that is read and not yet decoded
	room  []byte // holds out
	out   []byte // decoded, not yet handed on
	err   error
}

// Read hands on decoded text.
func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *utf16Reader) fill() {
	left := copy(r.buf[:], r.in)
	n, err := r.src.Read(r.buf[left:])
	r.in, r.err = r.buf[:left+n], err
	r.out = r.room[:0]
	defer func() { r.room = r.out }()
	for len(r.in) >= 2 {
		u := rune(r.order.Uint16(r.in))
		if !utf16.IsSurrogate(u) {
			r.out = utf8.AppendRune(r.out, u)
			r.in = r.in[2:]
			continue
		}
		if len(r.in) < 4 && r.err == nil {
			return
		}
		if len(r.in) >= 4 {
			if c := utf16.DecodeRune(u, rune(r.order.Uint16(r.in[2:]))); c != utf8.RuneError {
				r.out = utf8.AppendRune(r.out, c)
				r.in = r.in[4:]
				continue
			}
		}
		r.out = append(r.out, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0x3F, 0x80|byte(u)&0x3F)
		r.in = r.in[2:]
	}
	if r.err != nil && len(r.in) == 1 {
		r.out = append(r.out, 0xFF)
		r.in = nil
	}
}
