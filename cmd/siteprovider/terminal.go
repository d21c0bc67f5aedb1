package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// lineWidth is the number of columns that text for people is wrapped at. It
// is fixed, so that what a person sees does not depend on where it goes.
const lineWidth = 80

// visible returns s in a form that a terminal only displays. Documents come
// from other people's sites: a name must not move the cursor, recolour or
// retitle the window, or show its letters in another order than they are in.
// Characters that do such things are written out as \uXXXX.
func visible(s string) string {
	clean := func(r rune) bool { return unicode.IsGraphic(r) || r == joiner || r == nonJoiner }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case clean(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// The joiners shape letters and emoji and do nothing else.
const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
)

// oneLine returns s visible, and with line breaks and runs of blanks as one
// blank.
func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }

// wrap returns s as at most maxLines lines of at most columns columns, the
// last one ending in an ellipsis when there was more. Words that are too long
// for a line, and scripts that write without blanks, are broken anywhere.
func wrap(s string, columns, maxLines int) []string {
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for _, word := range strings.Fields(oneLine(s)) {
		w := textWidth(word)
		if used > 0 && used+1+w > columns && w <= columns {
			flush()
		}
		if used > 0 && used+1 < columns {
			line, used = line+" ", used+1
		}
		for _, r := range word {
			if rw := runeWidth(r); used+rw > columns {
				flush()
				line, used = string(r), rw
			} else {
				line, used = line+string(r), used+rw
			}
		}
		if len(lines) >= maxLines {
			break
		}
	}
	if used > 0 {
		flush()
	}
	if len(lines) <= maxLines {
		return lines
	}
	lines = lines[:maxLines]
	last := strings.TrimRight(lines[maxLines-1], " ")
	for textWidth(last)+1 > columns {
		_, size := utf8.DecodeLastRuneInString(last)
		last = last[:len(last)-size]
	}
	lines[maxLines-1] = last + "…"
	return lines
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns how many columns a terminal gives r (Unicode UAX 11).
func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
