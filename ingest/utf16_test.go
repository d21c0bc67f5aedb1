package ingest

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func inUTF16(s string, order binary.ByteOrder, mark bool) []byte {
	var out []byte
	if mark {
		out = order.(binary.AppendByteOrder).AppendUint16(out, 0xFEFF)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.(binary.AppendByteOrder).AppendUint16(out, u)
	}
	return out
}

func TestUTF16IsReadWhereItIsCertain(t *testing.T) {
	text := `{"@type":"Thing","name":"Süßkartoffel 甘藷 🍠","url":"https://a.example/"}` + strings.Repeat("\n{}", 5000)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []bool{true, false} {
			raw := inUTF16(text, order, mark)
			for name, r := range map[string]io.Reader{
				"at once":       bytes.NewReader(raw),
				"byte by byte":  iotest.OneByteReader(bytes.NewReader(raw)),
				"error with it": iotest.DataErrReader(bytes.NewReader(raw)),
			} {
				tx, err := openText(r)
				require.NoError(t, err)
				got, err := io.ReadAll(tx)
				require.NoError(t, err)
				require.Equal(t, text, string(got), "%v, mark %v, %s", order, mark, name)
			}
		}
	}
}

func TestWhatIsNoValidUTF16BecomesInvalidUTF8(t *testing.T) {
	le := binary.LittleEndian
	for name, raw := range map[string][]byte{
		"half a pair, then text":  append(inUTF16(`{"a":"`, le, true), 0x3D, 0xD8, 'x', 0),
		"the second half alone":   append(inUTF16(`{"a":"`, le, true), 0x00, 0xDC, 'x', 0),
		"half a pair at the end":  append(inUTF16(`{"a":"`, le, true), 0x3D, 0xD8),
		"an odd byte at the end":  append(inUTF16(`{"a":"`, le, true), 'x'),
		"three bytes at the end":  append(inUTF16(`{"a":"`, le, true), 0x3D, 0xD8, 'x'),
		"a pair the wrong way on": append(inUTF16(`{"a":"`, le, true), 0x00, 0xDC, 0x3D, 0xD8),
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := openText(bytes.NewReader(raw))
			require.NoError(t, err)
			got, err := io.ReadAll(tx)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(got), `{"a":"`), "got %q", got)
			require.False(t, utf8.Valid(got), "got %q", got)
		})
	}
}

func TestTextThatIsNotCertainlyUTF16StaysAsItIs(t *testing.T) {
	for name, raw := range map[string]string{
		"a mark of UTF-32":  "\xff\xfe\x00\x00{\x00\x00\x00",
		"Latin-1":           "{\"name\":\"S\xfc\xdf\"}",
		"zeros and no text": "x\x00y\x00",
		"short":             "{\x00",
	} {
		tx, err := openText(strings.NewReader(raw))
		require.NoError(t, err)
		got, err := io.ReadAll(tx)
		require.NoError(t, err)
		require.Equal(t, raw, string(got), name)
	}
}

// FuzzUTF16: what Go's own decoder accepts reads the same, and what it has to
// replace is not valid UTF-8.
func FuzzUTF16(f *testing.F) {
	f.Add([]byte("\x3d\xd8\x60\xdf{\x00"), true)
	f.Add([]byte("\x00\xdc\x00"), false)
	f.Fuzz(func(t *testing.T, raw []byte, little bool) {
		var order binary.ByteOrder = binary.BigEndian
		if little {
			order = binary.LittleEndian
		}
		got, err := io.ReadAll(&utf16Reader{src: iotest.HalfReader(bytes.NewReader(raw)), order: order})
		if err != nil {
			t.Fatal(err)
		}
		var units []uint16
		for i := 0; i+1 < len(raw); i += 2 {
			units = append(units, order.Uint16(raw[i:]))
		}
		valid := len(raw)%2 == 0
		for i := 0; i < len(units); i++ {
			if r := rune(units[i]); utf16.IsSurrogate(r) {
				if i+1 == len(units) || utf16.DecodeRune(r, rune(units[i+1])) == utf8.RuneError {
					valid = false
					break
				}
				i++
			}
		}
		if valid != utf8.Valid(got) {
			t.Fatalf("valid UTF-8 %v, want %v: %q", !valid, valid, got)
		}
		if want := string(utf16.Decode(units)); valid && string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
