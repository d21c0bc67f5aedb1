package config

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// String names the keys that are set, without their values.
func (s Settings) String() string {
	return "Settings{" + strings.Join(s.names, " ") + "}"
}

// GoString is String, for %#v.
func (s Settings) GoString() string { return s.String() }

// Format writes String for every verb.
func (s Settings) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalJSON writes String as a JSON string. What a provider is sent is JSON.
func (s Settings) MarshalJSON() ([]byte, error) {
	return []byte(fmt.Sprintf("%q", s.String())), nil
}

// LogValue is String, for slog.
func (s Settings) LogValue() slog.Value { return slog.StringValue(s.String()) }

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}
