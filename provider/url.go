package provider

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// NormalURL returns the form under which Get also finds a document: scheme and
// host in lower case, the scheme's default port dropped, dot segments removed,
// percent-encoding in upper case and undone where it hides an unreserved
// character (RFC 3986, section 6.2.2 and 6.2.3). The query, the fragment and a
// trailing slash stay. A text that is no absolute URL with a host is returned
// as it is.
func NormalURL(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !isScheme(scheme) {
		return raw
	}
	scheme = lowerASCII(scheme)
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if authority == "" {
		return raw
	}
	userinfo := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		userinfo, authority = authority[:at+1], authority[at+1:]
	}
	host := dropDefaultPort(scheme, lowerASCII(normalEscapes(authority)))
	if host == "" {
		return raw
	}

	cut := strings.IndexAny(tail, "?#")
	if cut < 0 {
		cut = len(tail)
	}
	p, suffix := normalEscapes(tail[:cut]), normalEscapes(tail[cut:])
	return scheme + "://" + normalEscapes(userinfo) + host + removeDotSegments(p) + suffix
}

// HostSite returns the site that a URL belongs to by its host: the host in
// its ASCII form (IDNA), lower case, without "www." and port; "" when there is
// none.
func HostSite(raw string) string {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	u := url.URL{Host: rest[strings.LastIndexByte(rest, '@')+1:]}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if ascii, err := hostProfile.ToASCII(host); err == nil {
		host = ascii
	}
	return strings.TrimPrefix(strings.ToLower(host), "www.")
}

// hostProfile maps a host to what a resolver would be asked for, and is not
// strict about characters such as the underscore, which real hosts have.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// removeDotSegments resolves "." and ".." in an absolute path; an empty path
// is the root. A doubled slash is part of the path's meaning and stays, which
// is why path.Clean serves only the segments that are dots.
func removeDotSegments(p string) string {
	if p == "" {
		return "/"
	}
	if !strings.Contains(p, "/.") {
		return p
	}
	var out []string
	segments := strings.Split(p[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/")
}

// normalEscapes writes each percent-encoded byte of s in its normal form. A
// part of a URL with a broken escape is left alone: to mend the valid ones
// could make a new one of what is left of the broken.
func normalEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
			return s
		}
		c := byte(unhex(s[i+1])<<4 | unhex(s[i+2]))
		if isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
		i += 2
	}
	return b.String()
}

// lowerASCII leaves other letters alone: what the case of a host in Unicode
// stands for is a matter of IDNA, not of a URL's normal form.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}

// dropDefaultPort also drops an empty port. An authority with several colons
// outside the brackets of an IPv6 address is malformed and stays.
func dropDefaultPort(scheme, authority string) string {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || strings.HasSuffix(authority, "]") {
		return authority
	}
	host, port := authority[:i], authority[i+1:]
	if strings.Contains(host, ":") && !strings.HasSuffix(host, "]") {
		return authority
	}
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return host
	}
	return authority
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z') && (i == 0 || !('0' <= s[i] && s[i] <= '9' || strings.IndexByte("+-.", s[i]) >= 0)) {
			return false
		}
	}
	return s != ""
}
