package embedded

import (
	"slices"
	"strings"
)

// analysisVersion changes with every rule that decides what is indexed for a
// text or looked for by a query. Documents indexed under another version are
// reported by List as not Indexed.
const analysisVersion = 1

// maxQueryWords bounds the different words of a query that are looked for, the
// first ones; a longer text is a document, not a question.
const maxQueryWords = 128

// termCount is how often a term occurs in the two fields of a document.
type termCount struct {
	term       string
	name, text uint32
}

// terms is what a document is found by.
type terms struct {
	language               language
	nameLength, textLength uint32 // in words
	counts                 []termCount
}

// A term is a folded word, code or gram as it is; a stem, in any language, has
// the number of its language, a byte below any letter or digit, before it.
// A stem that is the folded word itself is not repeated: a query for another
// form of the word looks for both.
func stemTerm(l language, stem string) string { return string([]byte{byte(l)}) + stem }

// analyser turns documents into terms. It is not safe for concurrent use; it
// remembers the words it met, and is cheap to keep.
type analyser struct {
	stemmer *stemmer
	known   [languages]map[string][]string // word as written -> its terms
	at      map[string]int                 // term -> index in counts, of the document at hand
	counts  []termCount
}

// maxKnownWords bounds what an analyser remembers for a language.
const maxKnownWords = 1 << 15

func newAnalyser() *analyser {
	return &analyser{stemmer: newStemmer(), at: make(map[string]int)}
}

// document returns the terms of a document by its name, its text and the
// language it declares, which may be empty.
func (a *analyser) document(name, text, declared string) terms {
	t := terms{language: languageOf(declared, name, text)}
	clear(a.at)
	a.counts = a.counts[:0]
	eachToken(name, func(tok token) {
		if tok.kind.counts() {
			t.nameLength++
		}
		for _, term := range a.terms(t.language, tok) {
			a.count(term).name++
		}
	})
	eachToken(text, func(tok token) {
		if tok.kind.counts() {
			t.textLength++
		}
		for _, term := range a.terms(t.language, tok) {
			a.count(term).text++
		}
	})
	t.counts = slices.Clone(a.counts)
	return t
}

func (a *analyser) count(term string) *termCount {
	i, ok := a.at[term]
	if !ok {
		i = len(a.counts)
		a.at[term] = i
		a.counts = append(a.counts, termCount{term: term})
	}
	return &a.counts[i]
}

// terms returns the terms of a token: its folded form and its stems.
func (a *analyser) terms(l language, tok token) []string {
	if found, ok := a.known[l][tok.text]; ok {
		return found
	}
	var list []string
	folded := tok.text
	if tok.kind != gram && tok.kind != letter {
		folded = fold(tok.text)
	}
	if folded != "" {
		list = append(list, strings.Clone(folded))
		if tok.kind == word || tok.kind == compound {
			stems, n := a.stemmer.stems(l, tok.text, folded)
			for _, stem := range stems[:n] {
				list = append(list, stemTerm(l, stem))
			}
		}
	}
	if len(a.known[l]) >= maxKnownWords {
		a.known[l] = nil
	}
	if a.known[l] == nil {
		a.known[l] = make(map[string][]string)
	}
	a.known[l][strings.Clone(tok.text)] = list
	return list
}

// queryWord is a word of a query.
type queryWord struct {
	folded  string
	written string // empty where it has no stem: a code or a gram
}

// queryWords returns the different words of a query, in order, at most
// maxQueryWords of them.
func queryWords(text string) []queryWord {
	var list []queryWord
	seen := make(map[string]bool)
	eachToken(text, func(tok token) {
		if tok.kind == letter || len(list) == maxQueryWords {
			return
		}
		w := queryWord{folded: tok.text}
		if tok.kind != gram {
			w.folded = fold(tok.text)
		}
		if tok.kind == word || tok.kind == compound {
			w.written = tok.text
		}
		if w.folded == "" || seen[w.folded] {
			return
		}
		seen[w.folded] = true
		list = append(list, w)
	})
	return list
}

// form is a term that stands for a word of a query.
type form struct {
	term string
	// exact is set for the word itself. holdsExact is set for a stem under
	// which a document in its language also has each exact occurrence.
	exact, holdsExact bool
}

// maxForms bounds the forms of a word: itself, and for a language two stems, each
// as a stem and as a word.
const maxForms = 1 + 4*int(languages)

// forms returns the terms that stand for w where documents are in one of
// langs: first w itself, then its stems, and those stems as words.
func (s *stemmer) forms(w queryWord, langs []language) []form {
	list := []form{{term: w.folded, exact: true}}
	if w.written == "" {
		return list
	}
	add := func(f form) {
		for _, have := range list {
			if have.term == f.term {
				return
			}
		}
		list = append(list, f)
	}
	for _, l := range langs {
		if !isStemmable(w.folded) {
			break
		}
		stems, n := s.stems(l, w.written, w.folded)
		for _, stem := range stems[:n] {
			add(form{term: stemTerm(l, stem), holdsExact: true})
			add(form{term: stem})
		}
		if n == 0 {
			// The word is a stem itself: others have it as theirs.
			add(form{term: stemTerm(l, w.folded)})
		}
	}
	return list
}
