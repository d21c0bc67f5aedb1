package embedded

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// A document is found by its words if the index has it under each of its words, as often
// as it has the word, and under no other. To compare that for all documents
// takes no more than one pass through the postings and one through the
// documents: both give each document a sum of its words, in which their order
// does not matter.

var sumSeed = maphash.MakeSeed()

// wordSum is what a term adds to the sum of a document.
func wordSum(term uint64, name, text uint32) uint64 {
	x := term ^ (uint64(name)<<32 | uint64(text))
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// measureSum is what the lengths and the language of a document add to its sum.
func measureSum(nameLength, textLength, language byte) uint64 {
	return wordSum(uint64(language)+1, uint32(nameLength), uint32(textLength))
}

// sum is the sum of a document whose terms were counted with a lexicon of these
// names.
func (t *terms) sum(names []string) uint64 {
	sum := measureSum(lengthCode(t.nameLength), lengthCode(t.textLength), byte(t.language))
	for _, c := range t.counts {
		sum += wordSum(maphash.String(sumSeed, names[c.id]), c.name, c.text)
	}
	return sum
}

// sums returns the sum of each document of a segment, as the index has it.
func (s *segment) sums() ([]uint64, error) {
	sums := make([]uint64, s.docs)
	for doc := range sums {
		sums[doc] = measureSum(s.nameLengths[doc], s.textLengths[doc], s.languages[doc])
	}
	var list []posting
	c := s.terms.cursor()
	for ; !c.done; c.next() {
		var err error
		if list, err = c.list.appendTo(list[:0], s.docs); err != nil {
			return nil, err
		}
		term := maphash.Bytes(sumSeed, c.term)
		for _, p := range list {
			sums[p.doc] += wordSum(term, p.name, p.text)
		}
	}
	return sums, c.broken
}

// indexedSums are the sums of documents, by their rows.
type indexedSums struct{ list []indexedSum }

type indexedSum struct {
	id  int64
	sum uint64
}

// add adds the living documents of a segment that has been verified.
func (x *indexedSums) add(p part) error {
	sums, err := p.sums()
	if err != nil {
		return err
	}
	for doc, sum := range sums {
		if !p.dead.has(doc) {
			x.list = append(x.list, indexedSum{p.id(doc), sum})
		}
	}
	return nil
}

func (x *indexedSums) sort() {
	byID := func(a, b indexedSum) int { return cmp.Compare(a.id, b.id) }
	if !slices.IsSortedFunc(x.list, byID) {
		slices.SortFunc(x.list, byID)
	}
}

// of returns the sum of the document in a row; it is not ok where the index has
// none. The sums must have been sorted.
func (x *indexedSums) of(id int64) (sum uint64, ok bool) {
	i, ok := slices.BinarySearchFunc(x.list, id, func(s indexedSum, id int64) int { return cmp.Compare(s.id, id) })
	if !ok {
		return 0, false
	}
	return x.list[i].sum, true
}
