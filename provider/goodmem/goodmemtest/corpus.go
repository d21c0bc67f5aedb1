package goodmemtest

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// corpus is what a space holds, and what is needed to find it without looking
// at everything. The server's lock guards it.
type corpus struct {
	memories []*memory // by time and id; some gone
	gone     int
	texts    map[filter.Equality]*bucket
	terms    map[string]*postings
	chunks   int // indexed and not gone
	length   int // of these, in words
}

// bucket holds the memories with one text in one field.
type bucket struct {
	memories []*memory
	gone     int
}

// postings are the chunks that hold a word.
type postings struct {
	list []posting
	gone int
}

type posting struct {
	chunk *chunk
	count int
}

// longestText is the longest text of a field that is indexed.
const longestText = 1 << 10

func (c *corpus) live() []*memory {
	return slices.DeleteFunc(slices.Clone(c.memories), func(m *memory) bool { return m.gone })
}

func compareMemories(a, b *memory) int {
	return cmp.Or(cmp.Compare(a.created, b.created), strings.Compare(a.id, b.id))
}

// add takes in a memory, which is not found by a search yet.
func (c *corpus) add(m *memory) {
	// Nearly always the last place.
	at, _ := slices.BinarySearchFunc(c.memories, m, compareMemories)
	c.memories = slices.Insert(c.memories, at, m)
	if c.texts == nil {
		c.texts, c.terms = make(map[filter.Equality]*bucket), make(map[string]*postings)
	}
	for eq := range m.texts() {
		b := c.texts[eq]
		if b == nil {
			b = &bucket{}
			c.texts[eq] = b
		}
		b.memories = append(b.memories, m)
	}
}

// index makes the chunks of a memory findable.
func (c *corpus) index(m *memory) {
	for _, ch := range m.chunks {
		c.chunks++
		c.length += ch.length
		for term, count := range ch.terms {
			p := c.terms[term]
			if p == nil {
				p = &postings{}
				c.terms[term] = p
			}
			p.list = append(p.list, posting{ch, count})
		}
	}
	m.indexed = true
}

// remove takes a memory out. Lists are cleaned when half of them is gone.
func (c *corpus) remove(m *memory) {
	m.gone = true
	isGone := func(m *memory) bool { return m.gone }
	if c.gone++; c.gone*2 > len(c.memories) {
		c.memories, c.gone = slices.DeleteFunc(c.memories, isGone), 0
	}
	for eq := range m.texts() {
		b := c.texts[eq]
		if b.gone++; b.gone == len(b.memories) {
			delete(c.texts, eq)
		} else if b.gone*2 > len(b.memories) {
			b.memories, b.gone = slices.DeleteFunc(b.memories, isGone), 0
		}
	}
	if !m.indexed {
		return
	}
	for _, ch := range m.chunks {
		c.chunks--
		c.length -= ch.length
		for term := range ch.terms {
			p := c.terms[term]
			if p.gone++; p.gone == len(p.list) {
				delete(c.terms, term)
			} else if p.gone*2 > len(p.list) {
				p.list, p.gone = slices.DeleteFunc(p.list, func(p posting) bool { return p.chunk.memory.gone }), 0
			}
		}
	}
}

// candidates returns, by time and id, the memories that a filter can match, and
// all of them where the filter says nothing that the index knows.
func (c *corpus) candidates(f *filter.Expr) (found []*memory, all bool) {
	if f == nil {
		return c.memories, true
	}
	cover, ok := f.Cover(func(eq filter.Equality) int {
		if b := c.texts[eq]; b != nil {
			return len(b.memories)
		}
		return 0
	})
	ok = ok && !slices.ContainsFunc(cover, func(eq filter.Equality) bool { return len(eq.Value) > longestText })
	if !ok {
		return c.memories, true
	}
	for _, eq := range cover {
		if b := c.texts[eq]; b != nil {
			found = append(found, b.memories...)
		}
	}
	slices.SortFunc(found, compareMemories)
	return slices.Compact(found), false
}

// hit is a chunk with its likeness to a query.
type hit struct {
	chunk *chunk
	score float64 // as on the wire: the lowest is the best, or a reranker's
}

