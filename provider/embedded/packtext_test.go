package embedded

import (
	"strings"
	"testing"
)

func TestTextIsStoredAsPartOfItsObject(t *testing.T) {
	object := `{"@type":"Recipe","name":"Noodle soup","description":"A clear broth with \"wide\" noodles, spring onions and an egg."}`
	text := "Noodle soup\n\nA clear broth with \"wide\" noodles, spring onions and an egg."
	packed := packText([]byte(object), text)
	if len(packed) > len(text)/2 {
		t.Errorf("%d bytes of text take %d, want half at most", len(text), len(packed))
	}
	if got, err := unpackText([]byte(object), packed); err != nil || got != text {
		t.Errorf("unpacked %q, %v; want %q", got, err, text)
	}
}

func FuzzPackText(f *testing.F) {
	f.Add(`{"name":"a b c d e f g h i j"}`, "a b c d e f g h i j a b c d e f g h i j", []byte{1, 'x', 200, 1})
	f.Add("", "text without an object", []byte{})
	f.Add(strings.Repeat("abcdefghijkl", 40), strings.Repeat("abcdefghijkl", 30)+"é", []byte{0, 12, 0, 0, 12, 0})
	f.Fuzz(func(t *testing.T, object, text string, hostile []byte) {
		packed := packText([]byte(object), text)
		if got, err := unpackText([]byte(object), packed); err != nil || got != text {
			t.Fatalf("unpacked %q, %v; want %q", got, err, text)
		}
		_, _ = unpackText([]byte(object), hostile)
	})
}
