package embedded

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// The ranking is BM25 over two fields (BM25F; Robertson and Zaragoza, "The
// Probabilistic Relevance Framework", 2009). For a word w and a document d
//
//	T(w, d) = sum over fields: weight * occurrences / (1 - b + b * length / mean length)
//	score   = sum over words:  f(w, d) * idf(w) * T * (k1 + 1) / (k1 + T)
//	idf(w)  = ln(1 + (N - n + 0.5) / (n + 0.5))
//
// where N, n and the mean lengths are those of the living documents of the
// searched sites, and of no others. A word's other forms count as formWeight
// of an occurrence, or foreignFormWeight by the rules of a language that the
// query is not in, and w with all its forms is one word with one n, so that a
// stem never counts twice.
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

// candidate is a document that has a word of the query.
type candidate struct {
	score float64
	doc   uint32
	part  int32 // index in ranking.parts
}

// rankedPart is a segment that is searched.
type rankedPart struct {
	*part
	site *siteRow
}

// ranking holds all documents that have a word of a query, with their scores.
// Its buffers are the scratch it was made with, which it must not outlive.
type ranking struct {
	parts      []rankedPart
	candidates []candidate
}

// occurrence is how much a document has of a word, all its forms together.
type occurrence struct {
	doc        uint32
	name, text float32
}

// scratch is the memory of one ranking, kept for the next.
type scratch struct {
	parts       []rankedPart
	postings    [][]posting  // of the forms of a word in a segment
	occurrences []occurrence // of all words in all segments, one after another
	ends        []int        // where in occurrences a word in a segment ends
	scores      []float64
	touched     []uint32
	faintScores []float64 // what faint words add to scores
	faintOnly   []candidate
	candidates  []candidate
	nameNorm    [256]float64
	textNorm    [256]float64
}

// rank ranks the documents of indexes by the words of a query.
func (sc *scratch) rank(ctx context.Context, st *stemmer, words []queryWord, indexes []*siteIndex) (*ranking, error) {
	var stats statistics
	sc.parts = sc.parts[:0]
	for _, x := range indexes {
		stats.add(&x.stats)
		for i := range x.parts {
			sc.parts = append(sc.parts, rankedPart{&x.parts[i].part, &x.site})
		}
	}
	weights, err := sc.gather(ctx, st, words, &stats)
	if err != nil {
		return nil, err
	}
	sc.normalise(&stats)
	if err := sc.score(ctx, weights); err != nil {
		return nil, err
	}
	return &ranking{sc.parts, sc.candidates}, nil
}

// wordWeight is what a word of a query counts.
type wordWeight struct {
	idf   float64
	faint languageSet // the languages of the documents in which it is faint
}

// gather fills occurrences, word by word, and returns what each word counts.
func (sc *scratch) gather(ctx context.Context, st *stemmer, words []queryWord, stats *statistics) ([]wordWeight, error) {
	spoken := stats.spoken()
	own := languageOfQuery(words, spoken)
	sc.occurrences, sc.ends = sc.occurrences[:0], sc.ends[:0]
	weights := make([]wordWeight, len(words))
	found := make([]int, len(words))
	for i, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		forms := st.forms(w, own, spoken)
		before := len(sc.occurrences)
		for _, p := range sc.parts {
			if err := sc.find(p.part, forms); err != nil {
				return nil, err
			}
			sc.ends = append(sc.ends, len(sc.occurrences))
		}
		found[i] = len(sc.occurrences) - before
		n := float64(found[i])
		weights[i].idf = math.Log(1 + (float64(stats.documents)-n+0.5)/(n+0.5))
	}
	for i, set := range faintWords(words, own, func(word int) bool { return found[word] > 0 }) {
		weights[i].faint = set
	}
	return weights, nil
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

// language returns the language of a document.
func (p *part) language(doc uint32) language {
	return language(min(p.languages[doc], byte(languages-1)))
}

// find appends the occurrences of a word, given by its forms, in p.
func (sc *scratch) find(p *part, forms []form) error {
	for len(sc.postings) < len(forms) {
		sc.postings = append(sc.postings, nil)
	}
	used, last := 0, 0
	for i, f := range forms {
		list, err := p.term(f.term, sc.postings[i][:0])
		sc.postings[i] = list
		if err != nil {
			return err
		}
		if len(list) > 0 {
			used, last = used+1, i
		}
	}
	switch {
	case used == 0:
	case used == 1:
		f := forms[last]
		for _, o := range sc.postings[last] {
			if !p.dead.has(int(o.doc)) && (f.in == anyLanguage || f.in.has(p.language(o.doc))) {
				sc.occurrences = append(sc.occurrences, occurrence{o.doc, f.weight * float32(o.name), f.weight * float32(o.text)})
			}
		}
	default:
		sc.merge(p, forms)
	}
	return nil
}