// search returns up to size chunks that accept lets through, the best first.
func (c *corpus) search(terms []string, size int, f *filter.Expr, accept func(*memory) bool, matchesOnly bool) []hit {
	candidates, all := c.candidates(f)
	weights, sum := c.weights(terms)
	likeness := make(map[*chunk]float64)
	if all {
		for _, w := range weights {
			if p := c.terms[w.term]; p != nil {
				for _, post := range p.list {
					if !post.chunk.memory.gone {
						likeness[post.chunk] += w.weight * c.saturation(post.count, post.chunk)
					}
				}
			}
		}
	} else {
		for _, m := range candidates {
			if m.gone || !m.indexed {
				continue
			}
			for _, ch := range m.chunks {
				for _, w := range weights {
					if n := ch.terms[w.term]; n > 0 {
						likeness[ch] += w.weight * c.saturation(n, ch)
					}
				}
			}
		}
	}
	ranked := make([]hit, 0, len(likeness))
	for ch, like := range likeness {
		ranked = append(ranked, hit{ch, single(-0.12 - 0.6*like/sum)})
	}
	slices.SortFunc(ranked, byScore)
	hits := make([]hit, 0, min(size, len(ranked)))
	for _, h := range ranked {
		if len(hits) == size {
			return hits
		}
		if accept(h.chunk.memory) {
			hits = append(hits, h)
		}
	}
	if matchesOnly {
		return hits
	}
	return append(hits, unlike(candidates, likeness, size-len(hits), accept)...)
}

// unlike returns what shares no word with the query: a vector search finds it
// all the same, at the far end.
func unlike(candidates []*memory, matched map[*chunk]float64, size int, accept func(*memory) bool) []hit {
	var hits []hit
	for _, m := range candidates {
		if len(hits) >= size {
			break
		}
		if m.gone || !m.indexed || !accept(m) {
			continue
		}
		for _, ch := range m.chunks {
			if _, ok := matched[ch]; ok || len(hits) >= size {
				continue
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(ch.text))
			hits = append(hits, hit{ch, single(-0.02 - 0.08*float64(h.Sum32())/math.MaxUint32)})
		}
	}
	slices.SortFunc(hits, byScore)
	return hits
}

func byScore(a, b hit) int {
	return cmp.Or(cmp.Compare(a.score, b.score), compareMemories(a.chunk.memory, b.chunk.memory), cmp.Compare(a.chunk.number, b.chunk.number))
}

// single gives a score the precision of the server's.
func single(f float64) float64 { return float64(float32(f)) }

// weighted is a word of a query and how much it says.
type weighted struct {
	term   string
	weight float64
}

// weights weighs the words of a query, in their order so that sums come out
// the same each time, and returns the sum.
func (c *corpus) weights(terms []string) ([]weighted, float64) {
	var out []weighted
	sum := 0.0
	for i, t := range terms {
		if slices.Contains(terms[:i], t) {
			continue
		}
		holders := 0
		if p := c.terms[t]; p != nil {
			holders = len(p.list) - p.gone
		}
		w := math.Log(1 + (float64(c.chunks-holders)+0.5)/(float64(holders)+0.5))
		out = append(out, weighted{t, w})
		sum += w
	}
	return out, max(sum, 1e-9)
}

// saturation is BM25's: 0 to 1, more for a word that comes often in a short
// chunk.
func (c *corpus) saturation(count int, ch *chunk) float64 {
	mean := float64(c.length) / float64(max(c.chunks, 1))
	n := float64(count)
	return n / (n + 0.6*(0.4+0.6*float64(ch.length)/max(mean, 1)))
}

// words returns the words of a text in lower case, without accents and the s
// of a plural. Han, kana, Thai and the like count by the character.
func words(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if n := len(word); n > 3 && word[n-1] == 's' && word[n-2] != 's' {
			word = word[:n-1]
		}
		if len(word) > 0 {
			out = append(out, string(word))
		}
		word = word[:0]
	}
	for _, r := range decomposed(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			word = append(word, unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return out
}
