package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"
)

// oneLine returns the first readable string of a value on one line.
func oneLine(v gjson.Result) string {
	s := ""
	eachString(v, 0, func(raw string) bool {
		s = strings.ReplaceAll(cleanText(raw), "\n", " ")
		return s == ""
	})
	return cutAtWord(s, MaxNameRunes)
}

// maxValueDepth bounds the nesting of lists and objects in a value that should
// be a string.
const maxValueDepth = 8

// eachString calls f for each string that a value which should be one holds: a
// string or number, the text of a language-tagged value, the name of an object
// that is no such value, the members of a list or of a language map. It stops
// when f returns false, and returns what f returned last.
func eachString(v gjson.Result, depth int, f func(string) bool) bool {
	switch {
	case v.Type == gjson.String:
		return isNothing(v.Str) || f(v.Str)
	case v.Type == gjson.Number:
		return f(v.Raw)
	case v.Type != gjson.JSON || depth == maxValueDepth:
		return true
	case v.IsArray():
		more := true
		v.ForEach(func(_, member gjson.Result) bool {
			more = eachString(member, depth+1, f)
			return more
		})
		return more
	}
	return eachStringOf(v, depth, f)
}

// eachStringOf is eachString for an object.
func eachStringOf(object gjson.Result, depth int, f func(string) bool) bool {
	var value, name, typ gjson.Result
	object.ForEach(func(key, member gjson.Result) bool {
		switch propertyName(key.Str) {
		case "@value", "@list", "@set":
			value = member
		case "@type":
			typ = member
		case "name":
			name = member
		}
		return true
	})
	switch {
	case value.Exists():
		return eachString(value, depth+1, f)
	case name.Exists():
		return eachString(name, depth+1, f)
	case typ.Exists():
		return true
	}
	more := true
	object.ForEach(func(key, member gjson.Result) bool {
		if isLanguageTag(key.Str) { // a language map
			more = eachString(member, depth+1, f)
		}
		return more
	})
	return more
}
