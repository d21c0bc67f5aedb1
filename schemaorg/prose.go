package schemaorg

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// maxProseDepth is how deep objects and lists are read for words. Real pages
// stay below 10.
const maxProseDepth = 16

// prose writes down what a reader would read. It is reused, because what it
// needs is larger than most objects; see newProse.
type prose struct {
	limit int
	probe bool // stop at the first word

	out   []byte
	runes int
	full  bool
	words bool
	said  map[uint64]struct{} // hashes of what was said; see hashFolded
	gap   string              // what comes before the next words

	rest   []property             // a stack: the other members of the objects being read
	fields [maxProseDepth]*fields // of the objects being read, by depth
}

var proses = sync.Pool{New: func() any { return &prose{said: make(map[uint64]struct{}, 64)} }}

func newProse(probe bool) *prose {
	p := proses.Get().(*prose)
	p.limit, p.probe = MaxTextRunes, probe
	return p
}

// release makes p ready for the next object. What one large object made it
// grow to is not kept.
func (p *prose) release() {
	const large = 64 << 10
	if cap(p.out) > large || len(p.said) > large/64 || cap(p.rest) > large/64 {
		return
	}
	clear(p.said)
	clear(p.rest[:cap(p.rest)])
	for _, f := range p.fields {
		if f != nil {
			*f = fields{}
		}
	}
	p.out, p.runes, p.full, p.words, p.gap, p.rest = p.out[:0], 0, false, false, "", p.rest[:0]
	proses.Put(p)
}

// fieldsAt returns the blank fields of an object that is read at a depth.
func (p *prose) fieldsAt(depth int) *fields {
	if p.fields[depth] == nil {
		p.fields[depth] = new(fields)
	} else {
		*p.fields[depth] = fields{}
	}
	return p.fields[depth]
}

func (p *prose) text() string {
	if !utf8.Valid(p.out) {
		return strings.ToValidUTF8(string(p.out), "\uFFFD")
	}
	return string(p.out)
}

func (p *prose) done() bool { return p.full || p.probe && p.words }

// objects reads an object, each object of a list, or each of a @graph; head sees
// their fields.
func (p *prose) objects(v gjson.Result, head func(*fields)) {
	p.objectsBelow(v, 0, head)
}

func (p *prose) objectsBelow(v gjson.Result, depth int, head func(*fields)) {
	switch {
	case depth == maxProseDepth:
	case v.IsArray():
		v.ForEach(func(_, member gjson.Result) bool {
			p.objectsBelow(member, depth+1, head)
			return !p.done()
		})
	case v.IsObject():
		if strings.Contains(v.Raw, `"@graph"`) {
			if graph := lastMember(v, "@graph"); graph.IsArray() || graph.IsObject() {
				p.objectsBelow(graph, depth+1, head)
			}
		}
		p.gap = paragraph(0)
		p.object(v, 0, head)
	}
}

// object reads one object: what leads, then the rest, then what comes late.
func (p *prose) object(v gjson.Result, depth int, head func(*fields)) {
	if depth == maxProseDepth || p.done() {
		return
	}
	f := p.fieldsAt(depth)
	said, start := p.runes, len(p.rest)
	p.rest = f.read(v, p.rest)
	end := len(p.rest)
	if head != nil {
		head(f)
	}
	if f.value.Exists() {
		p.value(f.value, told, depth+1)
	}
	p.lead(f, depth)
	p.separate(said, paragraph(depth))
	p.addressLine(f)
	p.separate(said, paragraph(depth))
	p.priceLine(f)
	for _, isLate := range []bool{false, true} {
		for i := start; i < end && !p.done(); i++ {
			if m := p.rest[i]; isLate == (m.class == late) {
				p.separate(said, paragraph(depth))
				p.value(m.value, m.class, depth+1)
			}
		}
	}
	p.rest = p.rest[:start]
}

// separate sets what comes before the next words, if any were said since said
// was the count; otherwise the gap is still to come.
func (p *prose) separate(said int, gap string) {
	if p.runes > said {
		p.gap = gap
	}
}

// paragraph is what stands between the properties of an object: the document's
// own are paragraphs, those of what it holds are lines.
func paragraph(depth int) string {
	if depth == 0 {
		return "\n\n"
	}
	return "\n"
}

// value reads the value of a property.
func (p *prose) value(v gjson.Result, class propertyClass, depth int) {
	switch {
	case p.done() || depth == maxProseDepth:
	case v.Type == gjson.String:
		p.string(v.Str, class)
	case v.Type == gjson.Number && class == code:
		p.put(v.Raw, false)
	case v.IsArray():
		said, gap := p.runes, "\n"
		if class == inline || class == named {
			gap = ", "
		}
		v.ForEach(func(_, member gjson.Result) bool {
			p.value(member, class, depth+1)
			p.separate(said, gap)
			return !p.done()
		})
	case v.IsObject() && (class == inline || class == named):
		p.thing(v, depth)
	case v.IsObject():
		p.object(v, depth, nil)
	}
}

// thing says the name of a thing in its own right.
func (p *prose) thing(v gjson.Result, depth int) {
	f := p.fieldsAt(depth)
	start := len(p.rest)
	p.rest = f.read(v, p.rest)[:start]
	if isBoilerplatePage(readTypes(nil, f.types)) {
		return
	}
	if f.value.Exists() {
		p.value(f.value, named, depth+1)
		return
	}
	p.say(f.name())
}

