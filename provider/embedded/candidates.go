package embedded

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// candidate is a document that has a word of the query.
type candidate struct {
	score score
	doc   uint32
	part  *rankedPart
}

// rankedPart is a segment that is searched.
type rankedPart struct {
	part
	site *siteRow
	kept map[uint32]keptDocument // in place of a segment that was let go
}

// keptDocument is what remains to be known of a candidate.
type keptDocument struct {
	url      string
	id       int64
	language language
}

// url appends the URL of a document to buf.
func (p *rankedPart) url(doc uint32, buf []byte) []byte {
	if p.segment == nil {
		return append(buf, p.kept[doc].url...)
	}
	buf, _ = p.urls.at(int(doc), buf)
	return buf
}

// language returns the language of a document.
func (p *part) language(doc uint32) language {
	return language(min(p.languages[doc], byte(languages-1)))
}

// document returns the row and the language of a document.
func (p *rankedPart) document(doc uint32) (id int64, l language) {
	if p.segment == nil {
		k := p.kept[doc]
		return k.id, k.language
	}
	return p.id(int(doc)), p.language(doc)
}

// compare orders candidates: the higher score first, then by URL, then by site.
func (c candidate) compare(o candidate) int {
	if r := cmp.Compare(o.score, c.score); r != 0 {
		return r
	}
	if c.part == o.part {
		return cmp.Compare(c.doc, o.doc) // the order of the URLs
	}
	var bufC, bufO [128]byte
	if r := bytes.Compare(c.part.url(c.doc, bufC[:0]), o.part.url(o.doc, bufO[:0])); r != 0 {
		return r
	}
	return strings.Compare(c.part.site.name, o.part.site.name)
}

// ranking is the best documents of a search: those with a word that is not faint,
// and as long as there are none of those, the others.
type ranking struct {
	best, faint best
	clear       bool // whether there is a document with a word that is not faint
}

// floor returns the score that a document must have at least to be among the best.
func (r *ranking) floor() score {
	if !r.clear {
		return 0
	}
	return r.best.floor()
}

func (r *ranking) sorted() []candidate {
	if r.clear {
		return r.best.sorted()
	}
	return r.faint.sorted()
}

// letGo keeps of the segment of p what is needed of the documents that are among
// the best so far.
func (r *ranking) letGo(p *rankedPart) {
	p.kept = make(map[uint32]keptDocument)
	for _, list := range [][]candidate{r.best.heap, r.faint.heap} {
		for _, c := range list {
			if c.part == p {
				id, language := p.document(c.doc)
				p.kept[c.doc] = keptDocument{string(p.url(c.doc, nil)), id, language}
			}
		}
	}
	p.part = part{}
}

// best collects the best candidates behind one.
type best struct {
	limit int
	after *candidate  // nil: from the first on
	heap  []candidate // the worst on top
}

// floor returns the score that a candidate must have at least to be among the
// best.
func (b *best) floor() score {
	if len(b.heap) < b.limit {
		return 0
	}
	return b.heap[0].score
}

func (b *best) add(c candidate) {
	if c.score < b.floor() || b.after != nil && c.compare(*b.after) <= 0 {
		return
	}
	if len(b.heap) < b.limit {
		b.heap = append(b.heap, c)
		raiseLast(b.heap, worse)
		return
	}
	if c.compare(b.heap[0]) > 0 {
		return
	}
	b.heap[0] = c
	sinkFirst(b.heap, worse)
}

func worse(a, b candidate) bool { return a.compare(b) > 0 }

// sorted returns the candidates, the best first.
func (b *best) sorted() []candidate {
	slices.SortFunc(b.heap, candidate.compare)
	return b.heap
}
