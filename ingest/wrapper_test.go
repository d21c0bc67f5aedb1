package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
)

func TestWrapperIsRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       wrapped
	}{
		{"schema is an object", `{"url":"https://a.example/1","site":"a","schema":{"x": 1.50 }}`,
			wrapped{url: "https://a.example/1", site: "a", schema: []byte(`{"x": 1.50 }`)}},
		{"schema is a list", `{"schema":[{"x":1},{"y":2}],"url":"u"}`, wrapped{url: "u", schema: []byte(`[{"x":1},{"y":2}]`)}},
		{"schema_json is a string", `{"url":"u","name":"N","schema_json":"{\"x\":\"\\u00e9\"}"}`,
			wrapped{url: "u", name: "N", schema: []byte(`{"x":"\u00e9"}`)}},
		{"raw_schema_object is an object", `{"url":"u","raw_schema_object":{"x":1}}`, wrapped{url: "u", schema: []byte(`{"x":1}`)}},
		{"a string in a string", `{"url":"u","schema":"\"{\\\"x\\\":1}\""}`, wrapped{url: "u", schema: []byte(`{"x":1}`)}},
		{"the first of the names counts", `{"raw_schema_object":{"b":1},"schema":{"a":1}}`, wrapped{schema: []byte(`{"a":1}`)}},
		{"null is no url and no site", `{"url":null,"site":null,"schema":{}}`, wrapped{schema: []byte(`{}`)}},
		{"over several lines", "{\n\"url\": \"u\",\n\"schema\":\n\n{\"x\":\n1}}", wrapped{url: "u", schema: []byte("{\"x\":\n1}"), line: 4}},
		{"broken behind the object", `{"url":"u","schema":{"x":1},}`, wrapped{url: "u", schema: []byte(`{"x":1}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok, err := readWrapper([]byte(c.text))
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestWhatIsNoWrapper(t *testing.T) {
	for _, text := range []string{
		`{"@type":"Dataset","url":"u","schema":{"x":1}}`,
		`{"@context":"https://schema.org","schema":{}}`,
		`{"@graph":[],"schema":{}}`,
		`{"url":"u","site":"a"}`,
		`{"url":"u","about":{"schema":{}}}`,
		`[{"schema":{}}]`,
		`"schema"`, ``, `{`,
	} {
		_, ok, err := readWrapper([]byte(text))
		require.NoError(t, err, text)
		require.False(t, ok, text)
	}
}

func TestWrapperWithWrongMembersIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"url":["u"],"schema":{}}`:        "url: is a list, want a text",
		`{"url":{"@id":"u"},"schema":{}}`:  "url: is an object, want a text",
		`{"url":5,"schema":{}}`:            "url: is a number, want a text",
		`{"url":"u","site":7,"schema":{}}`: "site: is a number, want a text",
		`{"url":"u","schema":7}`:           "schema: is a number, want an object",
		`{"url":"u","schema_json":" "}`:    "schema: is an empty text",
		`{"url":"u","schema":null}`:        "schema: is null, want an object",
	} {
		_, ok, err := readWrapper([]byte(text))
		require.True(t, ok, text)
		require.ErrorIs(t, err, provider.ErrInvalid, text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestTabLineIsRead(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"object", "https://a.example/1\t{\"x\":1}", `{"x":1}`},
		{"list", "https://a.example/1\t[{\"x\":1}]", `[{"x":1}]`},
		{"string", "https://a.example/1\t\"{\\\"x\\\":1}\"", `{"x":1}`},
		{"with an embedding", "https://a.example/1\t{\"x\":\"a\tb\"}\t[0.1,0.2]", "{\"x\":\"a\tb\"}"},
		{"string with an embedding", "https://a.example/1\t\"{}\"\t[0.1,0.2]", `{}`},
		{"blanks around", " https://a.example/1 \t {\"x\":1} ", `{"x":1}`},
		{"broken", "https://a.example/1\t{\"x\":1},", `{"x":1},`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, isTabLine([]byte(c.line)))
			got, err := readTabLine([]byte(c.line))
			require.NoError(t, err)
			require.Equal(t, wrapped{url: "https://a.example/1", schema: []byte(c.want)}, got)
		})
	}
	_, err := readTabLine([]byte("u\t\"{}"))
	require.ErrorIs(t, err, provider.ErrInvalid)
}

// FuzzWrapper: whatever the bytes, a wrapper gives an object, a list or text
// to read, or an error that says what is wrong with it.
func FuzzWrapper(f *testing.F) {
	f.Add([]byte(`{"url":"u","schema":{"x":1}}`))
	f.Add([]byte(`{"url":"u","schema_json":"\"{}\""}`))
	f.Add([]byte("u\t{\"x\":1}\t[1]"))
	f.Add([]byte("{\"schema\":"))
	f.Add([]byte("u\t\"\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		if isTabLine(text) {
			w, err := readTabLine(text)
			if err == nil && len(w.schema) == 0 {
				t.Fatal("a line without an object and without an error")
			}
		}
		w, ok, err := readWrapper(text)
		if err != nil && !ok {
			t.Fatalf("error %v of what is no wrapper", err)
		}
		if ok && err == nil && w.schema == nil {
			t.Fatal("a wrapper without an object and without an error")
		}
	})
}
