package schemaorg

import (
	"strings"
	"sync"

	"github.com/tidwall/gjson"
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
		if class == inline || class == named || class == choice {
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

// thing says the name of a thing in its own right, or what else is known of it.
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
	if name := f.name(); name != "" {
		p.say(name)
		return
	}
	p.object(v, depth, nil)
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
	if class == choice {
		raw = choiceName(raw)
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
