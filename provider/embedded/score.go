package embedded

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// windowDocs is how many documents of a segment are scored at a time: their
// scores stay in the nearest cache of a processor.
const windowDocs = 2048

// scratch is the memory of one ranking, kept for the next.
type scratch struct {
	found   []foundTerm // in all parts, one after another
	ends    []int       // where in found a part ends
	places  []bucketPlace
	near    byte
	reader  postingReader
	readers []*postingReader
	words   []*wordInPart
	memory  []wordInPart // of words
	forms   []formInPart
	norms   norms

	// Of the documents of a window.
	scores  [windowDocs]score
	faint   [windowDocs]score // what faint words add
	touched []uint32          // the documents, from the window's first one on, that have a score
	amounts [windowDocs]float64
	held    [][windowDocs]counts // of forms that others hold
	having  []uint32             // the documents that have the word at hand

	optional int // words, see split
	chosen   docMask
}

// counts is how often a form is in the fields of a document.
type counts struct{ name, text uint32 }

// foundTerm is a term of the query that a segment has.
type foundTerm struct {
	term int // its place in wanted.terms
	list postingList
}

// find appends the terms of w that p has to found.
func (sc *scratch) find(w *wanted, p *part) error {
	d := &p.terms
	if d.n == 0 {
		return nil
	}
	sc.places = sc.places[:0]
	for i := range w.terms {
		sc.places = append(sc.places, d.placeOf(w.terms[i].hash))
	}
	for _, at := range sc.places {
		sc.near |= d.touch(at)
	}
	for i, at := range sc.places {
		t := &w.terms[i]
		list, err := d.findIn(at, t.term, t.hash)
		if err != nil {
			return err
		}
		if list.n > 0 {
			sc.found = append(sc.found, foundTerm{i, list})
		}
	}
	return nil
}

// count adds the living documents of p that have the terms found there to w.
func (sc *scratch) count(w *wanted, p *part, found []foundTerm) error {
	for _, f := range found {
		n, err := f.list.living(p.dead, &sc.reader, p.docs)
		if err != nil {
			return err
		}
		w.terms[f.term].documents += int64(n)
	}
	return nil
}

// wordInPart is a word of the query in a segment, by its forms there.
type wordInPart struct {
	forms  []formInPart
	weight float64
	faint  languageSet
	bound  score // in the window at hand
}

// formInPart is a form of a word in a segment. Of what it holds, and of what
// others hold of it, the places in scratch.held are one less; 0 stands for
// nothing.
type formInPart struct {
	*postingReader
	weight      float32
	in          languageSet
	holds, held int
}

// open prepares to read the lists of a part.
func (sc *scratch) open(w *wanted, p *part, found []foundTerm) error {
	for len(sc.readers) < len(found) {
		sc.readers = append(sc.readers, new(postingReader))
	}
	sc.words, sc.forms = sc.words[:0], slices.Grow(sc.forms[:0], len(found))
	sc.memory = slices.Grow(sc.memory[:0], len(w.words))
	next := 0
	for i := range w.words {
		word := &w.words[i]
		first := len(sc.forms)
		var place [maxForms]int // of a form among those found, plus one
		for ; next < len(found) && found[next].term < word.end; next++ {
			r := sc.readers[next]
			if err := r.read(found[next].list, p.docs); err != nil {
				return err
			}
			t := &w.terms[found[next].term]
			f := formInPart{postingReader: r, weight: t.weight, in: t.in}
			if t.holds >= 0 && place[t.holds] > 0 {
				f.holds = sc.hold(sc.forms[first:], place[t.holds]-1)
			}
			sc.forms = append(sc.forms, f)
			place[found[next].term-word.first] = len(sc.forms) - first
		}
		if len(sc.forms) > first {
			sc.memory = append(sc.memory, wordInPart{forms: sc.forms[first:], weight: word.weight(), faint: word.faint})
			sc.words = append(sc.words, &sc.memory[len(sc.memory)-1])
		}
	}
	return nil
}

