package goodmemtest

import "strings"

// match returns what a filter of names lets through.
func (n NameFilter) match(pattern string) func(string) bool {
	switch {
	case pattern == "":
		return func(string) bool { return true }
	case n == NameSubstring:
		return func(name string) bool { return strings.Contains(name, pattern) }
	case n == NameExact:
		return func(name string) bool { return name == pattern }
	}
	return func(name string) bool { return glob([]rune(pattern), []rune(name)) }
}

// glob matches * and ? and nothing else; it goes back to the last * alone.
func glob(pattern, name []rune) bool {
	p, i, star, from := 0, 0, -1, 0
	for i < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[i]):
			p++
			i++
		case star >= 0:
			from++
			i, p = from, star+1
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "*") == ""
}

// labelFilter reads label.key=value and label[key]=value.
func labelFilter(query map[string][]string) func(map[string]string) bool {
	wanted := make(map[string]string)
	for name, values := range query {
		key, dotted := strings.CutPrefix(name, "label.")
		if !dotted {
			inner, bracketed := strings.CutPrefix(name, "label[")
			if key = strings.TrimSuffix(inner, "]"); !bracketed || key == inner {
				continue
			}
		}
		wanted[key] = values[0]
	}
	return func(labels map[string]string) bool {
		for k, v := range wanted {
			if labels[k] != v {
				return false
			}
		}
		return true
	}
}
