package provider_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// checkValidity compares what CheckSchema goes by with encoding/json.
func checkValidity(t *testing.T, text []byte) {
	t.Helper()
	if provider.JSONDepth(text) > provider.MaxJSONDepth {
		return
	}
	if got, want := gjson.ValidBytes(text), json.Valid(text); got != want {
		t.Fatalf("%q is valid JSON: %v, want %v", text, got, want)
	}
}

func TestSchemaIsAsValidAsForEncodingJSON(t *testing.T) {
	alphabet := strings.Fields(`{ } [ ] , : "" "a" 1 0 - . e + t true null \ x`)
	longest := 4
	if os.Getenv("SITEPROVIDER_LONG") != "" {
		longest = 6
	}
	var check func(text []byte, left int)
	check = func(text []byte, left int) {
		checkValidity(t, text)
		for i := 0; left > 0 && i < len(alphabet); i++ {
			check(append(text[:len(text):len(text)], alphabet[i]...), left-1)
		}
	}
	check(nil, longest)
	// Each byte, alone and before one that may matter, in a string, behind a
	// backslash, and around a value.
	for a := range 256 {
		for _, b := range []byte("\x00\"\\{}[],:019+-.eEtfnu \n\x1f\x7f\x80\xff") {
			for _, around := range []string{`"%"`, `"\%"`, `"\u12%"`, `"\u%34"`, `"\ud8%"`, `%1`, `1%`, `-%`, `[1%]`, `[%1]`, `{"a"%1}`, `1e%`, `nul%`, `tru%`, `fals%`} {
				checkValidity(t, []byte(strings.ReplaceAll(around, "%", string([]byte{byte(a), byte(b)}))))
				if b == 0 {
					checkValidity(t, []byte(strings.ReplaceAll(around, "%", string([]byte{byte(a)}))))
				}
			}
		}
	}
}

func FuzzCheckSchema(f *testing.F) {
	for _, s := range []string{
		`{"@type":"Recipe","n":[1,-2.5e+3,0,null,true,false,"\u00e9\ud800\n"],"o":{}}`, `[{"a":1},{}]`, `[]`, `[1]`, `null`, " {} ", `{"a":01}`, `{"a":1,}`,
		"{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", strings.Repeat("[", 300), `[{"a":[{"b":{"c":[[]]}}]}`, "\ufeff{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		checkValidity(t, schema)
		err := provider.CheckSchema("schema", schema)
		var object map[string]json.RawMessage
		var list []map[string]json.RawMessage
		isObject := json.Unmarshal(schema, &object) == nil && object != nil
		isList := json.Unmarshal(schema, &list) == nil && len(list) > 0
		for _, o := range list {
			isList = isList && o != nil
		}
		if err == nil && !isObject && !isList {
			t.Fatalf("%q passes, want an object or a list of objects", schema)
		}
		if err != nil && (isObject || isList) && utf8.Valid(schema) && provider.JSONDepth(schema) <= provider.MaxJSONDepth {
			t.Fatalf("%q is refused: %v", schema, err)
		}
	})
}
