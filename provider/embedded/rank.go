package embedded

import (
	"cmp"
	"math"
	"slices"
)

// The ranking is BM25 over two fields (BM25F; Robertson and Zaragoza, "The
// Probabilistic Relevance Framework", 2009). For a word w and a document d
//
//	T(w, d) = sum over fields: weight * occurrences / (1 - b + b * length / mean length)
//	score   = sum over words:  f(w, d) * idf(w) * T * (k1 + 1) / (k1 + T)
//	idf(w)  = ln(1 + (N - n + 0.5) / (n + 0.5))
//
// where N, n and the mean lengths are those of the living documents of the
// searched sites, and of no others: how often documents changed, and in which
// segments they are, moves nothing. A word's other forms count as formWeight
// of an occurrence, or foreignFormWeight by the rules of a language that the
// query is not in, and w with all its forms is one word with one n, so that a
// stem never counts twice. n is what can be told from how many documents have
// each form, without a look at which these are (see documentsWith).
//
// f is faintWeight for a word that says next to nothing in d (see faintWords),
// and 1 for any other. In a large English site "how" is in every other document
// and its idf says so; in a small one, or one of many languages, it is as rare as
// "coffee". A document with none but faint words of a query is no hit, unless
// every document found is such a one.
const (
	k1         = 1.2
	textB      = 0.75
	nameB      = 0.5 // names are short by nature: a long one says little
	nameWeight = 2.0 // on top of the one that the name has as part of the text

	formWeight        = 0.8
	foreignFormWeight = 0.1
	// Four of them at most weigh as much as one word that is as rare. More would
	// let a question's phrasing lead in a small site; less would lose what the
	// "for" of "sandals for women" still says.
	faintWeight = 0.25
)

// minLanguageShare is the share of the searched documents from which on the
// stems of a language are looked for.
const minLanguageShare = 0.05

// wanted is the words of a query as a search looks for them.
type wanted struct {
	words []wantedWord
	terms []wantedTerm // those of all words, one after another
	own   language
	stats statistics
	plain []queryWord

	weighed bool // whether it is known what each word counts
}

// wantedWord is a word with all its forms: the terms from first up to end.
type wantedWord struct {
	first, end int
	idf        float64
	faint      languageSet // the languages of the documents in which it is faint
}

// wantedTerm is a form of a word.
type wantedTerm struct {
	form
	hash      uint32
	documents int64 // living ones that have it
}

// want returns what to look for, for words in documents of which stats tells.
func want(st *stemmer, words []queryWord, stats statistics) *wanted {
	spoken := stats.spoken()
	w := &wanted{own: languageOfQuery(words, spoken), stats: stats, plain: words}
	for _, word := range words {
		first := len(w.terms)
		for _, f := range st.forms(word, w.own, spoken) {
			w.terms = append(w.terms, wantedTerm{form: f, hash: hashTerm([]byte(f.term))})
		}
		w.words = append(w.words, wantedWord{first: first, end: len(w.terms)})
	}
	return w
}

// weigh sets what each word counts, when it is known how many documents have
// each term.
func (w *wanted) weigh() {
	found := make([]int64, len(w.words))
	for i := range w.words {
		word := &w.words[i]
		found[i] = min(documentsWith(w.terms[word.first:word.end]), w.stats.documents)
		n := float64(found[i])
		word.idf = math.Log(1 + (float64(w.stats.documents)-n+0.5)/(n+0.5))
	}
	for i, set := range faintWords(w.plain, w.own, func(word int) bool { return found[word] > 0 }) {
		w.words[i].faint = set
	}
	w.weighed = true
}

// documentsWith returns how many documents have a word, at most, by how many have
// each of its forms. A form that others hold is in the same documents as those,
// or in documents of a language without them: in as many as have it, or as have
// one of the others, whichever is more. Any other form is taken to be in
// documents of its own.
func documentsWith(forms []wantedTerm) int64 {
	var n int64
	for i := range forms {
		if forms[i].holds >= 0 {
			continue
		}
		holding := int64(0)
		for j := range forms {
			if forms[j].holds == i {
				holding += forms[j].documents
			}
		}
		n += max(forms[i].documents, holding)
	}
	return n
}

// spoken returns the languages of which stems are looked for, the one of most
// documents first.
func (s *statistics) spoken() []language {
	var list []language
	for l := noLanguage + 1; l < languages; l++ {
		if n := s.languages[l]; n > 0 && float64(n) >= minLanguageShare*float64(s.documents) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b language) int { return cmp.Compare(s.languages[b], s.languages[a]) })
	return list
}

// norms is what an occurrence counts in a field of each length.
type norms struct{ name, text [256]float64 }

func (n *norms) set(stats *statistics) {
	documents := math.Max(1, float64(stats.documents))
	meanName, meanText := math.Max(1, float64(stats.nameWords)/documents), math.Max(1, float64(stats.textWords)/documents)
	for code, words := range lengthOf {
		n.name[code] = nameWeight / (1 - nameB + nameB*float64(words)/meanName)
		n.text[code] = 1 / (1 - textB + textB*float64(words)/meanText)
	}
}

// amount is T for one form in one document. The conversions keep compilers from
// fusing the operations in one place and not in another.
func amount(weight float32, name, text uint32, nameNorm, textNorm float64) float64 {
	return float64(weight) * (float64(float64(name)*nameNorm) + float64(float64(text)*textNorm))
}

// score is what a word counts in a document. Scores are whole numbers of
// 1/scoreUnit, so that they add up to the same in whatever order.
type score int64

const scoreUnit = 1 << 50

// of returns the score of a word with the weight (k1+1)*idf, which is more than
// 0: the word is there.
func scoreOf(weight, t float64) score { return 1 + score(scoreUnit*(weight*t/(k1+t))) }

func (w *wantedWord) weight() float64 { return (k1 + 1) * w.idf }
