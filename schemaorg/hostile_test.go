package schemaorg

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/siteprovider/siteprovider/provider"
)

// hostilePages are scripts that would cost a naive reader quadratic time, all
// the memory, or its stack. That their tests end is the test. With
// SITEPROVIDER_LONG=1 they have their full size.
func hostilePages() map[string]string {
	many, huge := 3_000, 300_000
	if testing.Short() {
		many, huge = 300, 30_000
	}
	if os.Getenv("SITEPROVIDER_LONG") != "" {
		many, huge = 100_000, 5_000_000
	}
	large := strings.Repeat("word ", 40_000)
	text := func(i int) string {
		if i == 0 {
			return large
		}
		return "x"
	}
	list := func(n int, member func(i int) string) string {
		var b strings.Builder
		b.WriteString(`{"@context":"https://schema.org","@graph":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(member(i))
		}
		b.WriteString("]}")
		return b.String()
	}
	return map[string]string{
		"ten million brackets": strings.Repeat("[", 10_000_000),
		"ten million objects":  strings.Repeat(`{"a":`, 2_000_000),
		"deep and closed":      strings.Repeat("[", huge) + strings.Repeat("]", huge),
		"a chain of ids": list(many, func(i int) string {
			return fmt.Sprintf(`{"@type":"Article","@id":"#%d","name":"n%d","author":{"@id":"#%d"}}`, i, i, i+1)
		}),
		"a chain of people": list(many, func(i int) string {
			return fmt.Sprintf(`{"@type":"Person","@id":"#%d","name":"n%d","knows":{"@id":"#%d"}}`, i, i, i+1)
		}),
		"a cycle": list(many, func(i int) string {
			return fmt.Sprintf(`{"@type":"Person","@id":"#%d","name":"n","knows":{"@id":"#%d"}}`, i, (i+1)%many)
		}),
		"all refer to one": list(many, func(i int) string {
			return fmt.Sprintf(`{"@type":"Article","@id":"#%d","name":"n","author":{"@id":"#0"}}`, i)
		}),
		"one large, many times": list(many/5, func(i int) string {
			return fmt.Sprintf(`{"@type":"Article","@id":"#%d","text":"%s","author":{"@id":"#0"}}`, i, text(i))
		}),
		"all share one id": list(many, func(i int) string {
			return fmt.Sprintf(`{"@type":"Article","@id":"#x","name":"n%d","author":{"@id":"#x"}}`, i)
		}),
		"fan out": list(64, func(i int) string {
			return fmt.Sprintf(`{"@type":"Article","@id":"#%d","a":[%s]}`, i, strings.Repeat(fmt.Sprintf(`{"@id":"#%d"},`, i+1), 2000)+`1`)
		}),
		"empty objects":     "[" + strings.Repeat("{},", huge) + "{}]",
		"no urls":           list(many, func(i int) string { return fmt.Sprintf(`{"@type":"Article","name":"n%d"}`, i) }),
		"main entities":     fmt.Sprintf(`{"@type":"WebPage","mainEntity":[%s{"@type":"Article","name":"n"}]}`, strings.Repeat("{\"@type\":\"Article\",\n\"name\":\"n\"},", many)),
		"stray commas":      "[" + strings.Repeat(",\n", huge) + "]",
		"comments":          "[" + strings.Repeat("1,/*\n*/", huge/5) + "]",
		"unclosed comments": "[" + strings.Repeat("/*", huge),
		"unclosed marks":    strings.Repeat("<!--", huge/2),
		"values":            strings.Repeat("{}", many) + "x",
		"bad escapes":       `{"@type":"A","name":"` + strings.Repeat(`\q`, huge) + `"}`,
		"too large":         `{"@type":"A","name":"` + strings.Repeat(`a`, 17<<20) + `"}`,
	}
}

func TestHostilePagesEndAndAddUp(t *testing.T) {
	for name, text := range hostilePages() {
		t.Run(name, func(t *testing.T) {
			r := Read(Page{URL: "https://site.example/page", Scripts: []Script{{Text: []byte(text), Line: 1, Number: 1}}})
			checkAccount(t, r)
			for _, d := range r.Documents {
				if len(d.Schema) > provider.MaxObjectBytes {
					t.Fatalf("a document of %d bytes, more than MaxObjectBytes", len(d.Schema))
				}
			}
		})
	}
}

func TestHostileObjectsAreDescribedWithinTheLimit(t *testing.T) {
	size := 256 << 10
	if os.Getenv("SITEPROVIDER_LONG") != "" {
		size = provider.MaxObjectBytes - 1000
	}
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, object := range map[string]string{
		"one long word":       `{"name":"` + fill("x") + `"}`,
		"one long text":       `{"articleBody":"` + fill("some words ") + `"}`,
		"tags without end":    `{"description":"` + fill("<a ") + `"}`,
		"quotes without end":  `{"description":"` + fill("<a b='") + `"}`,
		"quotes of two kinds": `{"description":"` + fill(`<a b=\"<a b='`) + `"}`,
		"comments":            `{"description":"` + fill("<!--") + `"}`,
		"scripts":             `{"description":"` + fill("<script>") + `"}`,
		"entities":            `{"description":"` + fill("&amp;amp;") + `"}`,
		"brackets in text":    `{"x":"` + fill("[") + `"}`,
		"numbers":             `{"x":[` + fill("1,") + `1]}`,
		"words":               `{"x":[` + fill(`"w",`) + `1]}`,
		"names":               `{"name":[` + fill(`"w",`) + `1]}`,
		"objects":             `{"x":[` + fill(`{"name":"w"},`) + `1]}`,
		"properties":          `{` + fill(`"x":"w",`) + `"y":1}`,
		"nested lists":        `{"x":` + strings.Repeat("[", 190) + fill(`"w",`)[:size/2/4*4] + `1` + strings.Repeat("]", 190) + `}`,
		"nested objects":      strings.Repeat(`{"x":`, 190) + `"` + fill("w ") + `"` + strings.Repeat(`}`, 190),
	} {
		t.Run(name, func(t *testing.T) {
			d := Describe([]byte(object))
			if n := utf8.RuneCountInString(d.Text); n > MaxTextRunes || !utf8.ValidString(d.Text) {
				t.Errorf("text of %d runes, want at most %d, valid", n, MaxTextRunes)
			}
			if n := utf8.RuneCountInString(d.Name); n > MaxNameRunes {
				t.Errorf("name of %d runes, want at most %d", n, MaxNameRunes)
			}
		})
	}
}
