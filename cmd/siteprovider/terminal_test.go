package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTextOfOthersOnlyDisplays(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain":                {"Nudelsuppe für 2 €", "Nudelsuppe für 2 €"},
		"other scripts":        {"さんさく 日本語 עברית हिन्दी", "さんさく 日本語 עברית हिन्दी"},
		"emoji with joiners":   {"👩‍🍳 🇩🇪 ❤️", "👩‍🍳 🇩🇪 ❤️"},
		"escape sequence":      {"\x1b[31mred\x1b[0m", `\u001b[31mred\u001b[0m`},
		"window title":         {"\x1b]0;owned\x07", `\u001b]0;owned\u0007`},
		"eight-bit control":    {"\u009b31m", `\u009b31m`},
		"carriage return":      {"good\rbad", `good\u000dbad`},
		"backspace and delete": {"a\b\x7f", `a\u0008\u007f`},
		"reversed order":       {"txt.\u202eexe", `txt.\u202eexe`},
		"isolates":             {"\u2066a\u2069", `\u2066a\u2069`},
		"line separator":       {"a\u2028b", `a\u2028b`},
		"hidden tag letters":   {"a\U000e0041", `a\U000e0041`},
		"private use":          {"\ue000", `\ue000`},
		"not UTF-8":            {"a\xffb", `a\xffb`},
		"a real replacement":   {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, visible(tc.in))
		})
	}
}

func TestLinesAreWrappedByColumns(t *testing.T) {
	for name, tc := range map[string]struct {
		in      string
		columns int
		lines   int
		want    []string
	}{
		"nothing":              {" \n ", 10, 3, nil},
		"one line":             {"a  b\nc", 10, 3, []string{"a b c"}},
		"at a blank":           {"aaaa bbbb cccc", 9, 3, []string{"aaaa bbbb", "cccc"}},
		"a long word":          {"aaaaaaaaaaaa", 5, 3, []string{"aaaaa", "aaaaa", "aa"}},
		"wide characters":      {"日本語日本語", 6, 3, []string{"日本語", "日本語"}},
		"a wide one that ends": {"a日本", 4, 3, []string{"a日", "本"}},
		"more than fits":       {"aaaa bbbb cccc dddd", 4, 2, []string{"aaaa", "bbb…"}},
		"room for the dots":    {"aa bbbb cccc", 4, 1, []string{"aa…"}},
		"combining marks":      {"e\u0301e\u0301e\u0301", 3, 1, []string{"e\u0301e\u0301e\u0301"}},
		"control characters":   {"a\x1b[2Jb", 80, 1, []string{`a\u001b[2Jb`}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, wrap(tc.in, tc.columns, tc.lines))
		})
	}
}

// FuzzWrap wants of every text lines that fit and that a terminal only displays.
func FuzzWrap(f *testing.F) {
	f.Add("aaaa bbbb cccc", 9, 2)
	f.Add("\x1b[31m日本語 \xff\u202e", 3, 1)
	f.Add("e\u0301 👩‍🍳", 2, 5)
	f.Fuzz(func(t *testing.T, s string, columns, maxLines int) {
		columns, maxLines = 2+max(0, columns%100), 1+max(0, maxLines%10)
		lines := wrap(s, columns, maxLines)
		require.LessOrEqual(t, len(lines), maxLines)
		for _, line := range lines {
			require.LessOrEqual(t, textWidth(line), columns, "%q", line)
			require.True(t, utf8.ValidString(line))
			require.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool {
				return !unicode.IsGraphic(r) && r != joiner && r != nonJoiner
			}), "%q", line)
		}
	})
}
