package embedded

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// checkBoundaries compares the segments of a text with those of the library.
func checkBoundaries(t *testing.T, text string) {
	t.Helper()
	b := boundaries{text: text}
	it := words.FromString(text)
	for start := 0; start < len(text); {
		end, plain := b.next(start)
		if !it.Next() || it.Start() != start || it.End() != end {
			t.Fatalf("%q: a segment is %q, want %q", text, text[start:end], it.Value())
		}
		first, _ := utf8.DecodeRuneInString(text[start:])
		if segment := text[start:end]; plain && (classOf(first) != classWord || indexSign(segment) >= 0) {
			t.Fatalf("%q: the segment %q is plain, want letters and digits alone", text, segment)
		}
		start = end
	}
	if it.Next() {
		t.Fatalf("%q: the segment %q is missing", text, it.Value())
	}
}

// boundaryAlphabet has one of each kind of character that the rules tell apart,
// and of each that they do not. é and × share their first byte.
var boundaryAlphabet = strings.Fields("a é 1 _ . ' : , ; \" - × \u0301 \u200d \u05d0 \u30ab \U0001f1e9 \u5317 \u00a9 \u0387 \xc3 \xff")

func TestBoundariesAreThoseOfUnicode(t *testing.T) {
	var check func(text string, alphabet []string, left int)
	check = func(text string, alphabet []string, left int) {
		checkBoundaries(t, text)
		if left > 0 {
			for _, c := range alphabet {
				check(text+c, alphabet, left-1)
			}
		}
	}
	all := append([]string{" ", "\r", "\n", "\t", "\u3000"}, boundaryAlphabet...)
	if os.Getenv("SITEPROVIDER_LONG") != "" {
		check("", all, 4)
		check("", boundaryAlphabet[:10], 6)
		return
	}
	check("", all, 3)
	check("", boundaryAlphabet[:8], 5)
}

func TestBoundariesAroundEachCharacterOfTwoBytes(t *testing.T) {
	for r := rune(0); r <= 0x7ff; r++ {
		c := string(r)
		for _, around := range []string{"%", "a%a", "1%1", "a%1", "a.%", "a.%.a", "a'%a", "1,%1", "_%", "%_", " % ", " %a", "\r%\n", "%%", "%:%", "%,%", "%.%%", "\"%", "-%"} {
			checkBoundaries(t, strings.ReplaceAll(around, "%", c))
		}
	}
}

func FuzzBoundaries(f *testing.F) {
	for _, s := range boundaryAlphabet {
		f.Add("foo" + s + "bar1" + s + "2" + s + s + " baz")
	}
	f.Add("e-mail O'Reilly node.js 1,000.5 __init__ C++ a:b 3;4\r\n\x85 Straße, naïve; ёлка-ЙОД.")
	f.Fuzz(checkBoundaries)
}

// The words of a text do not depend on how its boundaries are found: behind an
// invisible mark the library finds them.
func TestTokensOfPlainTextAreThoseOfAnyText(t *testing.T) {
	const text = "The e-mail of O'Reilly, C++ & C#: node.js 3.14 (1,000) foo_bar __init__ U.S.A.\r\nCrème brûlée; ёлка-ель a--b x- 978-3-00-000001-1 l'homme ×÷ é.é 1.é"
	plain := foldedTokens(text)
	marked := foldedTokens(strings.Join(strings.SplitAfter(text, " "), "\u2060"))
	if !slices.Equal(plain, marked) {
		t.Errorf("tokens\n got %q\nwant %q", plain, marked)
	}
}
