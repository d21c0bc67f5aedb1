package filter

// Equality says that the text of a top-level field is a value.
type Equality struct{ Field, Value string }

// Cover returns equalities of which at least one holds for everything that the
// expression matches, so that an index of texts finds the candidates. Where it
// can choose, it takes what count says is fewer. It reports false where the
// expression has no such cover.
func (e *Expr) Cover(count func(Equality) int) ([]Equality, bool) {
	return cover(e.Root, count)
}

func cover(n Node, count func(Equality) int) ([]Equality, bool) {
	switch n := n.(type) {
	case Binary:
		switch n.Op {
		case "=":
			if eq, ok := equalityOf(n.L, n.R); ok {
				return []Equality{eq}, true
			}
			if eq, ok := equalityOf(n.R, n.L); ok {
				return []Equality{eq}, true
			}
		case "OR":
			l, ok := cover(n.L, count)
			if !ok {
				return nil, false
			}
			r, ok := cover(n.R, count)
			return append(l, r...), ok
		case "AND":
			l, lok := cover(n.L, count)
			r, rok := cover(n.R, count)
			if lok && (!rok || total(l, count) <= total(r, count)) {
				return l, true
			}
			return r, rok
		}
	case In:
		if n.Not {
			return nil, false
		}
		var all []Equality
		for _, x := range n.List {
			eq, ok := equalityOf(n.X, x)
			if !ok {
				return nil, false
			}
			all = append(all, eq)
		}
		return all, true
	}
	return nil, false
}

func total(equalities []Equality, count func(Equality) int) int {
	n := 0
	for _, eq := range equalities {
		n += count(eq)
	}
	return n
}

// equalityOf recognises CAST(val('$.field') AS TEXT) beside a constant text.
func equalityOf(field, constant Node) (Equality, bool) {
	c, ok := field.(Cast)
	if !ok || castType(c.Type) != typeText {
		return Equality{}, false
	}
	v, ok := c.X.(Val)
	if !ok || len(v.steps) != 1 || v.steps[0].kind != stepMember {
		return Equality{}, false
	}
	s, ok := ConstantText(constant)
	return Equality{Field: v.steps[0].name, Value: s}, ok
}

// ConstantText returns the text of a literal, or of literals put together with ||.
func ConstantText(n Node) (string, bool) {
	switch n := n.(type) {
	case String:
		return n.Value, true
	case Binary:
		if n.Op != "||" {
			return "", false
		}
		l, ok := ConstantText(n.L)
		if !ok {
			return "", false
		}
		r, ok := ConstantText(n.R)
		return l + r, ok
	}
	return "", false
}