// hold sees to it that the counts of a form are kept, and returns where.
func (sc *scratch) hold(forms []formInPart, held int) int {
	if forms[held].held == 0 {
		n := 1
		for i := range forms {
			n = max(n, forms[i].held+1)
		}
		forms[held].held = n
		for len(sc.held) < n {
			sc.held = append(sc.held, [windowDocs]counts{})
		}
	}
	return forms[held].held
}

// score ranks the documents of p, of which found has the terms, among the best.
// It goes through them a window at a time, word by word. When there are enough
// candidates, words that cannot by themselves bring a document of the window
// among the best are looked up for the documents that others bring, and nowhere
// else (MaxScore; Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995, with bounds of blocks).
func (sc *scratch) score(ctx context.Context, w *wanted, p *rankedPart, found []foundTerm, r *ranking) error {
	if err := sc.open(w, &p.part, found); err != nil {
		return err
	}
	if sc.hopeless(r.floor()) {
		return nil
	}
	for start := 0; start < p.docs; start += windowDocs {
		if err := ctx.Err(); err != nil {
			return err
		}
		base, floor := uint32(start), r.floor()
		rest, err := sc.split(base, floor)
		if err != nil {
			return err
		}
		needed, others := sc.words[sc.optional:], sc.words[:sc.optional]
		if len(needed) == 0 {
			continue
		}
		for _, word := range needed {
			if err := sc.add(&p.part, word, base, nil); err != nil {
				return err
			}
		}
		if len(others) > 0 && sc.drop(floor, rest) {
			for _, word := range others {
				if err := sc.add(&p.part, word, base, &sc.chosen); err != nil {
					return err
				}
			}
		}
		sc.collect(p, base, r)
	}
	return nil
}

// hopeless reports whether no document of the part can reach floor.
func (sc *scratch) hopeless(floor score) bool {
	var most score
	for _, w := range sc.words {
		most += w.most(math.Inf(1))
	}
	return most < floor
}

// most returns the most that the word counts in a document, by the most that its
// forms count.
func (w *wordInPart) most(t float64) score {
	share := 1.0
	if !math.IsInf(t, 1) {
		share = t / (k1 + t)
	}
	if w.faint == anyLanguage {
		share *= faintWeight
	}
	// What is more than a rounding error, and less than matters.
	const slack = 1 + 1e-9
	return 1 + score(scoreUnit*slack*w.weight*share)
}

// split puts the words first that together cannot reach floor in the window that
// begins at base, as many as possible, and sets optional to their number. rest
// is the most that they count.
func (sc *scratch) split(base uint32, floor score) (rest score, err error) {
	sc.optional = 0
	for _, w := range sc.words {
		t := 0.0
		for i := range w.forms {
			f := &w.forms[i]
			if err := f.seek(base); err != nil {
				return 0, err
			}
			if floor > 0 {
				t += float64(f.weight) * f.most(base, base+windowDocs, &sc.norms)
			}
		}
		w.bound = w.most(t)
	}
	if floor == 0 {
		return 0, nil
	}
	slices.SortFunc(sc.words, func(a, b *wordInPart) int { return cmp.Compare(a.bound, b.bound) })
	for sc.optional < len(sc.words) && rest+sc.words[sc.optional].bound < floor {
		rest += sc.words[sc.optional].bound
		sc.optional++
	}
	return rest, nil
}

// drop forgets the documents that cannot reach floor with rest more, and marks
// the others as chosen. It reports whether there are any.
func (sc *scratch) drop(floor, rest score) bool {
	sc.chosen = docMask{}
	kept := sc.touched[:0]
	for _, d := range sc.touched {
		if sc.scores[d]+sc.faint[d]+rest < floor {
			sc.scores[d], sc.faint[d] = 0, 0
			continue
		}
		kept = append(kept, d)
		sc.chosen.set(d)
	}
	sc.touched = kept
	return len(kept) > 0
}

