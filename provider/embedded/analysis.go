package embedded

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// analysisVersion changes with every rule that decides what is indexed for a
// text or looked for by a query. Documents indexed under another version are
// reported by List as not Indexed.
const analysisVersion = 3

// maxQueryWords bounds the different words of a query that are looked for, the
// first ones; a longer text is a document, not a question.
const maxQueryWords = 128

// termCount is how often a term occurs in the two fields of a document.
type termCount struct {
	id         uint32 // of the term in the analyser's lexicon
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
	lexicon *lexicon
	stemmer *stemmer
	known   knownWords
	at      []uint32    // by term number: its place in counts, where that place is of it
	counts  []termCount // of the document at hand
}

func newAnalyser(x *lexicon) *analyser { return &analyser{lexicon: x, stemmer: newStemmer()} }

// document returns the terms of a document by its name, its text and the
// language it declares, which may be empty.
func (a *analyser) document(name, text, declared string) terms {
	t := terms{language: languageOf(declared, name, text)}
	a.counts = a.counts[:0]
	eachToken(name, func(tok token) {
		if tok.kind.counts() {
			t.nameLength++
		}
		terms := a.terms(t.language, tok)
		for _, id := range terms.ids[:terms.n] {
			a.count(id).name++
		}
	})
	eachToken(text, func(tok token) {
		if tok.kind.counts() {
			t.textLength++
		}
		terms := a.terms(t.language, tok)
		for _, id := range terms.ids[:terms.n] {
			a.count(id).text++
		}
	})
	t.counts = slices.Clone(a.counts)
	return t
}

func (a *analyser) count(id uint32) *termCount {
	if int(id) >= len(a.at) {
		a.at = append(a.at, make([]uint32, int(id)+1024-len(a.at))...)
	}
	i := a.at[id]
	if int(i) >= len(a.counts) || a.counts[i].id != id {
		i = uint32(len(a.counts))
		a.at[id] = i
		a.counts = append(a.counts, termCount{id: id})
	}
	return &a.counts[i]
}

// terms returns the terms of a token: its folded form and its stems.
func (a *analyser) terms(l language, tok token) termIDs {
	key := keyOf(l, tok.kind)
	list, ok := a.known.find(tok.text, key)
	if ok {
		return list
	}
	a.stemmer.eachTerm(l, tok, func(term string) {
		list.ids[list.n] = a.lexicon.id(term)
		list.n++
	})
	a.known.add(tok.text, key, list)
	return list
}

// eachTerm calls yield for each term of a token in a language.
func (s *stemmer) eachTerm(l language, tok token, yield func(term string)) {
	folded := tok.text
	if tok.kind != gram && tok.kind != letter {
		folded = fold(tok.text)
	}
	if folded == "" {
		return
	}
	yield(folded)
	if tok.kind == word || tok.kind == compound {
		stems, n := s.stems(l, tok.text, folded)
		for _, stem := range stems[:n] {
			yield(stemTerm(l, stem))
		}
	}
}

// queryWord is a word of a query.
type queryWord struct {
	folded  string
	written string // empty where it has no stem: a code or a gram
	// loud is set for a word in capitals among others that are not, as in "IT
	// jobs": its writer means a name.
	loud bool
	// partOf is one more than the place of the number, joined to one word, of
	// which this is a part between hyphens; 0 if of none.
	partOf int
}

// queryWords returns the different words of a query, in order, at most
// maxQueryWords of them.
func queryWords(text string) []queryWord {
	var list []queryWord
	var starts []int
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
			w.loud = isLoud(tok.text)
		}
		if w.folded == "" || seen[w.folded] {
			return
		}
		seen[w.folded] = true
		if tok.kind == compound && isNumbered(w.folded) {
			for i := len(list) - 1; i >= 0 && starts[i] >= tok.start; i-- {
				list[i].partOf = 1 + len(list)
			}
		}
		list, starts = append(list, w), append(starts, tok.start)
	})
	if strings.ToUpper(text) == text {
		for i := range list {
			list[i].loud = false
		}
	}
	return list
}

// isLoud reports whether a word of more than one letter is all capitals.
func isLoud(w string) bool {
	return utf8.RuneCountInString(w) > 1 && w == strings.ToUpper(w) && w != strings.ToLower(w)
}

// form is a term that stands for a word of a query.
type form struct {
	term string
	// weight is what an occurrence counts: 1 for the word itself.
	weight float32
	// in is the languages of the documents in which it does.
	in languageSet
	// holds is the place of a form each occurrence of which, in the documents
	// where this one is found, is one of this form as well; -1 for none.
	holds int
}

// maxForms bounds the forms of a word: itself, and for a language itself as a
// stem and two stems, each as a stem and as a word; in German, another spelling
// and its stems.
const maxForms = 1 + 5*int(languages) + 6

// forms returns the terms that stand for w, in a query in the language own,
// where documents are in one of langs: first w itself, then its stems, and
// those stems as words.
func (s *stemmer) forms(w queryWord, own language, langs []language) []form {
	list := formList{{term: w.folded, weight: 1, in: anyLanguage, holds: -1}}
	if w.written == "" || !isStemmable(w.folded) {
		return list
	}
	for _, l := range langs {
		// By the rules of another language than its own, a word is cut to what
		// may be the stem of quite another word: trail is that of the Spanish
		// tráiler.
		weight, asWord := float32(foreignFormWeight), languageSet(0).with(l)
		if l == own {
			weight, asWord = formWeight, anyLanguage
		}
		list.addStems(s, l, w.written, w.folded, weight, asWord, 0)
		// The word may be a stem itself, which others have as theirs, also where
		// it has one of its own, as français has, the stem of française.
		list.add(form{stemTerm(l, w.folded), weight, anyLanguage, -1})
		if l != german {
			continue
		}
		if respelt := respellGerman(lower(w.written)); respelt != "" {
			in, folded := languageSet(0).with(l), fold(respelt)
			at := list.add(form{folded, weight, in, -1})
			list.addStems(s, l, respelt, folded, weight, in, at)
			list.add(form{stemTerm(l, folded), weight, in, -1})
		}
	}
	return list
}

// formList collects the forms of a word.
type formList []form

// add adds f and returns its place. A term stands for a word once.
func (list *formList) add(f form) int {
	for i := range *list {
		if have := &(*list)[i]; have.term == f.term {
			have.in |= f.in
			have.weight = max(have.weight, f.weight)
			return i
		}
	}
	*list = append(*list, f)
	return len(*list) - 1
}

// addStems adds the stems of a word that is the form at a place, and those stems
// as words of documents in asWord.
func (list *formList) addStems(s *stemmer, l language, written, folded string, weight float32, asWord languageSet, place int) {
	stems, n := s.stems(l, written, folded)
	for _, stem := range stems[:n] {
		list.add(form{stemTerm(l, stem), weight, anyLanguage, place})
		list.add(form{stem, weight, asWord, -1})
	}
}
