package filter

import "strings"

// like is LIKE and its three variants: % is any text, _ one character, a
// backslash takes the next character as it is.
func like(op string, l, r value) value {
	if l.kind != typeText || r.kind != typeText {
		return value{}
	}
	subject, pattern := l.s, r.s
	if strings.HasSuffix(op, "ILIKE") {
		subject, pattern = strings.ToLower(subject), strings.ToLower(pattern)
	}
	found := boolean(matchLike([]rune(subject), compileLike(pattern)))
	if strings.HasPrefix(op, "NOT") {
		return not(found)
	}
	return found
}

type likePart struct {
	r        rune
	one, any bool
}

func compileLike(pattern string) []likePart {
	var parts []likePart
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			parts, escaped = append(parts, likePart{r: r}), false
		case r == '\\':
			escaped = true
		case r == '%':
			parts = append(parts, likePart{any: true})
		case r == '_':
			parts = append(parts, likePart{one: true})
		default:
			parts = append(parts, likePart{r: r})
		}
	}
	return parts
}

// matchLike goes back to the last % alone, so it takes at most the product of
// the lengths.
func matchLike(s []rune, parts []likePart) bool {
	i, p := 0, 0
	star, from := -1, 0
	for i < len(s) {
		switch {
		case p < len(parts) && parts[p].any:
			star, from = p, i
			p++
		case p < len(parts) && (parts[p].one || parts[p].r == s[i] && !parts[p].any):
			i++
			p++
		case star >= 0:
			from++
			i, p = from, star+1
		default:
			return false
		}
	}
	for p < len(parts) && parts[p].any {
		p++
	}
	return p == len(parts)
}
