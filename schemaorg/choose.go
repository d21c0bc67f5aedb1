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
	if len(drafts) == 0 {
		for _, n := range nodes {
			if n.listed && len(n.types) > 0 && !isSupporting(n.types) {
				take(n)
			}
		}
	}
	page := pageNode(nodes)
	if len(drafts) == 0 && page != nil && g.holdsSupporting(page) {
		take(page)
	}
	if len(drafts) > 0 {
		g.markPictures(nodes)
	}
	g.takeSupporting(nodes, held, take, drafts)
	if len(drafts) == 0 && page != nil {
		take(page)
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
		if !taken && !held[n] && !n.listed && !n.pictured && isSupporting(n.types) && !isBoilerplate(n.types) && readable(n.raw) {
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

// markPictures notes the pictures of a page that is left out. Their captions
// name what the page's document is about, and would be found in its stead.
func (g *graph) markPictures(nodes []*node) {
	for _, n := range nodes {
		if !isBoilerplate(n.types) {
			continue
		}
		for _, j := range g.join(n).joined {
			j.pictured = j.pictured || j.isA("ImageObject")
		}
	}
}

// holdsSupporting reports whether supporting nodes with words are put in place
// in n: then n is the document and not they. A page that has nothing but its
// author's name in a node of its own would else be known as that author.
func (g *graph) holdsSupporting(n *node) bool {
	for _, j := range g.join(n).joined {
		if isSupporting(j.types) && !isBoilerplate(j.types) && readable(j.raw) {
			return true
		}
	}
	return false
}

// pageNode returns the boilerplate node that is the document where the page has
// nothing else: the first that is a page, for sites and organisations are the
// same on every page; else the first; with a word to read if one has any.
func pageNode(nodes []*node) *node {
	var best *node
	rank := func(n *node) int {
		r := 0
		if readable(n.raw) {
			r += 2
		}
		if n.isA("WebPage") || n.isA("CollectionPage") {
			r++
		}
		return r
	}
	for _, n := range nodes {
		if isBoilerplate(n.types) && (best == nil || rank(n) > rank(best)) {
			best = n
		}
	}
	return best
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
		case isBoilerplate(n.types), n.pictured && readable(n.raw):
			g.leaveOut(n, Boilerplate)
		default:
			g.leaveOut(n, NoText)
		}
	}
	return docs
}