// isBoilerplatePage reports whether a thing is the page or site around the
// content, whose name is on every object of it.
func isBoilerplatePage(types []string) bool {
	for _, t := range types {
		switch t {
		case "WebPage", "WebSite", "CollectionPage", "WebPageElement", "BreadcrumbList", "SearchAction":
			return true
		}
	}
	return false
}

// string says one string of a property.
func (p *prose) string(raw string, class propertyClass) {
	if date := shortDate(raw); date != "" {
		p.put(date, false)
		return
	}
	if isNoise(raw) {
		return
	}
	s := cleanText(raw)
	if class == code {
		p.put(s, false)
		return
	}
	p.say(s)
}

// lead says the titles and bodies of an object.
func (p *prose) lead(f *fields, depth int) {
	said := p.runes
	var store [16]passage
	passages := store[:0]
	add := func(s string, title bool) bool {
		if s != "" {
			passages = append(passages, passage{s, title})
		}
		return len(passages) < maxPassages
	}
	for i, v := range f.lead {
		if i == titleCount-1 {
			if len(passages) == 0 {
				add(f.personName(), true)
			}
			add(oneLine(f.legalName), true)
		}
		eachString(v, 0, func(raw string) bool {
			return isNoise(raw) || add(cleanText(raw), i < titleCount)
		})
	}
	for i, s := range passages {
		if saidBy(passages, i, depth) {
			continue
		}
		p.put(s.text, true)
		p.separate(said, paragraph(depth))
	}
	for _, v := range f.lead[titleCount:] {
		if v.IsObject() {
			p.value(v, told, depth+1)
			p.separate(said, paragraph(depth))
		}
	}
}

// passage is a title or body of an object.
type passage struct {
	text  string
	title bool
}

// maxPassages bounds the titles and bodies of one object, which are compared
// with each other.
const maxPassages = 64

// saidBy reports whether another of an object's passages says what this one
// says: a body that holds a body, as an article holds its excerpt, or, in what
// is nested, a body that begins with a title. The title of a document stays.
func saidBy(all []passage, i, depth int) bool {
	s := strings.TrimRight(all[i].text, " .…[]")
	if s == "" {
		return false
	}
	for k, other := range all {
		if k == i || other.title || len(other.text) < len(s) {
			continue
		}
		if all[i].title {
			if depth > 0 && len(s) <= len(other.text) && strings.EqualFold(other.text[:len(s)], s) && endsWord(other.text, len(s)) {
				return true
			}
			continue
		}
		at := strings.Index(other.text, s)
		if at >= 0 && endsWord(other.text, at) && endsWord(other.text, at+len(s)) && (len(other.text) > len(all[i].text) || k < i) {
			return true
		}
	}
	return false
}

// endsWord reports whether no word runs across s[:i] and s[i:].
func endsWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return i == 0 || i == len(s) || !isWordRune(before) || !isWordRune(after)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// addressLine says the parts of a postal address on one line.
func (p *prose) addressLine(f *fields) {
	if !f.isAddress {
		return
	}
	var parts []string
	for _, v := range f.address {
		if s := oneLine(v); s != "" && !isNoise(s) {
			parts = append(parts, s)
		}
	}
	p.say(strings.Join(parts, ", "))
}

// priceLine says a price or a range of prices with its currency.
func (p *prose) priceLine(f *fields) {
	price := scalar(f.price)
	if low := scalar(f.lowPrice); price == "" && low != "" {
		price = low
		if high := scalar(f.highPrice); high != "" && high != low {
			price += "–" + high
		}
	}
	if price == "" {
		return
	}
	if currency := scalar(f.currency); currency != "" && !isNoise(currency) {
		price += " " + currency
	}
	p.put(price, false)
}

// scalar returns a short string or number.
func scalar(v gjson.Result) string {
	const short = 40
	switch {
	case v.Type == gjson.Number && len(v.Raw) <= short:
		return v.Raw
	case v.Type == gjson.String && len(v.Str) <= short && !isNothing(v.Str):
		return cleanText(v.Str)
	}
	return ""
}

// say says words: a text without a letter is a number that means nothing
// without its property.
func (p *prose) say(s string) {
	if strings.IndexFunc(s, unicode.IsLetter) >= 0 {
		p.put(s, true)
	}
}

// put appends s, unless it was said before or has nothing to read.
// words says whether s counts as something to read for itself.
func (p *prose) put(s string, words bool) {
	if p.done() || strings.IndexFunc(s, isWordRune) < 0 {
		return
	}
	hash := hashFolded(s)
	if _, dup := p.said[hash]; dup {
		return
	}
	p.said[hash] = struct{}{}
	p.words = p.words || words
	gap := p.gap
	if p.runes == 0 {
		gap = ""
	}
	room := p.limit - p.runes - len(gap)
	n := utf8.RuneCountInString(s)
	if n > room {
		p.full = true
		if s = cutAtWord(s, max(room, 0)); s == "" {
			return
		}
		n = utf8.RuneCountInString(s)
	}
	p.out = append(p.out, gap...)
	p.out = append(p.out, s...)
	p.runes += len(gap) + n
}

// hashFolded is FNV-1a over s with ASCII letters in lower case. Two texts with
// one hash would cost the second its place in the text, no more.
func hashFolded(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// shortDate returns a date as a reader would write it down: the day, and the
// time of day to the minute where it is not midnight; "" where s is no date.
func shortDate(s string) string {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' || len(s) > 40 {
		return ""
	}
	_, bare, ok := provider.ParseDate(s)
	switch {
	case !ok:
		return ""
	case bare || s[11:16] == "00:00":
		return s[:10]
	}
	return s[:10] + " " + s[11:16]
}
