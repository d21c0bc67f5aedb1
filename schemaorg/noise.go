package schemaorg

import (
	"encoding/json"
	"strings"
)

// isNothing reports whether a string is blank or what templates and languages
// print for a missing value.
func isNothing(s string) bool {
	s = strings.TrimSpace(s)
	if len(s) > len("[object Object]") || s != "" && strings.IndexByte("nNuUtTfF<[", s[0]) < 0 {
		return false
	}
	switch strings.ToLower(s) {
	case "", "null", "undefined", "none", "nil", "<nil>", "nan", "n/a", "true", "false", "[object object]":
		return true
	}
	return false
}

// isNoise reports whether a string has nothing to read: an address, an
// enumeration's IRI, a duration, a hash, JSON, or nothing at all.
func isNoise(s string) bool {
	s = strings.TrimSpace(s)
	if isNothing(s) {
		return true
	}
	if (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)) {
		return true
	}
	if strings.ContainsAny(s, " \n\t") {
		return false
	}
	const longestWord = 100
	scheme, rest := cutScheme(s)
	switch {
	case s[0] == '/', scheme != "" && strings.HasPrefix(rest, "//"):
		return true
	case isDuration(s):
		return true
	case len(s) > longestWord && isASCII(s):
		return true
	}
	return isAddress(s) || isUUID(s)
}

// isAddress reports whether s begins like an address that is no path and has no
// slashes behind its scheme.
func isAddress(s string) bool {
	var prefixes []string
	switch s[0] | 0x20 {
	case 'w':
		prefixes = []string{"www."}
	case 's':
		prefixes = []string{"schema:", "schema.org/"}
	case 'm':
		prefixes = []string{"mailto:"}
	case 't':
		prefixes = []string{"tel:"}
	case 'd':
		prefixes = []string{"data:"}
	case 'u':
		prefixes = []string{"urn:"}
	case 'j':
		prefixes = []string{"javascript:"}
	default:
		return strings.HasPrefix(s, "_:")
	}
	for _, prefix := range prefixes {
		if _, ok := cutPrefixFold(s, prefix); ok {
			return true
		}
	}
	return false
}

// isDuration reports whether s is an ISO 8601 duration, such as PT1H30M.
func isDuration(s string) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	digits := false
	for i := 1; i < len(s); i++ {
		switch {
		case '0' <= s[i] && s[i] <= '9':
			digits = true
		case strings.IndexByte("YMWDTHS.,", s[i]) < 0:
			return false
		}
	}
	return digits
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !hexDigits([]byte{s[i]}, 1) {
				return false
			}
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