// merge appends the occurrences of several forms of a word.
func (sc *scratch) merge(p *part, forms []form) {
	lists := sc.postings[:len(forms)]
	var at [maxForms]int
	var found [maxForms]posting
	for {
		doc := gone
		for i, list := range lists {
			if at[i] < len(list) {
				doc = min(doc, list[at[i]].doc)
			}
		}
		if doc == gone {
			return
		}
		var o occurrence
		counts := false
		for i, list := range lists {
			found[i] = posting{}
			if at[i] == len(list) || list[at[i]].doc != doc {
				continue
			}
			f := &forms[i]
			here := list[at[i]]
			at[i]++
			if f.in != anyLanguage && !f.in.has(p.language(doc)) {
				continue
			}
			counts = true
			found[i] = here
			if f.holds >= 0 {
				held := found[f.holds]
				here.name -= min(here.name, held.name)
				here.text -= min(here.text, held.text)
			}
			o.name += f.weight * float32(here.name)
			o.text += f.weight * float32(here.text)
		}
		if counts && !p.dead.has(int(doc)) {
			o.doc = doc
			sc.occurrences = append(sc.occurrences, o)
		}
	}
}

// normalise prepares what an occurrence counts in a field of each length.
func (sc *scratch) normalise(stats *statistics) {
	n := math.Max(1, float64(stats.documents))
	meanName, meanText := math.Max(1, float64(stats.nameWords)/n), math.Max(1, float64(stats.textWords)/n)
	for code, words := range lengthOf {
		sc.nameNorm[code] = nameWeight / (1 - nameB + nameB*float64(words)/meanName)
		sc.textNorm[code] = 1 / (1 - textB + textB*float64(words)/meanText)
	}
}

// score fills candidates.
func (sc *scratch) score(ctx context.Context, weights []wordWeight) error {
	sc.candidates, sc.faintOnly = sc.candidates[:0], sc.faintOnly[:0]
	for n, p := range sc.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(sc.scores) < p.docs {
			sc.scores = make([]float64, max(p.docs, 2*len(sc.scores)))
			sc.faintScores = make([]float64, len(sc.scores))
		}
		scores, faint := sc.scores[:p.docs], sc.faintScores[:p.docs]
		sc.touched = sc.touched[:0]
		for w, weight := range weights {
			list := sc.occurrencesOf(w, n)
			for i := range list {
				o := &list[i]
				t := float64(o.name)*sc.nameNorm[p.nameLengths[o.doc]] + float64(o.text)*sc.textNorm[p.textLengths[o.doc]]
				score := weight.idf * t * (k1 + 1) / (k1 + t)
				if scores[o.doc] == 0 && faint[o.doc] == 0 {
					sc.touched = append(sc.touched, o.doc)
				}
				if weight.faint != 0 && weight.faint.has(p.language(o.doc)) {
					faint[o.doc] += faintWeight * score
				} else {
					scores[o.doc] += score
				}
			}
		}
		for _, doc := range sc.touched {
			c := candidate{scores[doc] + faint[doc], doc, int32(n)}
			if scores[doc] > 0 {
				sc.candidates = append(sc.candidates, c)
			} else {
				sc.faintOnly = append(sc.faintOnly, c)
			}
			scores[doc], faint[doc] = 0, 0
		}
	}
	if len(sc.candidates) == 0 {
		sc.candidates, sc.faintOnly = sc.faintOnly, sc.candidates
	}
	return nil
}

// occurrencesOf returns the occurrences of word w in part n.
func (sc *scratch) occurrencesOf(w, n int) []occurrence {
	i := w*len(sc.parts) + n
	start := 0
	if i > 0 {
		start = sc.ends[i-1]
	}
	return sc.occurrences[start:sc.ends[i]]
}

// compare orders candidates: the higher score first, then by URL, then by site.
func (r *ranking) compare(a, b candidate) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	if a.part == b.part {
		return cmp.Compare(a.doc, b.doc) // the order of the URLs
	}
	pa, pb := &r.parts[a.part], &r.parts[b.part]
	var bufA, bufB [128]byte
	urlA, _ := pa.urls.at(int(a.doc), bufA[:0])
	urlB, _ := pb.urls.at(int(b.doc), bufB[:0])
	if c := bytes.Compare(urlA, urlB); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(pa.site.name, pb.site.name), cmp.Compare(a.part, b.part))
}

// best returns the k best candidates behind after, which may be nil, in order.
func (r *ranking) best(k int, after *candidate) []candidate {
	// A heap with the worst of the best so far on top.
	heap := make([]candidate, 0, min(k, len(r.candidates)))
	worse := func(i, j int) bool { return r.compare(heap[i], heap[j]) > 0 }
	for _, c := range r.candidates {
		if after != nil && (c == *after || r.compare(c, *after) < 0) {
			continue
		}
		if len(heap) < k {
			heap = append(heap, c)
			for i := len(heap) - 1; i > 0 && worse(i, (i-1)/2); i = (i - 1) / 2 {
				heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
			}
			continue
		}
		if c.score < heap[0].score || r.compare(c, heap[0]) > 0 {
			continue
		}
		heap[0] = c
		for i := 0; ; {
			child := 2*i + 1
			if child >= len(heap) {
				break
			}
			if child+1 < len(heap) && worse(child+1, child) {
				child++
			}
			if !worse(child, i) {
				break
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
	}
	slices.SortFunc(heap, r.compare)
	return heap
}
