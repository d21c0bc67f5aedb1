package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// Matcher decides whether an object meets a filter. It is safe for concurrent
// use.
type Matcher struct {
	conditions []condition
}

// condition is a provider.Condition ready to be compared.
type condition struct {
	path   []string
	typed  bool // the path ends in @type
	exists bool
	negate bool
	tests  []test // the condition holds where one of them does
}

// CompileFilter prepares a filter. The error matches provider.ErrInvalid and
// names the condition at fault.
func CompileFilter(f provider.Filter) (*Matcher, error) {
	f, err := f.Check("filter")
	if err != nil {
		return nil, err
	}
	m := &Matcher{conditions: make([]condition, len(f))}
	for i, c := range f {
		m.conditions[i] = compile(c)
	}
	return m, nil
}

// Match reports whether an object, or for each condition one of a list of
// objects, meets the filter, by the rules of provider.Condition. A @list, @set
// or @graph on the way is a list like any other. schema is taken to be valid
// JSON, as a store holds it; what other bytes meet is left open, but no bytes
// make it panic or recurse without bound.
func (m *Matcher) Match(schema []byte) bool {
	if len(m.conditions) == 0 {
		return true
	}
	root := gjson.ParseBytes(schema)
	for i := range m.conditions {
		if !m.conditions[i].holds(root) {
			return false
		}
	}
	return true
}

func compile(c provider.Condition) condition {
	out := condition{path: strings.Split(c.Path, ".")}
	for i, name := range out.path {
		out.path[i] = propertyName(name)
	}
	out.typed = out.path[len(out.path)-1] == "@type"
	values := []any{c.Value}
	op := c.Op
	switch op {
	case provider.Exists:
		out.exists = true
		return out
	case provider.In:
		values, op = c.Value.([]any), provider.Equal
	case provider.NotEqual:
		out.negate, op = true, provider.Equal
	}
	for _, v := range values {
		out.tests = append(out.tests, compileTest(op, v, out.typed))
	}
	return out
}

// holds looks at each member that the path leads to until one decides.
func (c *condition) holds(root gjson.Result) bool {
	there, equal := false, false
	walkPath(root, c.path, 0, func(v gjson.Result) bool {
		if v.Type == gjson.Null {
			return true
		}
		there = true
		if c.exists {
			return false
		}
		for i := range c.tests {
			if c.tests[i].holds(v) {
				equal = true
				return false
			}
		}
		return true
	})
	switch {
	case c.exists:
		return there
	case c.negate:
		return there && !equal
	}
	return equal
}

// maxOpened is how many lists and objects are opened to reach a value. A path
// of ordinary length needs a few; the rest of the work would grow with depth.
const maxOpened = 32

// walkPath calls f for each value that path leads to from v, lists opened and
// tagged values read; it stops when f returns false. It compares names as they
// are: there is no path syntax beyond the dots that split it. depth counts what
// was opened on the way.
func walkPath(v gjson.Result, path []string, depth int, f func(gjson.Result) bool) bool {
	switch {
	case v.IsArray():
		more := true
		if depth < maxOpened {
			v.ForEach(func(_, member gjson.Result) bool {
				more = walkPath(member, path, depth+1, f)
				return more
			})
		}
		return more
	case v.IsObject():
		return walkObject(v, path, depth, f)
	case len(path) == 0:
		return f(v)
	}
	return true
}

func walkObject(object gjson.Result, path []string, depth int, f func(gjson.Result) bool) bool {
	var next, inside gjson.Result // of equal names the last counts
	object.ForEach(func(key, v gjson.Result) bool {
		name := propertyName(key.Str)
		switch {
		case len(path) > 0 && name == path[0]:
			next = v
		case name == "@list", name == "@set", name == "@graph", name == "@value" && len(path) == 0:
			inside = v
		}
		return true
	})
	if inside.Exists() && depth < maxOpened && !walkPath(inside, path, depth+1, f) {
		return false
	}
	switch {
	case next.Exists() && depth < maxOpened:
		return walkPath(next, path[1:], depth+1, f)
	case len(path) == 0 && !inside.Exists():
		return f(object)
	}
	return true
}
