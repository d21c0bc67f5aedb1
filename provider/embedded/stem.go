package embedded

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	stemdanish "github.com/blevesearch/snowballstem/danish"
	stemdutch "github.com/blevesearch/snowballstem/dutch"
	stemenglish "github.com/blevesearch/snowballstem/english"
	stemfinnish "github.com/blevesearch/snowballstem/finnish"
	stemfrench "github.com/blevesearch/snowballstem/french"
	stemgerman "github.com/blevesearch/snowballstem/german"
	stemhungarian "github.com/blevesearch/snowballstem/hungarian"
	stemirish "github.com/blevesearch/snowballstem/irish"
	stemitalian "github.com/blevesearch/snowballstem/italian"
	stemnorwegian "github.com/blevesearch/snowballstem/norwegian"
	stemportuguese "github.com/blevesearch/snowballstem/portuguese"
	stemromanian "github.com/blevesearch/snowballstem/romanian"
	stemrussian "github.com/blevesearch/snowballstem/russian"
	stemspanish "github.com/blevesearch/snowballstem/spanish"
	stemswedish "github.com/blevesearch/snowballstem/swedish"
	stemtamil "github.com/blevesearch/snowballstem/tamil"
	stemturkish "github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

// stemmer finds the stems of words. It is not safe for concurrent use.
type stemmer struct {
	env *snowballstem.Env
}

// newStemmer returns a stemmer.
func newStemmer() *stemmer { return &stemmer{env: snowballstem.NewEnv("")} }

// stems returns the stems, in a language, of a word as it is written and
// folded, without those that equal the folded word. There are two at most: a
// stemmer goes by the endings of its language, which may have accents, and who
// types a word without them should find it all the same.
func (s *stemmer) stems(l language, written, folded string) (stems [2]string, n int) {
	if l == noLanguage || !isStemmable(folded) {
		return stems, 0
	}
	add := func(stem string) {
		if stem != "" && stem != folded && (n == 0 || stem != stems[0]) {
			stems[n] = stem
			n++
		}
	}
	switch l {
	case hindi:
		add(cutEnding(folded, hindiNounEndings, 2))
		add(cutEnding(folded, hindiEndings, 2))
		return stems, n
	case arabic:
		add(stemArabic(folded))
		if rest := strings.TrimPrefix(folded, "و"); utf8.RuneCountInString(rest) >= 4 {
			add(stemArabic(rest)) // "and", as far as it is not part of the word
		}
		return stems, n
	}
	if lowered := lower(written); lowered != folded {
		add(fold(s.stem(l, lowered)))
	}
	add(fold(s.stem(l, folded)))
	if n < len(stems) {
		add(irregularStem(l, folded))
	}
	return stems, n
}

// isStemmable reports whether folded is a word of letters, not a number or a
// code.
func isStemmable(folded string) bool {
	if len(folded) < 3 || len(folded) >= maxTermBytes {
		return false
	}
	for i := 0; i < len(folded); i++ {
		if c := folded[i]; c < utf8.RuneSelf && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// lower is fold without the removal of accents.
func lower(word string) string {
	if isASCII(word) {
		return lowerASCII(word)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(word))
}

func (s *stemmer) stem(l language, w string) string {
	step := snowballStep(l)
	if step == nil {
		return w
	}
	s.env.SetCurrent(w)
	step(s.env)
	stem := s.env.Current()
	if l == german && isFemininePlural(w) {
		// Gärtnerinnen is the plural of Gärtnerin, which the stemmer leaves
		// as it is.
		stem = strings.TrimSuffix(stem, "n")
	}
	return stem
}

// isFemininePlural reports whether a German word ends in the plural of -in, as
// Gärtnerinnen and Freundinnen do, and not in an -inn of its root.
func isFemininePlural(w string) bool {
	root, ok := strings.CutSuffix(w, "innen")
	if !ok || utf8.RuneCountInString(root) < 3 || root == "ger" || root == "dar" {
		return false // innen, drinnen, Spinnen, gerinnen, darinnen
	}
	for _, end := range beforeInn {
		if strings.HasSuffix(root, end) {
			return false
		}
	}
	return true
}

// beforeInn is what comes before -innen where it is no plural of -in: in
// beginnen, gewinnen, spinnen, sinnen and their compounds, and in Rinnen and
// rinnen behind a consonant.
var beforeInn = strings.Fields("beg gew bes ges sp ents nachs verr zerr br chr dr gr lr mr nr sr tr wr")

func snowballStep(l language) func(*snowballstem.Env) bool {
	switch l {
	case english:
		return stemenglish.Stem
	case german:
		return stemgerman.Stem
	case french:
		return stemfrench.Stem
	case spanish:
		return stemspanish.Stem
	case italian:
		return stemitalian.Stem
	case portuguese:
		return stemportuguese.Stem
	case dutch:
		return stemdutch.Stem
	case swedish:
		return stemswedish.Stem
	case danish:
		return stemdanish.Stem
	case norwegian:
		return stemnorwegian.Stem
	case finnish:
		return stemfinnish.Stem
	case russian:
		return stemrussian.Stem
	case hungarian:
		return stemhungarian.Stem
	case romanian:
		return stemromanian.Stem
	case turkish:
		return stemturkish.Stem
	case tamil:
		return stemtamil.Stem
	case irish:
		return stemirish.Stem
	}
	return nil
}
