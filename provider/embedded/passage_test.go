package embedded

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

func passageFor(query, text string, l language) string {
	return newHighlighter(newStemmer(), queryWords(query), []language{english, german}).passage(text, l)
}

func TestPassageIsTheStretchWithTheWordsOfTheQuery(t *testing.T) {
	filler := strings.Repeat("Nothing of note is said here, and much of it. ", 100)
	for _, c := range []struct{ name, query, text, want string }{
		{"in the middle", "noodles", filler + "Wide noodle strands. " + filler, "noodle strands"},
		{"more words beat more often", "noodles broth", filler + "noodle noodle noodle noodle. " + filler + "The broth of a noodle. " + filler, "broth of a noodle"},
		{"the first of equals", "noodles", filler + "First noodle. " + filler + "Second noodle. " + filler, "First noodle"},
		{"at the end", "noodles", filler + "the last noodle", "last noodle"},
		{"without any", "zzz", "Once upon a time. " + filler, "Once upon a time."},
		{"joined words", "email", filler + "Send an e-mail. " + filler, "e-mail"},
		{"accents", "creme", filler + "A Crème brûlée. " + filler, "Crème"},
		{"no spaces", "北京", strings.Repeat("我", 2000) + "北京" + strings.Repeat("我", 2000), "北京"},
		{"one endless word", "a", strings.Repeat("x", 5000), "xxx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := passageFor(c.query, c.text, english)
			if !strings.Contains(got, c.want) {
				t.Errorf("passage %q, want it to have %q", got, c.want)
			}
			checkPassage(t, c.text, got)
			if strings.Contains(c.text, " ") && len(got) < provider.MaxPassageBytes*3/4 {
				t.Errorf("the passage has only %d bytes", len(got))
			}
			if strings.Contains(c.text, " ") {
				i := strings.Index(c.text, got)
				before, after := c.text[:i], c.text[i+len(got):]
				if before != "" && !strings.HasSuffix(before, " ") || after != "" && !strings.HasPrefix(after, " ") {
					t.Errorf("passage %q cuts a word", got)
				}
			}
		})
	}
}

func TestAShortTextIsItsOwnPassage(t *testing.T) {
	if got, want := passageFor("tea", "  A short text.\n", english), "A short text."; got != want {
		t.Errorf("passage %q, want %q", got, want)
	}
	if got := passageFor("tea", "", english); got != "" {
		t.Errorf("passage %q of no text", got)
	}
}

func checkPassage(t *testing.T, text, got string) {
	t.Helper()
	if len(got) > provider.MaxPassageBytes {
		t.Errorf("the passage has %d bytes, more than %d", len(got), provider.MaxPassageBytes)
	}
	if !utf8.ValidString(got) {
		t.Errorf("passage %q is not UTF-8", got)
	}
	if got == "" && strings.TrimSpace(text) != "" {
		t.Errorf("no passage of a text of %d bytes", len(text))
	}
	if !strings.Contains(text, got) {
		t.Errorf("passage %q is not part of the text", got)
	}
}

// Stretch by stretch, the matches are those of the whole text.
func checkScan(t *testing.T, query, text string, l language) {
	t.Helper()
	h := newHighlighter(newStemmer(), queryWords(query), []language{english, german})
	var want []matched
	eachToken(text, func(tok token) {
		if i, ok := h.match(l, tok); ok {
			want = append(want, matched{tok.start, tok.end, i})
		}
	})
	for range 2 { // the second time by what is remembered
		h.matches = nil
		h.scan(text, l)
		if !slices.Equal(h.matches, want) {
			t.Fatalf("matches of %q in %q are %v, want %v", query, text, h.matches, want)
		}
	}
}

func TestStretchesHaveTheTokensOfTheWholeText(t *testing.T) {
	for _, text := range []string{
		"", " ", "noodle", " noodle soup\nNoodles  soup-noodles, e-mail (e-mail) O'Reilly C++ C# 3.14 node.js",
		"北京大学 北京 ラーメン x北京y", "a\u0301 \u0301noodle \u200dnoodle e\u2011mail\tnoodle\rsoup\u00a0noodle", "_noodle no_odle noodle_ 'noodle'",
		"NOODLE Ｎｏｏｄｌｅ nóodle 978-3-00-000001-1 978-3 - 00",
	} {
		for _, query := range []string{"noodle soup", "email c++ c# 314 nodejs", "北京 ラーメン", "9783000000011", "o'reilly é"} {
			checkScan(t, query, text, english)
			checkScan(t, query, text, noLanguage)
		}
	}
}

func FuzzPassage(f *testing.F) {
	f.Add("noodle soup", strings.Repeat("A noodle soup is a soup. ", 90))
	f.Add("北京", strings.Repeat("北京大学的学生", 200))
	f.Add("x", strings.Repeat("x", 3000)+" \u00a0\u3000x")
	f.Fuzz(func(t *testing.T, query, text string) {
		if utf8.ValidString(text) {
			checkScan(t, query, text, english)
			checkPassage(t, text, passageFor(query, text, english))
			long := strings.Repeat(text+" ", 1+4000/(1+len(text)))
			checkPassage(t, long, passageFor(query, long, german))
		}
	})
}
