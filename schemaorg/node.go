package schemaorg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// node is an object at the top of a script, of a list or of a @graph, or a
// main entity that such an object gave up.
type node struct {
	raw     string // the object as it stands in the script or its repaired form
	context string // raw @context in force: the node's own, else its container's; may be empty
	bare    bool   // context is the container's and not in raw
	types   []string
	id      string // @id as written
	key     string // identity for references: id resolved; empty without one

	// JSON of properties that decide about the node; empty where it has none.
	url, page, identifier, mainEntity string
	items, variants                   string // itemListElement, hasVariant
	mainEntityAt                      int    // offset of mainEntity in raw

	script, line, offset int

	inherited string // URL of the boilerplate node it is the main entity of
	main      bool   // a boilerplate node's main entity
	listed    bool   // an ItemList of the page refers to it
	variant   bool   // a ProductGroup of the page refers to it
	pictured  bool   // it is a picture of a boilerplate node that is left out

	draft   *draft // the node as a document, once it was asked for
	members map[string]gjson.Result
}

// maxNesting is how deep lists and @graphs are opened for nodes.
const maxNesting = 16

// maxNodes is how many nodes of a page are read. The largest real pages have
// some hundreds.
const maxNodes = 250_000

// collector gathers the nodes of a page's scripts.
type collector struct {
	g       *graph
	script  Script
	place   place
	stopped bool // the page has too many nodes
}

// place counts lines along the values of a script, which come in order.
type place struct {
	p            *parsed
	offset, line int
}

func (pl *place) at(offset int) int {
	if offset > pl.offset {
		pl.line += pl.p.newlines(pl.offset, offset)
		pl.offset = offset
	}
	return pl.line
}

// collect adds what stands at the top of a value.
func (c *collector) collect(value gjson.Result, context string, nesting int) {
	line := c.place.at(value.Index)
	switch {
	case c.g.reading.Nodes >= maxNodes:
		c.stop(value, line)
	case nesting > maxNesting:
		c.g.refuse(&node{script: c.script.Number, line: line, offset: value.Index}, "", errNesting)
	case value.IsArray():
		n := 0
		value.ForEach(func(_, member gjson.Result) bool {
			n++
			c.collect(member, context, nesting+1)
			return !c.stopped
		})
		if n == 0 {
			c.g.skip(&node{script: c.script.Number, line: line}, Empty)
		}
	case value.IsObject():
		c.collectObject(value, context, nesting, line)
	default:
		c.g.skip(&node{script: c.script.Number, line: line}, NotObject)
	}
}

func (c *collector) collectObject(value gjson.Result, context string, nesting, line int) {
	n, graph := c.g.readNode(value, context)
	n.script, n.line, n.offset = c.script.Number, line, value.Index
	switch {
	case !graph.Exists() && isNumbered(n, value):
		c.collectMembers(value, n.context, nesting)
	case !graph.Exists():
		c.g.add(n)
	default:
		if len(n.types) > 0 {
			c.addContainer(n, value, graph)
		}
		if isNumbered(&node{}, graph) {
			c.collectMembers(graph, n.context, nesting)
		} else {
			c.collect(graph, n.context, nesting+1)
		}
	}
}

// addContainer adds an object that has a @graph and is something itself,
// without the nodes of the graph.
func (c *collector) addContainer(n *node, value, graph gjson.Result) {
	own := withoutMember(value, "@graph")
	if !readable(own) {
		c.g.skip(n, Container)
		return
	}
	n.raw = own
	c.g.add(n)
}

// collectMembers adds the members of an object that stands for a list.
func (c *collector) collectMembers(value gjson.Result, context string, nesting int) {
	value.ForEach(func(_, member gjson.Result) bool {
		if member.IsObject() {
			c.collect(member, context, nesting+1)
		}
		return !c.stopped
	})
}

// stop reports that the page has too many nodes, once.
func (c *collector) stop(value gjson.Result, line int) {
	if !c.stopped {
		c.stopped = true
		c.g.reading.Failures = append(c.g.reading.Failures, Failure{
			Line: line, Script: c.script.Number, Offset: value.Index, Err: errNodes,
		})
	}
}

// isNumbered reports whether an object is a list as PHP writes one with gaps:
// {"0": {...}, "2": {...}}.
func isNumbered(n *node, value gjson.Result) bool {
	if len(n.types) > 0 || n.id != "" || !value.IsObject() {
		return false
	}
	count := 0
	value.ForEach(func(key, member gjson.Result) bool {
		if key.Str == "@context" {
			return true
		}
		if _, err := strconv.Atoi(key.Str); err != nil || !member.IsObject() {
			count = -1
			return false
		}
		count++
		return true
	})
	return count > 0
}

// withoutMember returns an object without its members of a name.
func withoutMember(object gjson.Result, name string) string {
	var b strings.Builder
	kept, gap := 0, "{"
	object.ForEach(func(key, v gjson.Result) bool {
		if key.Str != name {
			b.WriteString(gap)
			b.WriteString(object.Raw[key.Index-object.Index : v.Index-object.Index+len(v.Raw)])
			gap = ","
			kept++
		}
		return true
	})
	if kept == 0 {
		return "{}"
	}
	return b.String() + "}"
}

// readNode reads what decides about an object, in one pass. Where a name is
// given twice the last counts, as in JavaScript and Python. graph is its @graph,
// if it has one.
func (g *graph) readNode(value gjson.Result, context string) (n *node, graph gjson.Result) {
	n = &node{raw: value.Raw, context: context, bare: context != ""}
	value.ForEach(func(key, v gjson.Result) bool {
		switch propertyName(key.Str) {
		case "@context":
			n.context, n.bare = v.Raw, false
		case "@graph":
			graph = v
		case "@id":
			n.id = firstString(v)
		case "@type":
			n.types = readTypes(nil, v)
		case "url":
			n.url = v.Raw
		case "mainEntityOfPage":
			n.page = v.Raw
		case "identifier":
			n.identifier = v.Raw
		case "mainEntity":
			n.mainEntity, n.mainEntityAt = v.Raw, v.Index-value.Index
		case "itemListElement":
			n.items = v.Raw
		case "hasVariant":
			n.variants = v.Raw
		}
		return true
	})
	if graph.Exists() && !graph.IsArray() && !graph.IsObject() {
		graph = gjson.Result{}
	}
	return n, graph
}

// idKey returns the identity of an @id on the page. A blank node's label means
// something only within its own script.
func (g *graph) idKey(id string, script int) string {
	switch {
	case id == "":
		return ""
	case strings.HasPrefix(id, "_:"):
		return strconv.Itoa(script) + id
	}
	if scheme, _ := cutScheme(id); scheme != "" {
		return id
	}
	key, known := g.keys[id]
	if !known {
		key = id
		if absolute, err := resolve(id, g.base); err == nil {
			key = absolute
		}
		g.keys[id] = key
	}
	return key
}

func (n *node) isA(t string) bool {
	return slices.ContainsFunc(n.types, func(own string) bool { return strings.EqualFold(own, t) })
}

// firstString returns a string, or the first one of a list.
func firstString(v gjson.Result) string {
	if v.IsArray() {
		s := ""
		v.ForEach(func(_, member gjson.Result) bool {
			if member.Type == gjson.String {
				s = strings.TrimSpace(member.Str)
			}
			return s == ""
		})
		return s
	}
	if v.Type != gjson.String {
		return ""
	}
	return strings.TrimSpace(v.Str)
}
