package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// TrimType returns the name of a type, property or enumeration member without
// its schema.org prefix: the full IRI with either scheme and any host spelling
// found in practice, or the compact "schema:". Other names stay as they are.
func TrimType(t string) string {
	t = strings.TrimSpace(t)
	if strings.IndexByte(t, ':') < 0 && strings.IndexByte(t, '/') < 0 {
		return t
	}
	if name, ok := cutPrefixFold(t, "schema:"); ok {
		return name
	}
	rest := t
	for _, scheme := range []string{"https:", "http:"} {
		if r, ok := cutPrefixFold(rest, scheme); ok {
			rest = r
			break
		}
	}
	rest = strings.TrimPrefix(rest, "//")
	if r, ok := cutPrefixFold(rest, "www."); ok {
		rest = r
	}
	rest, ok := cutPrefixFold(rest, "schema.org")
	if !ok || rest == "" || rest[0] != '/' && rest[0] != '#' {
		return t
	}
	if name := strings.TrimLeft(rest, "/#"); name != "" {
		return name
	}
	return t
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// readTypes appends to types those of a @type value that are not there yet.
func readTypes(types []string, value gjson.Result) []string {
	if value.IsArray() {
		value.ForEach(func(_, member gjson.Result) bool {
			types = appendType(types, member)
			return len(types) < provider.MaxTypes
		})
		return types
	}
	return appendType(types, value)
}

func appendType(types []string, value gjson.Result) []string {
	if value.Type != gjson.String {
		return types
	}
	name := TrimType(value.Str)
	if name == "" || len(name) > provider.MaxTypeBytes || len(types) == provider.MaxTypes {
		return types
	}
	for _, t := range types {
		if t == name {
			return types
		}
	}
	return append(types, name)
}

// propertyName returns the name of a key without a schema.org prefix.
func propertyName(key string) string {
	if strings.IndexByte(key, ':') < 0 {
		return key
	}
	return TrimType(key)
}
