package schemaorg

import (
	"errors"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestConditionsHoldForWhatTheyDescribe(t *testing.T) {
	const (
		eq, ne, lt, le = provider.Equal, provider.NotEqual, provider.Less, provider.LessEqual
		gt, ge         = provider.Greater, provider.GreaterEqual
		in, exists     = provider.In, provider.Exists
	)
	type holds = map[bool][]provider.Condition
	c := func(path string, op provider.Op, v any) provider.Condition {
		return provider.Condition{Path: path, Op: op, Value: v}
	}
	for _, tt := range []struct {
		name, object string
		holds        holds
	}{
		{"types", `{"@type":["http://schema.org/Recipe","NewsArticle"]}`, holds{
			true:  {c("@type", eq, "Recipe"), c("@type", eq, "https://schema.org/NewsArticle"), c("@type", in, []any{"X", "schema:Recipe"}), c("@type", ne, "Thing"), c("@type", exists, nil)},
			false: {c("@type", eq, "recipe"), c("@type", ne, "Recipe"), c("@type", in, []any{"X"}), c("@type", eq, "Rec")},
		}},
		{"no type", `{"name":"x"}`, holds{false: {c("@type", ne, "X"), c("@type", exists, nil)}}},
		{"numbers", `{"a":19.9,"b":"19.90","c":"19.90 EUR","d":"1e3","e":-5}`, holds{
			true:  {c("a", eq, 19.9), c("b", eq, 19.9), c("a", lt, 20), c("b", le, 19.9), c("b", gt, 19), c("a", ge, 19.9), c("e", lt, 0), c("c", exists, nil), c("c", ne, 19.9), c("a", in, []any{1, 19.9})},
			false: {c("a", eq, 20), c("a", ne, 19.9), c("b", ne, 19.9), c("c", eq, 19.9), c("c", gt, 0), c("d", eq, 1000), c("a", gt, 19.9), c("e", gt, 0), c("f", lt, 1), c("f", ne, 1)},
		}},
		{"decimals in text", `{"a":19.9,"b":"19.90"}`, holds{
			true:  {c("a", lt, "20"), c("b", ge, "19.9"), c("b", eq, "19.90")},
			false: {c("a", eq, "19.9"), c("b", eq, "19.9"), c("a", gt, "20")},
		}},
		{"dates", `{"a":"2026-09-01","b":"2026-09-01T08:30:00+02:00","c":"2026-09-01T23:59","d":"soon"}`, holds{
			true: {c("a", eq, "2026-09-01"), c("b", eq, "2026-09-01"), c("c", eq, "2026-09-01"), c("b", eq, "2026-09-01T06:30:00Z"), c("c", le, "2026-09-01"),
				c("c", lt, "2026-09-02"), c("a", ge, "2026-09-01"), c("a", lt, "2026-09-01T00:00:01Z"), c("b", gt, "2026-08-31"), c("a", eq, "2026-09-01T00:00:00Z"), c("d", ne, "2026-09-01")},
			false: {c("c", gt, "2026-09-01"), c("a", lt, "2026-09-01"), c("b", eq, "2026-09-01T08:30:00Z"), c("a", ne, "2026-09-01"), c("d", lt, "2026-09-01"), c("a", eq, "2026-09-01T00:00:01Z"), c("d", eq, "2026-09-01")},
		}},
		{"text", `{"a":"Straße","b":["x","y"],"c":5}`, holds{
			true:  {c("a", eq, "Straße"), c("b", eq, "y"), c("b", in, []any{"z", "x"}), c("b", ne, "z"), c("b", exists, nil)},
			false: {c("a", eq, "straße"), c("a", eq, "Straße "), c("b", ne, "y"), c("c", eq, "5"), c("b", in, []any{"z"}), c("a", eq, "")},
		}},
		{"booleans", `{"a":true,"b":"False","c":"https://schema.org/True","d":1}`, holds{
			true:  {c("a", eq, true), c("b", eq, false), c("c", eq, true), c("d", ne, true)},
			false: {c("a", eq, false), c("b", eq, true), c("d", eq, true), c("a", ne, true), c("a", eq, "true")},
		}},
		{"paths", `{"offers":[{"price":"5"},{"price":30,"seller":{"name":[{"@value":"Acme","@language":"en"}]}},"x"],"name":"n"}`, holds{
			true:  {c("offers.price", lt, 10), c("offers.price", gt, 20), c("offers.seller.name", eq, "Acme"), c("offers", exists, nil), c("offers", eq, "x"), c("offers.seller", exists, nil)},
			false: {c("offers.price", eq, 6), c("price", eq, 5), c("offers.name", exists, nil), c("name.x", exists, nil), c("offers.seller.name.@value", eq, "Acme "), c("offers.price", ne, 5)},
		}},
		{"nothing there", `{"a":null,"b":[],"c":[null],"d":{},"e":""}`, holds{
			true:  {c("d", exists, nil), c("e", exists, nil), c("e", eq, ""), c("e", ne, "x"), c("d", ne, "x")},
			false: {c("a", exists, nil), c("b", exists, nil), c("c", exists, nil), c("a", ne, "x"), c("f", exists, nil), c("d.x", exists, nil)},
		}},
		{"names that look like paths", `{"a*":"1","a?":"2","#":"3","a|b":"4","@this":"5","a\\.b":"6","a b":"7","":"8","ä":"9","0":["z"]}`, holds{
			true: {c("a*", eq, "1"), c("a?", eq, "2"), c("#", eq, "3"), c("a|b", eq, "4"), c("@this", eq, "5"), c("a b", eq, "7"), c("ä", eq, "9"), c("0", eq, "z")},
			false: {c("*", exists, nil), c("a", exists, nil), c("a.*", exists, nil), c("@this.a*", exists, nil), c("0.0", exists, nil), c("a\\", exists, nil), c("@values", exists, nil),
				c("#.a", exists, nil), c("@pretty", exists, nil), c("!x", exists, nil)},
		}},
		{"escaped and prefixed names", `{"\u006eame":"x","https://schema.org/color":"red","schema:size":"L"}`, holds{
			true:  {c("name", eq, "x"), c("color", eq, "red"), c("size", eq, "L"), c("schema:color", eq, "red")},
			false: {c("name", eq, "y")},
		}},
		{"lists of objects, graphs, lists of JSON-LD", `[{"name":"a"},{"@graph":[{"name":"b"}]},{"x":{"@list":["c",{"@set":["d"]}]}}]`, holds{
			true:  {c("name", eq, "a"), c("name", eq, "b"), c("x", eq, "c"), c("x", eq, "d")},
			false: {c("name", eq, "c"), c("name", ne, "b")},
		}},
		{"a graph further down", `{"x":{"@graph":[{"name":"b"}]}}`, holds{true: {c("x.name", eq, "b")}}},
		{"tagged values", `{"a":{"@value":5,"@type":"xsd:int"},"b":{"@value":null},"c":{"@value":true}}`, holds{
			true:  {c("a", eq, 5), c("c", eq, true)},
			false: {c("b", exists, nil)},
		}},
		{"duplicate names, of which the last counts", `{"a":1,"a":2}`, holds{true: {c("a", eq, 2)}, false: {c("a", eq, 1)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for want, conditions := range tt.holds {
				for _, cond := range conditions {
					m, err := CompileFilter(provider.Filter{cond})
					if err != nil {
						t.Fatalf("%+v: %v", cond, err)
					}
					if got := m.Match([]byte(tt.object)); got != want {
						t.Errorf("%s %s %v: got %v, want %v", cond.Path, cond.Op, cond.Value, got, want)
					}
				}
			}
		})
	}
}

func TestAllConditionsMustHold(t *testing.T) {
	m, err := CompileFilter(provider.Filter{
		{Path: "@type", Op: provider.Equal, Value: "Product"},
		{Path: "offers.price", Op: provider.LessEqual, Value: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]bool{
		`{"@type":"Product","offers":{"price":"20.0"}}`: true,
		`{"@type":"Product","offers":{"price":"20.1"}}`: false,
		`{"@type":"Offer","offers":{"price":"1"}}`:      false,
		`{`: false,
		``:  false,
	} {
		if got := m.Match([]byte(object)); got != want {
			t.Errorf("%s: got %v, want %v", object, got, want)
		}
	}
	empty, err := CompileFilter(nil)
	if err != nil || !empty.Match([]byte(`{}`)) || !empty.Match(nil) {
		t.Errorf("the empty filter (%v) does not hold for everything", err)
	}
}

func TestAFilterThatMakesNoSenseIsInvalid(t *testing.T) {
	for _, c := range []provider.Condition{
		{Path: "", Op: provider.Exists}, {Path: "a..b", Op: provider.Exists}, {Path: "a", Op: "~", Value: 1}, {Path: "a", Op: provider.Equal},
		{Path: "a", Op: provider.Less, Value: "soon"}, {Path: "a", Op: provider.In, Value: []any{}}, {Path: "a", Op: provider.Equal, Value: []int{1}},
	} {
		if _, err := CompileFilter(provider.Filter{c}); !errors.Is(err, provider.ErrInvalid) {
			t.Errorf("%+v: got %v, want ErrInvalid", c, err)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"2026-01-01"}]}`), "a.b", "2026-01-01")
	f.Add([]byte(`{"@type":["schema:X"],"@graph":[{"@list":[{"@value":[[1]]}]}]}`), "@type", "X")
	f.Add([]byte(strings.Repeat("[", 300)+`{"a|b":1`), "a|b", "1")
	f.Fuzz(func(t *testing.T, object []byte, path, value string) {
		for _, op := range []provider.Op{provider.Equal, provider.NotEqual, provider.Less, provider.GreaterEqual, provider.Exists} {
			c := provider.Condition{Path: path, Op: op, Value: value}
			if op == provider.Exists {
				c.Value = nil
			}
			m, err := CompileFilter(provider.Filter{c})
			if err != nil {
				if !errors.Is(err, provider.ErrInvalid) {
					t.Fatalf("%+v: %v", c, err)
				}
				continue
			}
			if m.Match(object) && op == provider.NotEqual {
				equal, err := CompileFilter(provider.Filter{{Path: path, Op: provider.Equal, Value: value}})
				if err != nil || equal.Match(object) {
					t.Fatalf("%q %q: equal and not equal at once (%v)", object, c, err)
				}
			}
		}
	})
}
