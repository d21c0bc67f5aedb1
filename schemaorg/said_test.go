package schemaorg

import (
	"strings"
	"testing"
)

func TestSayingsAreTheSameInEitherCase(t *testing.T) {
	for c := range 256 {
		for _, around := range []string{"%", "a%", "abcdefg%", "abcdefgh%ijk", "%%%%%%%%", "é%é"} {
			s := strings.ReplaceAll(around, "%", string([]byte{byte(c)}))
			lower := []byte(s)
			for i, b := range lower {
				if 'A' <= b && b <= 'Z' {
					lower[i] = b + 'a' - 'A'
				}
			}
			if hashFolded(s) != hashFolded(string(lower)) {
				t.Errorf("%q and %q are told apart", s, lower)
			}
		}
	}
}

func TestSayingsAreToldApart(t *testing.T) {
	seen := make(map[uint64]string)
	add := func(s string) {
		h := hashFolded(s)
		if other, dup := seen[h]; dup {
			t.Errorf("%q and %q are the same", s, other)
		}
		seen[h] = s
	}
	for n := range 40 {
		for c := range 256 {
			if 'A' <= c && c <= 'Z' {
				continue
			}
			add(strings.Repeat("a", n) + string([]byte{byte(c)}) + "b")
			if c != 'a' {
				add(strings.Repeat("\x00", n) + string([]byte{byte(c)}) + strings.Repeat("a", 20))
			}
		}
	}
}
