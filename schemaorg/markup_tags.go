package schemaorg

import "strings"

// breaks says what an HTML element does to the words around its tags.
type breaks byte

const (
	breaksNothing breaks = iota + 1 // inline: the words touch
	breaksWord                      // a cell, a picture, a control
	breaksLine                      // a block
	hidden                          // its content is no text
)

// elements are the elements of HTML, with those of old HTML, and a few of AMP
// and Word that turn up in texts. Anything else in angle brackets is text.
var elements = elementSet(map[breaks]string{
	breaksNothing: `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr o:p q rb rp rt rtc ruby s
		samp slot small span strike strong sub sup time tt u var wbr`,
	breaksWord: `amp-img area audio base button canvas col colgroup datalist embed iframe img input link map meta meter object
		option output param picture progress select source svg td textarea th track video`,
	breaksLine: `address amp-ad article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
		figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav noscript ol optgroup
		p pre section summary table tbody tfoot thead tr ul`,
	hidden: `script style template title`,
})

func elementSet(byBreaks map[breaks]string) map[string]breaks {
	set := make(map[string]breaks)
	for b, names := range byBreaks {
		for _, name := range strings.Fields(names) {
			set[name] = b
		}
	}
	return set
}

// stripTags takes the tags and comments out of s and reports whether it found
// any. Where a block begins or ends it writes a vertical tab, which tells that
// line break from those of the source.
func stripTags(s string) (string, bool) {
	var b strings.Builder
	found := false
	endless := map[string]bool{} // what was looked for in vain once
	done := 0
	for {
		open := strings.IndexByte(s[done:], '<')
		if open < 0 {
			break
		}
		open += done
		length, text := markupAt(s[open:], endless)
		if length == 0 {
			b.WriteString(s[done : open+1])
			done = open + 1
			continue
		}
		found = true
		b.WriteString(s[done:open])
		b.WriteString(text)
		done = open + length
	}
	if !found {
		return s, false
	}
	b.WriteString(s[done:])
	return b.String(), true
}

// markupAt returns the length of the tag, comment or hidden element with which
// s begins, and what stands for it; 0 where s begins with text.
func markupAt(s string, endless map[string]bool) (length int, text string) {
	switch {
	case strings.HasPrefix(s, "<!--"):
		if end := lookFor(s, 4, "-->", endless); end >= 0 {
			return end, ""
		}
		return 0, ""
	case strings.HasPrefix(s, "<![CDATA["):
		return len("<![CDATA["), ""
	}
	name, closing, length := tagAt(s)
	if length == 0 {
		return 0, ""
	}
	switch elements[name] {
	case breaksNothing:
		return length, ""
	case breaksWord:
		return length, " "
	case breaksLine:
		return length, "\v"
	case hidden:
		if closing {
			return length, " "
		}
		if end := lookFor(s, length, "</"+name, endless); end >= 0 {
			if close := strings.IndexByte(s[end:], '>'); close >= 0 && close < maxTagLen {
				return end + close + 1, " "
			}
		}
		return length, " "
	}
	return 0, ""
}

// lookFor returns the offset behind the next what in s, -1 where there is none;
// it looks for each in vain only once.
func lookFor(s string, from int, what string, endless map[string]bool) int {
	if endless[what] {
		return -1
	}
	for i := from; i+len(what) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(what)], what) {
			return i + len(what)
		}
	}
	endless[what] = true
	return -1
}

// maxTagLen bounds a tag with its attributes, pictures in them included.
const maxTagLen = 64 << 10

// tagAt reads the tag with which s begins: "<", a name, and nothing more than
// attributes up to ">". A text in angle brackets that happens to begin with a
// letter, such as "<b and c>", has no attributes and is no tag.
func tagAt(s string) (name string, closing bool, length int) {
	i := 1
	if i < len(s) && s[i] == '/' {
		closing = true
		i++
	}
	start := i
	for i < len(s) && (isLetterOrDigit(s[i]) || s[i] == '-' || s[i] == ':') {
		i++
	}
	if i == start || i == len(s) || i-start > 16 {
		return "", false, 0
	}
	name = strings.ToLower(s[start:i])
	if elements[name] == 0 {
		return "", false, 0
	}
	rest := i
	quote, value := byte(0), false
	for ; i < len(s) && i < maxTagLen; i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '=':
			value = true
		case (c == '"' || c == '\'') && value:
			quote, value = c, false
		case c == '<':
			return "", false, 0
		case c == '>':
			if !isAttributes(s[rest:i]) {
				return "", false, 0
			}
			return name, closing, i + 1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			value = false
		}
	}
	return "", false, 0
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// isAttributes reports whether what follows a tag's name can be attributes:
// nothing, something with a value, or a name that stands for itself.
func isAttributes(s string) bool {
	if s != "" && s[0] != '/' && strings.IndexByte(" \t\r\n", s[0]) < 0 {
		return false
	}
	s = strings.Trim(s, " \t\r\n/")
	switch strings.ToLower(s) {
	case "", "checked", "controls", "disabled", "hidden", "itemscope", "open", "reversed", "selected", "allowfullscreen", "nowrap":
		return true
	}
	return strings.IndexByte(s, '=') > 0
}
