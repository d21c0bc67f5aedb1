package schemaorg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// recipe returns a valid object with a URL of its own.
func recipe(i int) string {
	return fmt.Sprintf(`{"@type":"Recipe","url":"https://a.example/%d","name":"n%d"}`, i, i)
}

// readScript returns what is after the last slash of the URL of each document
// of a script, and the failures.
func readScript(text string) (urls []string, failures []Failure) {
	r := Read(Page{Scripts: []Script{{Text: []byte(text), Line: 1, Number: 1}}})
	for _, d := range r.Documents {
		urls = append(urls, d.URL[strings.LastIndexByte(d.URL, '/')+1:])
	}
	return urls, r.Failures
}

func TestWhatIsBrokenCostsOnlyItself(t *testing.T) {
	deep := func(levels int, url string) string {
		return `{"@type":"Recipe","name":"n","url":"https://a.example/` + url + `","a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`
	}
	cut := func(i int) string { return strings.TrimSuffix(recipe(i), `"}`) }
	for _, tt := range []struct {
		name, text string
		read       string
		failed     []int // lines
	}{
		{"a word between objects", recipe(1) + " oops " + recipe(2), "1 2", nil},
		{"a word between lists", "[" + recipe(1) + "] oops [" + recipe(2) + "," + recipe(3) + "]", "1 2 3", nil},
		{"a broken object at the end", recipe(1) + "\n" + cut(2), "1", []int{2}},
		{"a broken member", "[" + recipe(1) + ",\n{\"a\" 1},\n" + recipe(2) + "]", "1 2", []int{2}},
		{"the first member broken", "[{\"a\" 1},\n" + recipe(2) + "]", "2", []int{1}},
		{"the last member broken", "[" + recipe(1) + ",\n{\"a\" 1}]", "1", []int{2}},
		{"only broken members", "[{\"a\" 1},\n{\"b\" 2}\n]", "", []int{1, 2}},
		{"a byte that is no UTF-8", "[" + recipe(1) + ",\n{\"a\":\"\xff\"},\n" + recipe(2) + "]", "1 2", []int{2}},
		{"a stray word", "[" + recipe(1) + ", oops, " + recipe(2) + "]", "1 2", []int{1}},
		{"a stray word without commas", "[" + recipe(1) + " oops " + recipe(2) + "]", "1 2", []int{1}},
		{"a list that is cut off in a member", "[" + recipe(1) + "," + recipe(2) + ",\n" + cut(3), "1 2", []int{2}},
		{"a list that is cut off after a comma", "[" + recipe(1) + "," + recipe(2) + ",\n", "1 2", []int{2}},
		{"a list that is cut off after a member", "[" + recipe(1) + "," + recipe(2), "1 2", []int{1}},
		{"a list that is cut off before its first member", "[", "", []int{1}},
		{"a member that is too deep", "[" + recipe(1) + ",\n" + deep(201, "2") + "," + recipe(3) + "]", "1 3", []int{2}},
		{"a member as deep as allowed", "[" + recipe(1) + "," + deep(200, "2") + "]", "1 2", nil},
		{"a member of a graph as deep as allowed", `{"@graph":[` + recipe(1) + "," + deep(200, "2") + "]}", "1 2", nil},
		{"a broken member of a graph", `{"@context":"https://schema.org","@graph":[` + recipe(1) + ",\n{\"a\" 1},\n" + recipe(2) + "]}", "1 2", []int{2}},
		{"a graph that is cut off", `{"@graph":[` + recipe(1) + ",\n" + cut(2), "1", []int{2}},
		{"something broken after a graph", `{"@graph":[` + recipe(1) + "],\n\"x\" 1}\n" + recipe(2), "1 2", []int{2}},
		{"a graph without its last brace", `{"@graph":[` + recipe(1) + "]\n", "1", []int{2}},
		{"lines, every second cut off", cut(1) + "\n" + recipe(2) + "\n" + cut(3) + "\n" + recipe(4) + "\n", "2 4", []int{1, 3}},
		{"lines of lists, the first cut off", "[" + cut(1) + "\"\n[" + recipe(2) + "]\n[" + recipe(3) + "]", "2 3", []int{2, 3}},
		{"indented lines, one cut off", "  " + recipe(1) + "\n  " + cut(2) + "\n  " + recipe(3), "1 3", []int{2}},
		{"an object over several lines cut off", "{\n  \"@type\": \"Recipe\",\n  \"a\": {\n" + recipe(1) + "\n{\n" + recipe(2)[1:], "2", []int{4}},
		{"an object inside one that is broken", "{\n\"a\" 1,\n\"b\": [\n" + recipe(1) + "\n]\n}\n" + recipe(2), "2", []int{2}},
		{"a bracket that opens nothing", recipe(1) + "\n{ " + recipe(2), "1 2", []int{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			urls, failures := readScript(tt.text)
			var failed []int
			for _, f := range failures {
				failed = append(failed, f.Line)
			}
			if got := strings.Join(urls, " "); got != tt.read || !slices.Equal(failed, tt.failed) {
				t.Errorf("%s\nread %q, failures %v; want %q, failures on the lines %v", tt.text, got, failures, tt.read, tt.failed)
			}
		})
	}
}

// Whatever stands between valid objects, each is read, or a failure before it
// says that what follows is not.
func TestNothingVanishesBetweenJunk(t *testing.T) {
	junk := []string{
		"oops", `"`, `\`, "...", "NaN", "undefined", "=", "()", "`", "<p>x</p>", "&quot;", "\x01", "/*", "5", "null", `"str"`, "\x1e", "{", "[", "}", "]",
		"--", "<!--", "<!-- x", "'", `{"a":"`, `[{"a"`, `{"a" 1}`, "[1", "\xff", ",", ";", "\n", "\n\n", "\n  ", "//\n", "é",
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 3_000 {
		var b strings.Builder
		var at []int
		for i := range 2 + rnd.IntN(4) {
			at = append(at, b.Len())
			object := recipe(i)
			if rnd.IntN(3) == 0 {
				object = strings.ReplaceAll(object, `,"`, ",\n  \"")
			}
			b.WriteString(object)
			for range 1 + rnd.IntN(2) {
				b.WriteString(" " + junk[rnd.IntN(len(junk))] + []string{" ", "\n"}[rnd.IntN(2)])
			}
		}
		text := b.String()
		urls, failures := readScript(text)
		for i, start := range at {
			covered := slices.ContainsFunc(failures, func(f Failure) bool {
				return f.Offset <= start && strings.Contains(f.Err.Error(), "what follows")
			})
			if !slices.Contains(urls, fmt.Sprint(i)) && !covered {
				t.Fatalf("object %d of this text is gone, the failures are %v:\n%s", i, failures, text)
			}
		}
	}
}

func TestHopelessTextsTakeLittleTime(t *testing.T) {
	for name, unit := range map[string]string{
		"cut lines": "{\"a\":\"x\n", "opened": "{\"a\":\n", "comments": "{/*\n", "HTML comments": "<!-- x\n", "commas": "{\"a\":1,\n", "lists": "[{\"a\":1\n",
		"quotes": "{'a':'\n", "words": "[x\n", "escapes": "{\n\"\\\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			text := "{\"a\":1}\n" + strings.Repeat(unit, (256<<10)/len(unit))
			p, errs := parse([]byte(text))
			for _, v := range p.values {
				if !gjson.Valid(string(p.text[v.start:v.end])) {
					t.Fatal("a value that is no JSON")
				}
			}
			t.Logf("%d values, %d errors, %v", len(p.values), len(errs), time.Since(start))
		})
	}
}
