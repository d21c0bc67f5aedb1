package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/siteprovider/siteprovider/schemaorg"
)

// Of the words of a copy one in changedWords is replaced by a word of another
// document. One in newWords of those is a word that no document has, because
// the vocabulary of real text never stops growing.
const (
	changedWords = 7
	newWords     = 50
)

// copier makes copies of objects that differ in their words. It works on the
// text of the JSON, so that a million copies cost seconds and not minutes.
type copier struct {
	sample [][]byte // words of the originals, each as often as they use it, as JSON has them in a string
}

// newCopier takes some words of every third original.
func newCopier(originals []original, rng *rand.Rand) (*copier, error) {
	c := new(copier)
	for i := 0; i < len(originals); i += 3 {
		words := bytes.Fields([]byte(schemaorg.Describe(originals[i].schema).Text))
		for range min(12, len(words)) {
			quoted, err := quote(string(words[rng.IntN(len(words))]))
			if err != nil {
				return nil, err
			}
			c.sample = append(c.sample, bytes.Clone(quoted[1:len(quoted)-1]))
		}
	}
	return c, nil
}

// copy is o's object under another URL and with other words: in each string
// value that has a blank, what stands between blanks is a word.
func (c *copier) copy(o *original, url string, rng *rand.Rand) ([]byte, error) {
	out := make([]byte, 0, len(o.schema)+len(o.schema)/8)
	for rest := o.schema; len(rest) > 0; {
		from := bytes.IndexByte(rest, '"')
		if from < 0 {
			out = append(out, rest...)
			break
		}
		out = append(out, rest[:from]...)
		end := stringEnd(rest[from:])
		if end < 0 {
			return nil, fmt.Errorf("%s: a string of the object does not end", o.url)
		}
		text := rest[from : from+end]
		rest = rest[from+end:]
		switch fragment, isURL := fragmentOf(text, o.url); {
		case isName(rest):
			out = append(out, text...)
		case isURL:
			quoted, err := quote(url + fragment)
			if err != nil {
				return nil, err
			}
			out = append(out, quoted...)
		case bytes.IndexByte(text, ' ') >= 0:
			out = c.changed(out, text, rng)
		default:
			out = append(out, text...)
		}
	}
	return out, nil
}

// stringEnd returns the length of the JSON string that text begins with, with
// its quotes; -1 where it does not end.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// isName reports whether a string followed by rest is the name of a property.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// fragmentOf returns what follows url in a JSON string, if that is nothing or a
// fragment.
func fragmentOf(text []byte, url string) (fragment string, ok bool) {
	plain := text[1 : len(text)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		var s string
		if json.Unmarshal(text, &s) != nil {
			return "", false
		}
		plain = []byte(s)
	}
	rest, ok := bytes.CutPrefix(plain, []byte(url))
	if !ok || len(rest) > 0 && rest[0] != '#' {
		return "", false
	}
	return string(rest), true
}

// changed appends text with some of its words replaced.
func (c *copier) changed(out, text []byte, rng *rand.Rand) []byte {
	out = append(out, '"')
	for i, word := range bytes.Split(text[1:len(text)-1], []byte(" ")) {
		if i > 0 {
			out = append(out, ' ')
		}
		if len(word) > 0 && rng.IntN(changedWords) == 0 {
			out = c.otherWord(out, rng)
		} else {
			out = append(out, word...)
		}
	}
	return append(out, '"')
}

func (c *copier) otherWord(out []byte, rng *rand.Rand) []byte {
	if rng.IntN(newWords) > 0 && len(c.sample) > 0 {
		return append(out, c.sample[rng.IntN(len(c.sample))]...)
	}
	const consonants, vowels = "bcdfghjklmnprstvwxz", "aeiou"
	for range 4 {
		out = append(out, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
	}
	return out
}

// quote is text as a JSON string.
func quote(text string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
