package schemaorg

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// Limits of what is put in place. Ordinary pages stay far below them; they
// bound a page whose nodes refer to each other without end.
const (
	maxJoinDepth    = 5         // references followed from a document
	maxJoinedBytes  = 256 << 10 // put in place in one document
	maxJoinedPage   = 32 << 20  // put in place in all documents of a page
	minJoinedBytes  = 64        // what one reference counts as, at least
	maxJoinSearched = 32        // nesting within one object that is searched for references
)

// unjoinedProperties lead to things in their own right, or back up to what the
// object is part of. What they refer to stays a reference.
var unjoinedProperties = map[string]bool{
	"isPartOf": true, "hasPart": true, "mainEntity": true, "mainEntityOfPage": true, "subjectOf": true,
	"about": true, "itemListElement": true, "breadcrumb": true,
}

// joiner puts nodes in the place of the references to them, by splicing bytes:
// all that is no reference stays as it was written.
type joiner struct {
	g      *graph
	doc    *node
	room   int
	stack  []*node // the document and the nodes being put in place
	joined []*node
}

// join returns n as a document: what it refers to put in place, and the
// @context of its container added where it has none.
func (g *graph) join(n *node) draft {
	if n.draft != nil {
		return *n.draft
	}
	j := joiner{g: g, doc: n, room: maxJoinedBytes, stack: []*node{n}}
	d := draft{node: n, schema: n.raw}
	if g.mayRefer(n) {
		d.schema = j.render(n, 0)
		d.joined = j.joined
	}
	d.schema = n.withContext(d.schema)
	if len(d.joined) > 0 && (len(d.schema) > provider.MaxObjectBytes || provider.JSONDepth([]byte(d.schema)) > provider.MaxJSONDepth) {
		d.schema, d.joined = n.withContext(n.raw), nil
	}
	n.draft = &d
	return d
}

// mayRefer spares the search of nodes that hold no @id but their own.
func (g *graph) mayRefer(n *node) bool {
	own := 0
	if n.key != "" {
		own = 1
	}
	return len(g.byKey) > own && strings.Count(n.raw, `"@id"`) > own
}

// render returns the object of n with its references replaced. depth is how
// many references lead to n.
func (j *joiner) render(n *node, depth int) string {
	if depth == maxJoinDepth {
		return n.raw
	}
	r := renderer{joiner: j, node: n, depth: depth}
	root := gjson.Parse(n.raw)
	root.Index = 0
	r.search(root, 0)
	if r.copied == 0 {
		return n.raw
	}
	r.out.WriteString(n.raw[r.copied:])
	return r.out.String()
}

// renderer copies one object up to each reference it replaces.
type renderer struct {
	*joiner
	node   *node
	depth  int
	out    strings.Builder
	copied int // bytes of node.raw that are in out, or replaced
}

func (r *renderer) search(v gjson.Result, nesting int) {
	if nesting == maxJoinSearched || !strings.Contains(v.Raw, `"@id"`) {
		return
	}
	isList := v.IsArray()
	v.ForEach(func(key, member gjson.Result) bool {
		if member.Type != gjson.JSON || !isList && skipsJoin(key.Str) {
			return true
		}
		if t := r.target(member); t != nil {
			r.out.WriteString(r.node.raw[r.copied:member.Index])
			r.out.WriteString(r.put(t))
			r.copied = member.Index + len(member.Raw)
			return true
		}
		r.search(member, nesting+1)
		return true
	})
}

func skipsJoin(key string) bool {
	if strings.HasPrefix(key, "@") {
		return key != "@list" && key != "@set"
	}
	return unjoinedProperties[propertyName(key)]
}

// target returns the node to put in the place of v, and makes room for it; nil
// where v is no reference or there is no room.
func (r *renderer) target(v gjson.Result) *node {
	t := r.g.referred(v, r.node.script)
	if t == nil || slices.Contains(r.stack, t) {
		return nil
	}
	size := max(len(t.raw)+len(t.context), minJoinedBytes)
	if size > r.room || size > r.g.room {
		return nil
	}
	r.room -= size
	r.g.room -= size
	return t
}

// put returns the text that stands for a reference to t.
func (r *renderer) put(t *node) string {
	r.joined = append(r.joined, t)
	r.stack = append(r.stack, t)
	text := r.render(t, r.depth+1)
	r.stack = r.stack[:len(r.stack)-1]
	if t.context != r.doc.context {
		text = t.withContext(text)
	}
	return text
}

// withContext adds the @context of n's container to a text of n that has none
// of its own.
func (n *node) withContext(text string) string {
	if !n.bare {
		return text
	}
	brace := strings.IndexByte(text, '{') + 1
	comma := ","
	if strings.TrimLeft(text[brace:], jsonBlanks)[0] == '}' {
		comma = ""
	}
	return text[:brace] + `"@context":` + n.context + comma + text[brace:]
}

// holds reports whether n has all that object says: its @id, types among n's,
// and otherwise members that n has too. Putting n in its place loses nothing
// then.
func (n *node) holds(object gjson.Result) bool {
	holds := true
	object.ForEach(func(key, v gjson.Result) bool {
		switch name := propertyName(key.Str); name {
		case "@id":
		case "@type":
			for _, t := range readTypes(nil, v) {
				holds = holds && n.isA(t)
			}
		default:
			own, ok := n.member(name)
			holds = ok && (own.Raw == v.Raw || own.Type == gjson.String && v.Type == gjson.String && own.Str == v.Str)
		}
		return holds
	})
	return holds
}

// member returns a property of n by name, without a schema.org prefix.
func (n *node) member(name string) (gjson.Result, bool) {
	if n.members == nil {
		n.members = make(map[string]gjson.Result)
		gjson.Parse(n.raw).ForEach(func(key, v gjson.Result) bool {
			n.members[propertyName(key.Str)] = v
			return true
		})
	}
	v, ok := n.members[name]
	return v, ok
}
