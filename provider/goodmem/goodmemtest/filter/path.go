package filter

import (
	"strconv"
	"strings"
)

// step is one accessor of a path: .name, [3], or [*] and .* for every member.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind int

const (
	stepMember stepKind = iota
	stepIndex
	stepAll
	// stepNothing ends a path that is taken by the server but leads nowhere,
	// such as one with a hyphen in a name.
	stepNothing
)

// compilePath reads a path that starts with $. What it does not know leads
// nowhere: such a path is answered with HTTP 200 and no match.
func compilePath(path string) []step {
	var steps []step
	nowhere := []step{{kind: stepNothing}}
	for rest := path[1:]; rest != ""; {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			if strings.HasPrefix(rest, "*") {
				steps, rest = append(steps, step{kind: stepAll}), rest[1:]
				continue
			}
			name, after, ok := pathName(rest)
			if !ok {
				return nowhere
			}
			steps, rest = append(steps, step{name: name}), after
		case '[':
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nowhere
			}
			rest = after
			if inside == "*" {
				steps = append(steps, step{kind: stepAll})
				continue
			}
			i, err := strconv.Atoi(inside)
			if err != nil || i < 0 {
				return nowhere
			}
			steps = append(steps, step{kind: stepIndex, index: i})
		default:
			return nowhere
		}
	}
	return steps
}

// pathName reads a name: letters, digits and underscores of any script, or
// anything between double quotes.
func pathName(s string) (name, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		name, rest, ok = strings.Cut(s[1:], `"`)
		return name, rest, ok && !strings.Contains(name, `\`)
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return r < 0x80 && !isLetter(byte(r)) && !isDigit(byte(r))
	})
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], end > 0
}

// follow returns the values that a path leads to, in order, as PostgreSQL's
// lax mode does: a member of an array is that member of each of its elements,
// and an element of what is no array is the thing itself.
func follow(root any, steps []step) []any {
	found := []any{root}
	for _, s := range steps {
		var next []any
		for _, v := range found {
			next = s.apply(next, v)
		}
		if found = next; len(found) == 0 {
			return nil
		}
	}
	return found
}

func (s step) apply(out []any, v any) []any {
	list, isList := v.([]any)
	switch s.kind {
	case stepMember:
		if !isList {
			list = []any{v}
		}
		for _, e := range list {
			if m, ok := e.(map[string]any); ok {
				if member, ok := m[s.name]; ok {
					out = append(out, member)
				}
			}
		}
	case stepIndex:
		switch {
		case isList && s.index < len(list):
			out = append(out, list[s.index])
		case !isList && s.index == 0:
			out = append(out, v)
		}
	case stepAll:
		if m, ok := v.(map[string]any); ok {
			for _, k := range sortedKeys(m) {
				out = append(out, m[k])
			}
			return out
		}
		if isList {
			return append(out, list...)
		}
		return append(out, v)
	}
	return out
}
