package schemaorg

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// TextVersion changes whenever the same object would give another text, name,
// language or list of types.
const TextVersion = 1

// MaxTextRunes is the longest text that Describe returns. It holds some 15,000
// words, so that an article or a recipe with all its reviews is indexed whole,
// while an object of provider.MaxObjectBytes stays bounded. What is cut off is
// the end: names, descriptions and bodies come first.
const MaxTextRunes = 100_000

// MaxNameRunes is the longest name that Describe returns.
const MaxNameRunes = 500

// Description is what Describe read in an object.
type Description struct {
	Name     string
	Types    []string // without the schema.org prefix
	Text     string   // what a reader would read, at most MaxTextRunes
	Language string   // BCP 47 tag; empty where the object names none
	Fallback bool     // the object has no readable word, and Text is its JSON
}

// Describe returns what a reader would read in an object or list of objects.
// Of bytes that are no JSON in UTF-8 within the limits of package provider it
// returns the zero Description.
//
// The text begins with name, headline, title, alternateName, description,
// abstract, text and articleBody, as far as the object has them, joined by
// blank lines; the other words follow. Entities are decoded, tags are gone, and
// nothing is said twice. Addresses, ids, measures and enumerations are left out.
func Describe(schema []byte) Description {
	if !withinLimits(schema) {
		return Description{}
	}
	p := newProse(false)
	defer p.release()
	var d Description
	p.objects(gjson.ParseBytes(schema), func(f *fields) {
		d.Types = appendTypes(d.Types, f)
		if d.Name == "" {
			d.Name = f.name()
		}
		if d.Language == "" {
			d.Language = f.language()
		}
	})
	d.Text = string(p.out)
	if !p.words {
		d.Text, d.Fallback = compactJSON(schema), true
	}
	return d
}

// Fill returns d with Name, Types, Text and Language, where they are empty,
// taken from d.Schema.
func Fill(d provider.Document) provider.Document {
	if d.Name != "" && d.Types != nil && d.Text != "" && d.Language != "" {
		return d
	}
	read := Describe(d.Schema)
	if d.Name == "" {
		d.Name = read.Name
	}
	if len(d.Types) == 0 {
		d.Types = read.Types
	}
	if d.Text == "" {
		d.Text = read.Text
	}
	if d.Language == "" {
		d.Language = read.Language
	}
	return d
}

// Readable reports whether an object, or one of a list of objects, has a word
// to read. Of one that has none Describe returns the JSON as its text.
func Readable(schema []byte) bool { return withinLimits(schema) && readable(string(schema)) }

// readable is Readable of valid JSON.
func readable(object string) bool {
	p := newProse(true)
	defer p.release()
	p.objects(gjson.Parse(object), nil)
	return p.words
}

// head returns the name and the language of an object.
func head(object gjson.Result) (name, language string) {
	p := newProse(true)
	defer p.release()
	f := p.fieldsAt(0)
	p.rest = f.read(object, p.rest)
	return f.name(), f.language()
}

// withinLimits checks size and depth before anything that recurses sees the
// bytes.
func withinLimits(schema []byte) bool {
	return len(schema) <= provider.MaxObjectBytes && utf8.Valid(schema) &&
		!provider.ExceedsJSONDepth(schema) && gjson.ValidBytes(schema)
}

func appendTypes(types []string, f *fields) []string {
	for _, t := range readTypes(nil, f.types) {
		if len(types) < provider.MaxTypes && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

func compactJSON(schema []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		return ""
	}
	return cutAtWord(b.String(), MaxTextRunes)
}

// cutAtWord returns the first runes of s, at most limit of them, without a word
// that does not end there. Where no blank is near, as in Chinese, it cuts
// between characters.
func cutAtWord(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if s[end] == ' ' || s[end] == '\n' {
		return strings.TrimRight(s[:end], " \n")
	}
	const near = 100
	if blank := strings.LastIndexAny(s[:end], " \n"); blank > 0 && end-blank < near {
		return strings.TrimRight(s[:blank], " \n")
	}
	return s[:end]
}
