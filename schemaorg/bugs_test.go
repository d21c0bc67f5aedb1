package schemaorg

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// bugCase is one input that broke some reader of JSON-LD in public.
type bugCase struct {
	ID, Kind, Level, Form, Input, Base, Note string
	Expect                                   struct {
		Items []struct {
			Types   []string
			Name    string
			URL     string
			TextHas []string `json:"text_has"`
			TextNot []string `json:"text_not"`
		}
		Skipped int
	}
}

// page returns the case's input as the page it was found on.
func (c bugCase) page() Page {
	if c.Form == "html" {
		p := ReadHTML([]byte(c.Input), c.Base)
		if p.URL == "" {
			p.URL = c.Base
		}
		return p
	}
	return Page{URL: c.Base, Base: c.Base, Scripts: []Script{{Text: []byte(c.Input), Line: 1, Number: 1}}}
}

func bugCases(t testing.TB) []bugCase {
	t.Helper()
	data, err := os.ReadFile("../testdata/bugs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cases []bugCase
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var c bugCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) != 44 {
		t.Fatalf("bugs.jsonl has %d cases, want 44", len(cases))
	}
	return cases
}

// recoveredBeyond are the cases whose broken script the file lets us recover,
// and the item it then gives, before the item of the intact script.
var recoveredBeyond = map[string]string{"B10": "Waves"}

func TestKnownBugsGiveTheExpectedItems(t *testing.T) {
	for _, c := range bugCases(t) {
		t.Run(c.ID+" "+c.Kind, func(t *testing.T) {
			r := Read(c.page())
			docs, skipped := r.Documents, c.Expect.Skipped
			if name := recoveredBeyond[c.ID]; name != "" {
				if len(docs) == 0 || docs[0].Name != name {
					t.Fatalf("got %+v, want first the recovered %q", docs, name)
				}
				docs, skipped = docs[1:], skipped-1
			}
			if len(docs) != len(c.Expect.Items) || len(r.Failures) != skipped {
				t.Fatalf("got %d documents and %d failures %v, want %d and %d", len(docs), len(r.Failures), r.Failures, len(c.Expect.Items), skipped)
			}
			for i, want := range c.Expect.Items {
				got, d := docs[i], Describe(docs[i].Schema)
				if !slices.Equal(d.Types, want.Types) || !slices.Equal(got.Types, want.Types) {
					t.Errorf("item %d: types %v and %v, want %v", i, got.Types, d.Types, want.Types)
				}
				if want.Name != "" && (d.Name != want.Name || got.Name != want.Name) {
					t.Errorf("item %d: name %q and %q, want %q", i, got.Name, d.Name, want.Name)
				}
				if want.URL != "" && got.URL != want.URL {
					t.Errorf("item %d: URL %q, want %q", i, got.URL, want.URL)
				}
				for _, s := range want.TextHas {
					if !strings.Contains(d.Text, s) {
						t.Errorf("item %d: text %q lacks %q", i, d.Text, s)
					}
				}
				for _, s := range want.TextNot {
					if strings.Contains(d.Text, s) {
						t.Errorf("item %d: text %q has %q", i, d.Text, s)
					}
				}
				if d.Fallback {
					t.Errorf("item %d: text is JSON", i)
				}
			}
			checkAccount(t, r)
		})
	}
}

// checkAccount checks that every node ended in exactly one place.
func checkAccount(t testing.TB, r Reading) {
	t.Helper()
	sum := len(r.Skipped)
	for _, d := range r.Documents {
		sum += d.Nodes
	}
	for _, f := range r.Failures {
		if f.Node {
			sum++
		}
		if !errors.Is(f.Err, provider.ErrInvalid) || f.Line < 1 {
			t.Errorf("failure %+v, want ErrInvalid with its line", f)
		}
	}
	if sum != r.Nodes {
		t.Errorf("%d nodes, but documents, skipped and refused add up to %d", r.Nodes, sum)
	}
}
