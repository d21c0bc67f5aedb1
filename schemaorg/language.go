package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"
)

// language returns the language of an object: what inLanguage says, else the
// language tag of its name, else the default language of its @context.
func (f *fields) language() string {
	if tag := languageOf(f.inLanguage, 0); tag != "" {
		return tag
	}
	for _, v := range f.lead[:titleCount-1] {
		if tag := tagged(v); tag != "" {
			return tag
		}
	}
	return tagged(f.context)
}

// languageOf reads inLanguage: a tag, the English name of a language, a
// Language object, or a list of which the first that can be read counts.
func languageOf(v gjson.Result, depth int) string {
	switch {
	case v.Type == gjson.String:
		return languageTag(v.Str)
	case v.Type != gjson.JSON || depth == maxValueDepth:
		return ""
	case v.IsArray():
		tag := ""
		v.ForEach(func(_, member gjson.Result) bool {
			tag = languageOf(member, depth+1)
			return tag == ""
		})
		return tag
	}
	var names [5]gjson.Result
	v.ForEach(func(key, member gjson.Result) bool {
		if i := indexOf(languageProperties[:], propertyName(key.Str)); i >= 0 {
			names[i] = member
		}
		return true
	})
	for _, name := range names {
		if tag := languageOf(name, depth+1); tag != "" {
			return tag
		}
	}
	return ""
}

// languageProperties of a Language object or tagged value, best first.
var languageProperties = [5]string{"alternateName", "@value", "identifier", "name", "@id"}

// tagged returns the @language of a value, or of the first member of a list.
func tagged(v gjson.Result) string {
	tag := ""
	eachObject(v, func(object gjson.Result) {
		if l := lastMember(object, "@language"); tag == "" && l.Type == gjson.String {
			tag = languageTag(l.Str)
		}
	})
	return tag
}

// languageTag returns the BCP 47 tag that s is or names, with its primary
// subtag in lower case; "" where it is none.
func languageTag(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if tag := languageNames[strings.ToLower(s)]; tag != "" {
		return tag
	}
	if !isLanguageTag(s) {
		return ""
	}
	primary, rest, more := strings.Cut(s, "-")
	if !more {
		return strings.ToLower(primary)
	}
	return strings.ToLower(primary) + "-" + rest
}

// isLanguageTag reports whether s has the form of a tag (RFC 5646): a primary
// subtag of two or three letters and further ones of up to eight letters or
// digits.
func isLanguageTag(s string) bool {
	primary, rest, more := strings.Cut(s, "-")
	if len(primary) < 2 || len(primary) > 3 || !allIn7bit(primary, false) {
		return false
	}
	for more {
		var sub string
		sub, rest, more = strings.Cut(rest, "-")
		if sub == "" || len(sub) > 8 || !allIn7bit(sub, true) {
			return false
		}
	}
	return true
}

// allIn7bit reports whether s is ASCII letters, or with digits also those.
func allIn7bit(s string, digits bool) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z' || digits && '0' <= s[i] && s[i] <= '9') {
			return false
		}
	}
	return true
}

// languageNames are what pages write where a tag belongs: the names of the
// languages that most pages are in, in English and in the language itself.
var languageNames = map[string]string{
	"arabic": "ar", "chinese": "zh", "czech": "cs", "čeština": "cs", "danish": "da", "dansk": "da", "dutch": "nl",
	"nederlands": "nl", "english": "en", "finnish": "fi", "suomi": "fi", "french": "fr", "français": "fr", "german": "de",
	"deutsch": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "magyar": "hu", "indonesian": "id",
	"italian": "it", "italiano": "it", "japanese": "ja", "korean": "ko", "norwegian": "no", "norsk": "no", "persian": "fa",
	"polish": "pl", "polski": "pl", "portuguese": "pt", "português": "pt", "romanian": "ro", "română": "ro", "russian": "ru",
	"русский": "ru", "spanish": "es", "español": "es", "swedish": "sv", "svenska": "sv", "turkish": "tr", "türkçe": "tr",
	"ukrainian": "uk", "українська": "uk", "vietnamese": "vi",
}
