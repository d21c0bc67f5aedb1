package goodmemtest

import (
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// chunking says how a text is cut; exactly one way is set.
type chunking struct {
	None      *noChunking        `json:"none"`
	Recursive *recursiveChunking `json:"recursive"`
	Sentence  *sentenceChunking  `json:"sentence"`
}

type noChunking struct{}

type recursiveChunking struct {
	Size             int      `json:"chunkSize"`
	Overlap          int      `json:"chunkOverlap"`
	Separators       []string `json:"separators"`
	KeepStrategy     string   `json:"keepStrategy"`
	SeparatorIsRegex bool     `json:"separatorIsRegex"`
	Measurement      string   `json:"lengthMeasurement"`
}

type sentenceChunking struct {
	Max             int    `json:"maxChunkSize"`
	Min             int    `json:"minChunkSize"`
	DetectsLanguage bool   `json:"enableLanguageDetection"`
	Measurement     string `json:"lengthMeasurement"`
}

// complete fills in what was left out, as the server does, and says what is
// wrong.
func (c *chunking) complete() string {
	set := 0
	for _, is := range []bool{c.None != nil, c.Recursive != nil, c.Sentence != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return "Exactly one of none, recursive, sentence must be set"
	}
	measured := func(m *string) string {
		if *m == "" {
			*m = "CHARACTER_COUNT"
		}
		if *m != "CHARACTER_COUNT" && *m != "TOKEN_COUNT" && *m != "CUSTOM" {
			return "Invalid lengthMeasurement"
		}
		return ""
	}
	if r := c.Recursive; r != nil {
		if r.Size <= 0 || r.Overlap < 0 || r.Overlap >= r.Size {
			return "chunkSize must be positive and chunkOverlap smaller than it"
		}
		if r.Separators == nil {
			r.Separators = []string{}
		}
		if r.KeepStrategy == "" {
			r.KeepStrategy = "KEEP_END"
		}
		if r.KeepStrategy != "KEEP_END" && r.KeepStrategy != "KEEP_START" && r.KeepStrategy != "KEEP_NONE" {
			return "Invalid keepStrategy"
		}
		if r.SeparatorIsRegex {
			for _, s := range r.Separators {
				if _, err := regexp.Compile(s); err != nil {
					return "Invalid separator"
				}
			}
		}
		return measured(&r.Measurement)
	}
	if s := c.Sentence; s != nil {
		if s.Max <= 0 || s.Min < 0 || s.Min > s.Max {
			return "maxChunkSize must be positive and minChunkSize not larger"
		}
		return measured(&s.Measurement)
	}
	return ""
}

// piece is a stretch of a text, in bytes.
type piece struct{ start, end int }

// cut returns the chunks of a text. They overlap, and together hold all of it.
func (c *chunking) cut(text string) []piece {
	switch {
	case c.Recursive != nil:
		separators := c.Recursive.Separators
		if len(separators) == 0 {
			separators = []string{"\n\n", "\n", ". ", " ", ""}
		}
		length := measure(c.Recursive.Measurement)
		pieces := c.Recursive.split(text, piece{0, len(text)}, separators, length)
		return join(text, pieces, c.Recursive.Size, c.Recursive.Overlap, length)
	case c.Sentence != nil:
		length := measure(c.Sentence.Measurement)
		r := recursiveChunking{Size: c.Sentence.Max}
		return join(text, r.split(text, piece{0, len(text)}, []string{"\n\n", ". ", "! ", "? ", "。", " ", ""}, length), c.Sentence.Max, 0, length)
	}
	return []piece{{0, len(text)}}
}

// measure returns how long a text is: in characters, or in words for tokens.
func measure(measurement string) func(string) int {
	if measurement == "TOKEN_COUNT" {
		return func(s string) int { return len(strings.Fields(s)) }
	}
	return utf8.RuneCountInString
}

// split cuts a piece at the first separator, and what is still too long at the
// next. A separator stays at the end of what it ends.
func (r *recursiveChunking) split(text string, p piece, separators []string, length func(string) int) []piece {
	if length(text[p.start:p.end]) <= r.Size {
		return []piece{p}
	}
	if len(separators) == 0 || separators[0] == "" {
		return hardSplit(text, p, r.Size, length)
	}
	var out []piece
	for _, part := range r.cutAt(text, p, separators[0]) {
		out = append(out, r.split(text, part, separators[1:], length)...)
	}
	return out
}

func (r *recursiveChunking) cutAt(text string, p piece, separator string) []piece {
	var ends []int
	if r.SeparatorIsRegex {
		for _, at := range regexp.MustCompile(separator).FindAllStringIndex(text[p.start:p.end], -1) {
			ends = append(ends, p.start+at[1])
		}
	} else {
		for at := p.start; ; {
			i := strings.Index(text[at:p.end], separator)
			if i < 0 {
				break
			}
			at += i + len(separator)
			ends = append(ends, at)
		}
	}
	var out []piece
	from := p.start
	for _, end := range append(ends, p.end) {
		if end > from {
			out = append(out, piece{from, end})
			from = end
		}
	}
	return out
}

// hardSplit cuts between characters; a word that is longer than a token limit
// stays whole.
func hardSplit(text string, p piece, size int, length func(string) int) []piece {
	if length(strings.Repeat("a", size+1)) <= size {
		return []piece{p}
	}
	var out []piece
	from, n := p.start, 0
	for i := range text[p.start:p.end] {
		if n == size {
			out = append(out, piece{from, p.start + i})
			from, n = p.start+i, 0
		}
		n++
	}
	return append(out, piece{from, p.end})
}

// join puts pieces together up to the size; each chunk starts with as many of
// the last one's pieces as fit into the overlap.
func join(text string, pieces []piece, size, overlap int, length func(string) int) []piece {
	var out []piece
	lengths := make([]int, len(pieces))
	for i, p := range pieces {
		lengths[i] = length(text[p.start:p.end])
	}
	first, total := 0, 0
	for i := range pieces {
		if total > 0 && total+lengths[i] > size {
			out = append(out, piece{pieces[first].start, pieces[i-1].end})
			for first < i && (total > overlap || total+lengths[i] > size) {
				total -= lengths[first]
				first++
			}
		}
		total += lengths[i]
	}
	return append(out, piece{pieces[first].start, pieces[len(pieces)-1].end})
}

// units is the length of a text in UTF-16, which offsets are counted in.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
