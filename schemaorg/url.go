package schemaorg

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/siteprovider/siteprovider/provider"
)

var (
	errNotAbsolute = invalidf("is relative, and there is no base URL to resolve it against")
	errNoHost      = invalidf("has no host")
)

// schemeError is a URL that no web page has.
type schemeError struct{ scheme string }

func (e *schemeError) Error() string {
	return fmt.Sprintf("has the scheme %q, want http or https", e.scheme)
}

func (e *schemeError) Unwrap() error { return provider.ErrInvalid }

// resolve returns ref as an absolute http or https URL. One that is absolute
// already stays as it is written, blanks around it apart, so that it is found
// again under the name its author gave it.
func resolve(ref, base string) (string, error) {
	ref = strings.TrimSpace(ref)
	absolute := ref
	switch scheme, rest := cutScheme(ref); scheme {
	case "http", "https":
		if !strings.HasPrefix(rest, "//") {
			return "", errNoHost
		}
	case "":
		b, err := url.Parse(base)
		if err != nil || b.Host == "" {
			return "", errNotAbsolute
		}
		u, err := url.Parse(ref)
		if err != nil {
			return "", invalidf("is no URL")
		}
		absolute = b.ResolveReference(u).String()
		if scheme, _ := cutScheme(absolute); scheme != "http" && scheme != "https" {
			return "", &schemeError{scheme}
		}
	default:
		return "", &schemeError{scheme}
	}
	switch host := hostOf(absolute); {
	case host == "":
		return "", errNoHost
	case !validHost(absolute, host):
		return "", invalidf("has the host %q, which none can have", cutAtWord(host, 80))
	}
	if err := provider.CheckURL("url", absolute); err != nil {
		var invalid *provider.Error
		if errors.As(err, &invalid) {
			return "", invalidError(invalid.Reason)
		}
		return "", err
	}
	return absolute, nil
}

// cutScheme splits a URL at the colon of its scheme, which is lowered; scheme
// is empty where there is none.
func cutScheme(s string) (scheme, rest string) {
	colon := strings.IndexByte(s, ':')
	if colon < 1 {
		return "", s
	}
	for i := 0; i < colon; i++ {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !('0' <= s[i] && s[i] <= '9' || strings.IndexByte("+-.", s[i]) >= 0)) {
			return "", s
		}
	}
	return strings.ToLower(s[:colon]), s[colon+1:]
}

// hostOf returns what stands between the scheme's slashes and the path, without
// a user and a port.
func hostOf(absolute string) string {
	_, rest, _ := strings.Cut(absolute, "://")
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") {
		return rest
	}
	host, _, _ := strings.Cut(rest, ":")
	return strings.TrimSpace(host)
}

// validHost reports whether a web server can have the host, and the port, of a
// URL. What follows those may be written badly, as it often is.
func validHost(absolute, host string) bool {
	scheme, rest, _ := strings.Cut(absolute, "://")
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	u, err := url.Parse("http://" + rest[strings.LastIndexByte(rest, '@')+1:])
	return err == nil && scheme != "" && u.Host != "" && !strings.HasPrefix(host, ".") && !strings.Contains(host, "..") &&
		strings.IndexFunc(host, func(c rune) bool { return c == '%' || unicode.Is(unicode.Cf, c) || !unicode.IsGraphic(c) }) < 0
}

// escapeFragment makes a text safe to stand after the # of a URL.
func escapeFragment(s string) string {
	return (&url.URL{Fragment: s}).EscapedFragment()
}

// cutFragment returns a URL without its fragment, and the fragment.
func cutFragment(u string) (rest, fragment string) {
	rest, fragment, _ = strings.Cut(u, "#")
	return rest, fragment
}
