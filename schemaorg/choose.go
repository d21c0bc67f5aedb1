package schemaorg

// draft is a node that is to be a document, with what was put in place in it.
type draft struct {
	*node
	schema string
	joined []*node
}

// choose decides which nodes are documents, and says of the others why they are
// not. The documents are in source order.
func (g *graph) choose() []draft {
	nodes := g.withoutRepeated()
	drafts := make(map[*node]draft)
	held := make(map[*node]bool) // put in place in a document
	take := func(n *node) {
		d := g.join(n)
		drafts[n] = d
		for _, j := range d.joined {
			held[j] = true
		}
	}

	for _, n := range nodes {
		content := n.main || !n.listed && !n.variant && !isSupporting(n.types)
		if content && len(n.types) > 0 {
			take(n)
		}
	}
	// A variant that its group could not take in for want of room is content
	// like any other.
	for _, n := range nodes {
		if n.variant && !held[n] && len(n.types) > 0 {
			take(n)
		}
	}
	g.takeSupporting(nodes, held, take, drafts)
	if len(drafts) == 0 {
		for _, n := range nodes {
			if n.listed && len(n.types) > 0 && !isSupporting(n.types) {
				take(n)
			}
		}
	}
	if len(drafts) == 0 {
		if n := firstBoilerplate(nodes); n != nil {
			take(n)
		}
	}
	return g.account(nodes, drafts, held)
}

// withoutRepeated returns the nodes without those that an earlier one equals
// byte for byte.
func (g *graph) withoutRepeated() []*node {
	type text struct{ raw, context string }
	seen := make(map[text]bool, len(g.nodes))
	kept := make([]*node, 0, len(g.nodes))
	for _, n := range g.nodes {
		t := text{n.raw, n.context}
		if seen[t] {
			g.leaveOut(n, Repeated)
			continue
		}
		seen[t] = true
		kept = append(kept, n)
	}
	return kept
}

// takeSupporting makes documents of the supporting nodes with words that no
// document holds. Of two that hold one another the first is the document.
func (g *graph) takeSupporting(nodes []*node, held map[*node]bool, take func(*node), drafts map[*node]draft) {
	var left []*node
	for _, n := range nodes {
		_, taken := drafts[n]
		if !taken && !held[n] && !n.listed && len(n.types) > 0 && isSupporting(n.types) && !isBoilerplate(n.types) && readable(n.raw) {
			left = append(left, n)
		}
	}
	referredTo := make(map[*node]bool)
	if len(left) > 1 {
		for _, n := range left {
			for _, j := range g.join(n).joined {
				referredTo[j] = true
			}
		}
	}
	for _, first := range []bool{true, false} {
		for _, n := range left {
			if _, taken := drafts[n]; !taken && !held[n] && referredTo[n] != first {
				take(n)
			}
		}
	}
}

// firstBoilerplate returns the first boilerplate node that has a word to read,
// or, where none has, the first.
func firstBoilerplate(nodes []*node) *node {
	var first *node
	for _, n := range nodes {
		if !isBoilerplate(n.types) {
			continue
		}
		if readable(n.raw) {
			return n
		}
		if first == nil {
			first = n
		}
	}
	return first
}

// account returns the documents in source order and records why each other
// node is none.
func (g *graph) account(nodes []*node, drafts map[*node]draft, held map[*node]bool) []draft {
	docs := make([]draft, 0, len(drafts))
	for _, n := range nodes {
		if d, ok := drafts[n]; ok {
			docs = append(docs, d)
			continue
		}
		switch {
		case held[n] && n.variant:
			g.leaveOut(n, Variant)
		case held[n]:
			g.leaveOut(n, Joined)
		case len(n.types) == 0:
			g.leaveOut(n, NoType)
		case n.listed:
			g.leaveOut(n, ListMember)
		case isBoilerplate(n.types):
			g.leaveOut(n, Boilerplate)
		default:
			g.leaveOut(n, NoText)
		}
	}
	return docs
}
