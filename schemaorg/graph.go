package schemaorg

import "github.com/tidwall/gjson"

var errNesting = invalidf("read nodes: lists or graphs nested more than %d deep", maxNesting)

var errNodes = invalidf("read nodes: more than %d on one page; what follows is not read", maxNodes)

// ErrNoURL matches the Failure of an object that nothing gives a URL to.
var ErrNoURL = invalidf("name object: it has no URL, and neither has its page; give it a url, or the page a canonical link")

// graph is the nodes of one page and what becomes of them.
type graph struct {
	base    string // what relative URLs are resolved against
	nodes   []*node
	byKey   map[string]*node  // the first node with an identity
	keys    map[string]string // relative @ids resolved before
	reading Reading
	room    int // bytes that may still be put in place on the page
}

// Read reads the scripts of a page as one graph and returns its documents.
//
// A document whose object neither takes in another by its @id nor needs the
// @context of its container has the very bytes of the script as its Schema; so
// has a list of such objects inside its brackets. Reading the same page twice
// gives the same result. Work and memory are bounded by the size of the page.
func Read(p Page) Reading {
	g := &graph{base: p.Base, byKey: map[string]*node{}, keys: map[string]string{}, room: maxJoinedPage}
	if g.base == "" {
		g.base = p.URL
	}
	for _, s := range p.Scripts {
		g.readScript(s)
	}
	g.markMembers()
	g.giveUpMainEntities()
	g.name(p, g.choose())
	return g.reading
}

func (g *graph) readScript(s Script) {
	p, errs := parse(s.Text)
	if len(p.what) > 0 && len(p.values) > 0 {
		g.reading.Repairs = append(g.reading.Repairs, Repair{Line: s.Line, Script: s.Number, What: p.what})
	}
	line, counted := s.Line, 0
	for _, err := range errs {
		if err.offset < counted {
			line, counted = s.Line, 0
		}
		line += countBreaks(s.Text[counted:], err.offset-counted)
		counted = err.offset
		g.reading.Failures = append(g.reading.Failures, Failure{Line: line, Script: s.Number, Offset: err.offset, Err: err})
	}
	if len(errs) == 0 && len(p.values) == 0 {
		g.skip(&node{script: s.Number, line: s.Line}, Empty)
	}
	c := collector{g: g, script: s, place: place{p: &p, offset: -1, line: s.Line}}
	text := string(p.text)
	for _, v := range p.values {
		root := gjson.Parse(text[v.start:v.end])
		root.Index = v.start
		c.collect(root, "", 0)
	}
}

func (g *graph) add(n *node) {
	g.reading.Nodes++
	g.nodes = append(g.nodes, n)
	if n.key = g.idKey(n.id, n.script); n.key != "" && g.byKey[n.key] == nil {
		g.byKey[n.key] = n
	}
}

// skip counts a node, or what stands in a node's place, as left out.
func (g *graph) skip(n *node, reason Reason) {
	g.reading.Nodes++
	g.leaveOut(n, reason)
}

// refuse counts what was not even taken in as a node.
func (g *graph) refuse(n *node, url string, err error) {
	g.reading.Nodes++
	g.fail(n, url, err)
}

func (g *graph) leaveOut(n *node, reason Reason) {
	id := n.id
	if id == "" {
		id = firstString(gjson.Parse(n.url))
	}
	g.reading.Skipped = append(g.reading.Skipped, Skip{
		Reason: reason, Types: n.types, URL: id, Line: n.line, Script: n.script,
	})
}

func (g *graph) fail(n *node, url string, err error) {
	g.reading.Failures = append(g.reading.Failures, Failure{
		Line: n.line, Script: n.script, Offset: n.offset, URL: url, Node: true, Err: err,
	})
}

// markMembers notes which nodes an ItemList or a ProductGroup refers to.
func (g *graph) markMembers() {
	for _, n := range g.nodes {
		if n.isA("ItemList") {
			eachObject(gjson.Parse(n.items), func(member gjson.Result) {
				if item := lastMember(member, "item"); item.IsObject() {
					member = item
				}
				if t := g.referred(member, n.script); t != nil && t != n {
					t.listed = true
				}
			})
		}
		if n.isA("ProductGroup") {
			eachObject(gjson.Parse(n.variants), func(member gjson.Result) {
				if t := g.referred(member, n.script); t != nil && t != n {
					t.variant = true
				}
			})
		}
	}
}

// giveUpMainEntities makes what a boilerplate node is about a node of its own,
// because the boilerplate will not be a document.
func (g *graph) giveUpMainEntities() {
	nodes := g.nodes
	g.nodes = make([]*node, 0, len(nodes))
	for _, n := range nodes {
		g.nodes = append(g.nodes, n)
		if !isBoilerplate(n.types) || n.mainEntity == "" {
			continue
		}
		inherited, _ := g.address(n)
		at := place{p: &parsed{text: []byte(n.raw)}, line: n.line}
		entities := gjson.Parse(n.mainEntity)
		entities.Index = n.mainEntityAt
		eachObject(entities, func(entity gjson.Result) {
			if t := g.referred(entity, n.script); t != nil {
				if t != n && !isBoilerplate(t.types) && !t.main {
					t.main, t.inherited = true, inherited
				}
				return
			}
			t, _ := g.readNode(entity, n.context)
			if len(t.types) == 0 || isBoilerplate(t.types) {
				return
			}
			t.script, t.line, t.offset = n.script, at.at(entity.Index), n.offset+entity.Index
			t.main, t.inherited = true, inherited
			g.add(t)
		})
	}
}

// referred returns the node that an object only refers to.
func (g *graph) referred(object gjson.Result, script int) *node {
	if !object.IsObject() {
		return nil
	}
	id := firstString(lastMember(object, "@id"))
	n := g.byKey[g.idKey(id, script)]
	if n == nil || !n.holds(object) {
		return nil
	}
	return n
}

// eachObject calls f for an object, or for each object of a list.
func eachObject(v gjson.Result, f func(gjson.Result)) {
	if v.IsArray() {
		v.ForEach(func(_, member gjson.Result) bool {
			if member.IsObject() {
				f(member)
			}
			return true
		})
	} else if v.IsObject() {
		f(v)
	}
}

// lastMember returns the member of an object that a parser which lets the last
// of equal names win would see.
func lastMember(object gjson.Result, name string) (found gjson.Result) {
	object.ForEach(func(key, v gjson.Result) bool {
		if propertyName(key.Str) == name {
			found = v
		}
		return true
	})
	return found
}
