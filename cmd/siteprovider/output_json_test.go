package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// oddObjects are valid JSON that a decoder and encoder would change.
var oddObjects = []string{
	`{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890123,"e":0.10}`,
	`{ "z" : 1 , "a" : [ ] , "m" : { } }`,
	"{\n\t\"a\": \"b\"\n}",
	`{"a":"<script>&amp;</script>","b":"\u003c\u0026"}`,
	`{"a":"\u00e9é\/\b\f\n\r\t\"\\"}`,
	`{"a":"\ud83d\ude00😀\u2028` + "\u2028" + `"}`,
	`{"a":1,"a":2,"":3}`,
	`[{"a":null},{"b":true}]`,
	`{"lone":"\ud800"}`,
}

func TestObjectsKeepTheirBytesInJSON(t *testing.T) {
	for _, object := range oddObjects {
		res := &provider.Result{Hits: []provider.Hit{{URL: "u", Schema: []byte(object)}}}
		for _, doc := range []struct {
			text []byte
			path string
		}{
			{resultJSON(res), "hits.0.schema"},
			{objectsJSON([]provider.Object{{URL: "u", Found: true, Schema: []byte(object)}}), "objects.0.schema"},
		} {
			require.True(t, json.Valid(doc.text), "%s", doc.text)
			require.Equal(t, object, gjson.GetBytes(doc.text, doc.path).Raw)
		}
	}
}

func TestJSONHasTheDocumentedShape(t *testing.T) {
	text := "an answer"
	full := &provider.Result{
		Hits: []provider.Hit{
			{URL: "https://a.example/?a=1&b=2", Site: "a.example", Name: "<b>\"Soup\"\n\x1b", Types: []string{"Recipe", "NewsArticle"},
				Passage: "say \\ it", Schema: []byte(`{"n":1.0}`)},
			{URL: "u2", Site: "s2"},
		},
		Degraded: true,
		Statuses: []provider.Status{{Code: "X", Message: "m", Kind: provider.StatusProblem}},
		Answer:   &provider.Answer{Text: &text},
	}
	for name, tc := range map[string]struct {
		got  []byte
		want string
	}{
		"search": {resultJSON(full), `{"hits":[` +
			`{"url":"https://a.example/?a=1&b=2","site":"a.example","name":"<b>\"Soup\"\n\u001b","types":["Recipe","NewsArticle"],"passage":"say \\ it","schema":{"n":1.0}},` +
			`{"url":"u2","site":"s2","name":"","types":[],"passage":"","schema":null}],` +
			`"degraded":true,"statuses":[{"code":"X","message":"m","kind":"problem"}],"answer":{"text":"an answer"}}`},
		"search without a hit": {resultJSON(&provider.Result{}), `{"hits":[],"degraded":false,"statuses":[]}`},
		"search whose answer failed": {resultJSON(&provider.Result{Answer: &provider.Answer{}}),
			`{"hits":[],"degraded":false,"statuses":[],"answer":{"text":null}}`},
		"get": {objectsJSON([]provider.Object{{URL: "u", Site: "s", Found: true, Ambiguous: true, Schema: []byte(`[{}]`)}, {URL: "v"}}),
			`{"objects":[{"url":"u","site":"s","found":true,"ambiguous":true,"schema":[{}]},{"url":"v","site":"","found":false,"ambiguous":false,"schema":null}]}`},
		"sites":         {sitesJSON([]provider.Site{{Site: "s", Documents: 3}}), `{"sites":[{"site":"s","documents":3}]}`},
		"sites of none": {sitesJSON(nil), `{"sites":[]}`},
		"entry":         {entryJSON(nil, provider.Entry{URL: "u", Hash: "h", Indexed: true}), `{"url":"u","hash":"h","indexed":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, string(bytes.TrimSuffix(tc.got, []byte("\n"))))
		})
	}
}

// A provider that is not ours may send bytes that are no JSON; they must not
// break the document for all other hits.
func TestBrokenObjectsDoNotBreakTheDocument(t *testing.T) {
	for _, broken := range []string{"", "{", `{"a":`, `{}}`, "{}\n{}", "\x00"} {
		text := resultJSON(&provider.Result{Hits: []provider.Hit{{URL: "a", Schema: []byte(broken)}, {URL: "b", Schema: []byte(`{"ok":1}`)}}})
		require.True(t, json.Valid(text), "%s", text)
		require.Equal(t, gjson.Null, gjson.GetBytes(text, "hits.0.schema").Type)
		require.Equal(t, `{"ok":1}`, gjson.GetBytes(text, "hits.1.schema").Raw)
	}
}

// FuzzJSONString wants every text to come back from a decoder as it went in,
// but for bytes that are not UTF-8, which JSON cannot carry.
func FuzzJSONString(f *testing.F) {
	for _, seed := range []string{"", `a"b\c`, "<&>", "\u2028\x00\x1b\x7f", "\xff", "😀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		require.NoError(t, json.Unmarshal(jsonString(nil, s), &got))
		require.Equal(t, string([]rune(s)), got)
	})
}