// more reports whether there is another posting in the window that begins at
// base. Blocks without any of the chosen documents, if not nil, are passed over.
func (f *formInPart) more(base uint32, chosen *docMask) (bool, error) {
	for f.at == f.n {
		if f.left == 0 || f.before+1 >= int(base)+windowDocs {
			return false, nil
		}
		if chosen != nil && f.skips != nil && f.left >= blockPostings {
			first, last := max(f.before+1-int(base), 0), min(int(binary.LittleEndian.Uint32(f.skips))-int(base), windowDocs-1)
			if last < windowDocs-1 && last >= first && !chosen.anyIn(uint32(first), uint32(last)) {
				if err := f.skip(); err != nil {
					return false, err
				}
				continue
			}
		}
		if err := f.next(); err != nil {
			return false, err
		}
	}
	return f.docs[f.at]-base < windowDocs, nil
}

// add adds the scores of a word to those of the window that begins at base, for
// the chosen documents, or for all where chosen is nil.
func (sc *scratch) add(p *part, w *wordInPart, base uint32, chosen *docMask) error {
	if len(w.forms) == 1 {
		return sc.addForm(p, w, base, chosen)
	}
	slots := 0
	sc.having = sc.having[:0]
	for i := range w.forms {
		f := &w.forms[i]
		slots = max(slots, f.held)
		for {
			if more, err := f.more(base, chosen); err != nil {
				return err
			} else if !more {
				break
			}
			for ; f.at < f.n; f.at++ {
				doc := f.docs[f.at]
				d := doc - base
				if d >= windowDocs {
					break
				}
				if chosen != nil && !chosen.has(d) || f.in != anyLanguage && !f.in.has(p.language(doc)) || p.dead.has(int(doc)) {
					continue
				}
				c := counts{text: f.texts[f.at]}
				if f.named {
					c.name = f.names[f.at]
				}
				if f.held > 0 {
					sc.held[f.held-1][d] = c
				}
				if f.holds > 0 {
					other := sc.held[f.holds-1][d]
					c.name -= min(c.name, other.name)
					c.text -= min(c.text, other.text)
				}
				if sc.amounts[d] == 0 {
					sc.having = append(sc.having, d)
				}
				sc.amounts[d] += amount(f.weight, c.name, c.text, sc.norms.name[p.nameLengths[doc]], sc.norms.text[p.textLengths[doc]])
			}
		}
	}
	for _, d := range sc.having {
		t := sc.amounts[d]
		sc.amounts[d] = 0
		for slot := range slots {
			sc.held[slot][d] = counts{}
		}
		sc.give(p, w, base+d, d, scoreOf(w.weight, t))
	}
	return nil
}

// addForm is add for a word that is in the segment in one form.
func (sc *scratch) addForm(p *part, w *wordInPart, base uint32, chosen *docMask) error {
	f := &w.forms[0]
	for {
		if more, err := f.more(base, chosen); err != nil || !more {
			return err
		}
		for ; f.at < f.n; f.at++ {
			doc := f.docs[f.at]
			d := doc - base
			if d >= windowDocs {
				return nil
			}
			if chosen != nil && !chosen.has(d) || f.in != anyLanguage && !f.in.has(p.language(doc)) || p.dead.has(int(doc)) {
				continue
			}
			name := uint32(0)
			if f.named {
				name = f.names[f.at]
			}
			t := amount(f.weight, name, f.texts[f.at], sc.norms.name[p.nameLengths[doc]], sc.norms.text[p.textLengths[doc]])
			sc.give(p, w, doc, d, scoreOf(w.weight, t))
		}
	}
}

// give adds what a word counts to the scores of a document.
func (sc *scratch) give(p *part, w *wordInPart, doc, d uint32, s score) {
	if sc.scores[d]|sc.faint[d] == 0 {
		sc.touched = append(sc.touched, d)
	}
	if w.faint != 0 && w.faint.has(p.language(doc)) {
		sc.faint[d] += score(faintWeight * float64(s))
	} else {
		sc.scores[d] += s
	}
}

// collect ranks the documents of the window that begins at base.
func (sc *scratch) collect(p *rankedPart, base uint32, r *ranking) {
	for _, d := range sc.touched {
		c := candidate{sc.scores[d] + sc.faint[d], base + d, p}
		if sc.scores[d] > 0 {
			r.clear = true
			r.best.add(c)
		} else if !r.clear {
			r.faint.add(c)
		}
		sc.scores[d], sc.faint[d] = 0, 0
	}
	sc.touched = sc.touched[:0]
}
