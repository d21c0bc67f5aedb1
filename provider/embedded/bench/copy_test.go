package main

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestACopyKeepsWhatAnObjectIsAndChangesItsWords(t *testing.T) {
	const url = "https://a.example/1"
	object := `{ "a name" : "plain", "url":"https:\/\/a.example\/1", "@id" : "https://a.example/1#it",
		"sameAs": "https://a.example/12", "quote\" name": ["one two three \"four\" five\nsix \u00e9seven", 12.50, true, {"deep": "eight nine ten eleven"}] }`
	o := &original{url: url, schema: []byte(object)}
	c, err := newCopier([]original{{url, "", []byte(`{"@type":"Article","description":"back\\slash \"quoted\" <tag>"}`)}}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i := range uint64(200) {
		text, err := c.copy(o, `https://a.example/1/copy"2`, rand.New(rand.NewPCG(i, 2)))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list, _ := got[`quote" name`].([]any)
		if len(list) != 4 {
			t.Fatalf("the list is %v in %s", list, text)
		}
		words, _ := list[0].(string)
		if len(strings.Split(words, " ")) != 6 {
			t.Errorf("the words %q, want six between blanks", words)
		}
		if words != "one two three \"four\" five\nsix éseven" {
			changed++
		}
		delete(got, `quote" name`)
		want := map[string]any{"a name": "plain", "url": `https://a.example/1/copy"2`, "@id": `https://a.example/1/copy"2#it`, "sameAs": "https://a.example/12"}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	// Six words stay as they are in (6/7)^6 = 40 % of the copies.
	if changed < 80 || changed > 160 {
		t.Errorf("%d of 200 copies have other words, want about 120", changed)
	}
}

func FuzzACopyIsJSONWhereTheObjectIs(f *testing.F) {
	f.Add([]byte(`{"url":"https://a.example/1","text":"one two \\ three \" four"}`), uint64(1))
	f.Add([]byte(`["a b","\\", "\u0022 \\\" c"]`), uint64(2))
	f.Add([]byte(`"`), uint64(3))
	f.Add([]byte(`{"a":"\`), uint64(4))
	c := &copier{sample: [][]byte{[]byte(`wo\"rd`), []byte("word")}}
	f.Fuzz(func(t *testing.T, object []byte, seed uint64) {
		o := &original{url: "https://a.example/1", schema: object}
		got, err := c.copy(o, "https://a.example/1/copy1", rand.New(rand.NewPCG(seed, 1)))
		if json.Valid(object) && (err != nil || !json.Valid(got)) {
			t.Errorf("copy of %q is %q, %v", object, got, err)
		}
	})
}
