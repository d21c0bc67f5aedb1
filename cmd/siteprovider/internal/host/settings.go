package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// strictJSON decodes settings into v. A key that v does not have is an error:
// a host that sends it counts on an effect it would not get. Errors name keys,
// never values.
func strictJSON(settings []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(settings))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return provider.Invalidf("settings", "more than one JSON value")
		}
		return nil
	}
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return provider.Invalidf("settings."+wrongType.Field, "has the kind %s, want %s", kindOf(wrongType.Value), wrongType.Type)
	}
	return provider.Invalidf("settings", "%s", strings.TrimPrefix(err.Error(), "json: "))
}

// kindOf cuts the value from what encoding/json says, such as "number 12".
func kindOf(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return kind
}
