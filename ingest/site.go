package ingest

import (
	"net/url"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// checkBase checks that base is a URL that others can be resolved against.
func checkBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, provider.Invalidf("Options.Base", "%q is no URL", base)
	}
	if !isWeb(u.Scheme) || u.Host == "" {
		return nil, provider.Invalidf("Options.Base", "%q is no absolute http or https URL", base)
	}
	return u, nil
}

// pageURL returns the URL that a wrapper names, resolved against base where it
// is relative (base may be nil). An absolute one stays as it is written, also
// where it is written badly, because it is the identity of a document.
func pageURL(raw string, base *url.URL) (string, error) {
	raw = strings.TrimSpace(raw)
	if scheme, rest, ok := strings.Cut(raw, "://"); ok && isWeb(scheme) && provider.HostSite("x://"+rest) != "" {
		return raw, nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "", provider.Invalidf("url", "%q is no URL", shorten(raw))
	case u.Scheme != "" && !isWeb(u.Scheme):
		return "", provider.Invalidf("url", "%q is no http or https URL", shorten(raw))
	case u.Scheme != "":
		return "", provider.Invalidf("url", "%q has no host", shorten(raw))
	case base == nil:
		return "", provider.Invalidf("url", "%q is relative, and there is no base URL to resolve it against", shorten(raw))
	}
	return base.ResolveReference(u).String(), nil
}

func isWeb(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// shorten cuts what an error quotes.
func shorten(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
