package schemaorg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// address returns the URL that a node gives itself: url, @id, mainEntityOfPage,
// an absolute identifier, or that of the page it is the main entity of; empty
// where it gives none. A url of another scheme than http and https is an
// error: such an object means to be somewhere nobody can look it up.
func (g *graph) address(n *node) (string, error) {
	var scheme *schemeError
	for _, u := range links(gjson.Parse(n.url)) {
		absolute, err := resolve(u, g.base)
		if err == nil {
			return absolute, nil
		}
		errors.As(err, &scheme)
	}
	if scheme != nil {
		return "", fmt.Errorf("name object: url %w", scheme)
	}
	for _, u := range append([]string{n.id}, links(gjson.Parse(n.page))...) {
		if absolute := webURL(u, g.base); absolute != "" {
			return absolute, nil
		}
	}
	for _, u := range links(gjson.Parse(n.identifier)) {
		if absolute := webURL(u, ""); absolute != "" {
			return absolute, nil
		}
	}
	return n.inherited, nil
}

// unusable returns the first URL that a node names and what is wrong with it;
// none of those it names can be used.
func (g *graph) unusable(n *node) (string, error) {
	for _, u := range append(links(gjson.Parse(n.url)), n.id) {
		if u == "" {
			continue
		}
		if _, err := resolve(u, g.base); err != nil {
			return cutAtWord(strings.ToValidUTF8(u, ""), 200), fmt.Errorf("name object: its url %w", err)
		}
	}
	return "", nil
}

// links returns the URLs that a value may mean, best first: a string, the @id,
// url or @value of an object, or those of each member of a list.
func links(v gjson.Result) []string {
	switch {
	case v.Type == gjson.String:
		if s := strings.TrimSpace(v.Str); s != "" {
			return []string{s}
		}
	case v.IsArray():
		var found []string
		v.ForEach(func(_, member gjson.Result) bool {
			if !member.IsArray() {
				found = append(found, links(member)...)
			}
			return len(found) < maxAddresses
		})
		return found
	case v.IsObject():
		var byName [4]string
		v.ForEach(func(key, member gjson.Result) bool {
			switch propertyName(key.Str) {
			case "@id":
				byName[0] = firstString(member)
			case "url":
				byName[1] = firstString(member)
			case "@value":
				byName[2] = firstString(member)
			case "value": // of a PropertyValue
				byName[3] = firstString(member)
			}
			return true
		})
		var found []string
		for _, s := range byName {
			if s != "" {
				found = append(found, s)
			}
		}
		return found
	}
	return nil
}
