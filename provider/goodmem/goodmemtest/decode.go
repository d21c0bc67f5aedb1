package goodmemtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decode reads a request body into a struct and refuses, in the words of the
// server's JSON library, what is no JSON, an unknown property and a value of
// another type. Names are case-sensitive. It returns nil when all is well.
func decode(body []byte, into any) *reply {
	if message := misread(body, into); message != "" {
		r := undecodable(message)
		return &r
	}
	return nil
}

func misread(body []byte, into any) string {
	if !utf8.Valid(body) {
		return "Invalid UTF-8" + location(body, 0)
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		return "Unexpected input (" + syntax.Error() + ")" + location(body, syntax.Offset)
	} else if err != nil {
		return "Unexpected end-of-input" + location(body, int64(len(body)))
	}
	w := propertyWalk{body: body, dec: json.NewDecoder(bytes.NewReader(body))}
	if message := w.value(reflect.TypeOf(into).Elem(), ""); message != "" {
		return message
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(body, into); errors.As(err, &wrong) {
		return fmt.Sprintf("Cannot deserialize value of type `%s` from %s value (field %q)%s",
			wrong.Type, wrong.Value, wrong.Field, location(body, wrong.Offset))
	} else if err != nil {
		return err.Error()
	}
	return ""
}

// location is the place in the form of the server's messages.
func location(body []byte, offset int64) string {
	before := body[:min(max(offset, 0), int64(len(body)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: %d, column: %d]", line, column)
}

// propertyWalk looks for a property that a type does not know.
type propertyWalk struct {
	body []byte
	dec  *json.Decoder
}

// value reads one value of a type; chain is how it was reached.
func (w *propertyWalk) value(t reflect.Type, chain string) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, _ := w.dec.Token()
	delim, _ := tok.(json.Delim)
	switch {
	case delim == '{' && t != nil && t.Kind() == reflect.Struct:
		return w.object(t, chain)
	case delim == '{' || delim == '[':
		var element reflect.Type
		if t != nil && delim == '[' && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
			element = t.Elem()
		}
		for i := 0; w.dec.More(); i++ {
			if delim == '{' {
				_, _ = w.dec.Token() // the key
			}
			if message := w.value(element, chain+"java.util.ArrayList["+strconv.Itoa(i)+"]->"); message != "" {
				return message
			}
		}
		_, _ = w.dec.Token()
	}
	return ""
}

func (w *propertyWalk) object(t reflect.Type, chain string) string {
	class := "com.goodmem.rest.dto." + strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	for w.dec.More() {
		tok, _ := w.dec.Token()
		key, _ := tok.(string)
		field, known := property(t, key)
		link := fmt.Sprintf("%s%s[%q]", chain, class, key)
		if !known {
			_, _ = w.dec.Token()
			return fmt.Sprintf("Unrecognized field %q (class %s), not marked as ignorable (%d known properties: %s)%s (through reference chain: %s)",
				key, class, t.NumField(), strings.Join(properties(t), ", "), location(w.body, w.dec.InputOffset()), link)
		}
		if message := w.value(field, link+"->"); message != "" {
			return message
		}
	}
	_, _ = w.dec.Token()
	return ""
}

func property(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") == name {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

func properties(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = strconv.Quote(t.Field(i).Tag.Get("json"))
	}
	return names
}
