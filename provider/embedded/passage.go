package embedded

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// maxPassageScan is how much of a text is looked through for its best passage,
// in bytes: some 40,000 words.
const maxPassageScan = 256 << 10

// highlighter finds the words of a query in texts.
type highlighter struct {
	stemmer *stemmer
	words   map[string]highlight // by the terms that stand for a word
	bytes   [256]byteKind        // what a byte of a text may be the beginning of
	faint   []languageSet        // of each word (see faintWords)

	known   [languages]map[string][]matched // stretches without spaces -> their matches
	matches []matched                       // in the text at hand
}

// byteKind is what a byte means to one who looks for the words of a query.
type byteKind uint8

const (
	otherByte  byteKind = iota
	spaceByte           // no token goes on behind it
	wordByte            // part of a word, though not the first of one that is looked for
	firstByte           // perhaps the first of one
	beyondByte          // of a letter beyond ASCII, which may fold to anything
)

// highlight is a word, by its place in the query, and the languages of the
// documents in which a term stands for it.
type highlight struct {
	word int
	in   languageSet
}

func newHighlighter(st *stemmer, words []queryWord, spoken []language) *highlighter {
	own := languageOfQuery(words, spoken)
	h := &highlighter{
		stemmer: st,
		words:   make(map[string]highlight),
		faint:   faintWords(words, own, func(int) bool { return true }),
	}
	for i, w := range words {
		for _, f := range st.forms(w, own, spoken) {
			if _, ok := h.words[f.term]; !ok {
				h.words[f.term] = highlight{i, f.in}
			}
			first := f.term[0]
			if first < byte(languages) && len(f.term) > 1 {
				first = f.term[1]
			}
			h.bytes[first] = firstByte
		}
	}
	for c := range h.bytes {
		switch c := byte(c); {
		case c >= utf8.RuneSelf:
			h.bytes[c] = beyondByte
		case c == ' ', c == '\n':
			h.bytes[c] = spaceByte
		case 'A' <= c && c <= 'Z':
			h.bytes[c] = h.bytes[c+'a'-'A'] // which is not set yet, unless it is a first
			if h.bytes[c] == otherByte {
				h.bytes[c] = wordByte
			}
		case h.bytes[c] != firstByte && isAlnum(c):
			h.bytes[c] = wordByte
		}
	}
	return h
}

// match returns the word of the query that tok is a form of.
func (h *highlighter) match(l language, tok token) (word int, ok bool) {
	if kind := h.bytes[tok.text[0]]; kind != firstByte && kind != beyondByte {
		return 0, false
	}
	h.stemmer.eachTerm(l, tok, func(term string) {
		if found, has := h.words[term]; has && !ok && found.in.has(l) {
			word, ok = found.word, true
		}
	})
	return word, ok
}

type matched struct{ start, end, word int }

// passage returns the stretch of text, of at most MaxPassageBytes, with the
// most different words of the query, the first of those as good. It begins and
// ends between words.
func (h *highlighter) passage(text string, l language) string {
	text = strings.TrimSpace(text)
	if len(text) <= provider.MaxPassageBytes {
		return text
	}
	scanned := text[:cutBefore(text, maxPassageScan)]
	h.matches = h.matches[:0]
	h.scan(scanned, l)
	from, to := h.densest(h.matches, l)
	// The rest of a long text is not to be kept because of its passage.
	return strings.Clone(cutPassage(text, from, to))
}

// scan finds the matches in a text, stretch by stretch between spaces, each of
// which has the same tokens by itself. Those in which no word that is looked for
// can begin are passed over, and others are read once for all texts of a search.
func (h *highlighter) scan(text string, l language) {
	start, before, worth := 0, otherByte, false
	for i := 0; i < len(text); i++ {
		kind := h.bytes[text[i]]
		switch kind {
		case spaceByte:
			if worth {
				h.stretch(text, start, i, l)
			}
			start, worth = i+1, false
		case firstByte:
			worth = worth || before == otherByte || before == spaceByte
		case beyondByte:
			worth = true
		}
		before = kind
	}
	if worth {
		h.stretch(text, start, len(text), l)
	}
}

// Bounds of what is remembered of a language: stretches, and the bytes of one.
const (
	maxKnownStretches = 1 << 14
	maxKnownBytes     = 64
)

// stretch adds the matches in text[start:end].
func (h *highlighter) stretch(text string, start, end int, l language) {
	found, ok := h.known[l][text[start:end]]
	if !ok {
		eachToken(text[start:end], func(tok token) {
			if i, ok := h.match(l, tok); ok {
				found = append(found, matched{tok.start, tok.end, i})
			}
		})
		if h.known[l] == nil {
			h.known[l] = make(map[string][]matched)
		}
		if len(h.known[l]) < maxKnownStretches && end-start <= maxKnownBytes {
			h.known[l][strings.Clone(text[start:end])] = found
		}
	}
	for _, m := range found {
		h.matches = append(h.matches, matched{start + m.start, start + m.end, m.word})
	}
}

// densest returns where the best matches, in a text in the language l, begin and
// end.
func (h *highlighter) densest(matches []matched, l language) (from, to int) {
	const room = provider.MaxPassageBytes * 3 / 4 // the rest is for what is around them
	// All faint words together are worth less than any other.
	worth := func(word int) int {
		if h.faint[word].has(l) {
			return 1
		}
		return 1 + maxQueryWords
	}
	seen := make([]int, len(h.faint))
	different, best, last := 0, -1, 0
	for first := range matches {
		for last < len(matches) && matches[last].end-matches[first].start <= room {
			if seen[matches[last].word]++; seen[matches[last].word] == 1 {
				different += worth(matches[last].word)
			}
			last++
		}
		// Another word is worth more than any repetition of one.
		if score := different<<16 + last - first; last > first && score > best {
			best, from, to = score, matches[first].start, matches[last-1].end
		}
		if last > first {
			if seen[matches[first].word]--; seen[matches[first].word] == 0 {
				different -= worth(matches[first].word)
			}
		} else {
			last = first + 1
		}
	}
	return from, to
}

// cutPassage returns a stretch of text around text[from:to] that begins and
// ends between words, where there are any spaces.
func cutPassage(text string, from, to int) string {
	lead := (provider.MaxPassageBytes - (to - from)) / 4
	start := max(0, min(from-lead, len(text)-provider.MaxPassageBytes))
	if start > 0 {
		start = afterSpace(text, start, max(start, from))
	}
	end := cutBefore(text, start+provider.MaxPassageBytes)
	if end < len(text) {
		if next, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(next) {
			if space := strings.LastIndexFunc(text[max(start, to):end], unicode.IsSpace); space >= 0 {
				end = max(start, to) + space
			}
		}
	}
	return strings.TrimSpace(text[start:end])
}

// afterSpace returns the first place from start on, up to limit, that follows a
// space; where there is none, the first that begins a rune.
func afterSpace(text string, start, limit int) int {
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:start]); unicode.IsSpace(before) || limit <= start {
		return start
	}
	if space := strings.IndexFunc(text[start:limit], unicode.IsSpace); space >= 0 {
		_, size := utf8.DecodeRuneInString(text[start+space:])
		return start + space + size
	}
	return start
}

// cutBefore returns the last place up to limit that begins a rune of text.
func cutBefore(text string, limit int) int {
	if limit >= len(text) {
		return len(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}
