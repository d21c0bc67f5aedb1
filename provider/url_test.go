package provider_test

import (
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestNormalURL(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"scheme and host in lower case", "HTTPS://WWW.Example.COM/Path", "https://www.example.com/Path"},
		{"default port of https", "https://a.example:443/x", "https://a.example/x"},
		{"default port of http", "http://a.example:80/x", "http://a.example/x"},
		{"other port stays", "https://a.example:80/x", "https://a.example:80/x"},
		{"empty port", "https://a.example:/x", "https://a.example/x"},
		{"userinfo keeps its case", "https://User:Pa@A.example/x", "https://User:Pa@a.example/x"},
		{"IPv6 host", "http://[::1]:80/x", "http://[::1]/x"},
		{"single dot", "https://a.example/a/./b/.", "https://a.example/a/b/"},
		{"double dot", "https://a.example/a/b/../c/..", "https://a.example/a/"},
		{"double dot above the root", "https://a.example/../../x", "https://a.example/x"},
		{"dots in names stay", "https://a.example/a..b/.c/d.", "https://a.example/a..b/.c/d."},
		{"encoded dot segment", "https://a.example/a/%2E%2e/b", "https://a.example/b"},
		{"doubled slash stays", "https://a.example//a//b", "https://a.example//a//b"},
		{"trailing slash stays", "https://a.example/a/", "https://a.example/a/"},
		{"empty path is the root", "https://a.example?q", "https://a.example/?q"},
		{"unreserved is decoded", "https://a.example/%7Euser/%61%2D", "https://a.example/~user/a-"},
		{"reserved keeps its escape, in upper case", "https://a.example/a%2fb?x=%3d", "https://a.example/a%2Fb?x=%3D"},
		{"broken escape stays", "https://a.example/%zz%4", "https://a.example/%zz%4"},
		{"fragment stays", "https://a.example/x#Frag/../y", "https://a.example/x#Frag/../y"},
		{"query keeps its case and dots", "https://a.example/x?A=/../B", "https://a.example/x?A=/../B"},
		{"no scheme", "a.example/x", "a.example/x"},
		{"no host", "file:///x/../y", "file:///x/../y"},
		{"urn", "urn:isbn:123", "urn:isbn:123"},
		{"relative with a URL inside", "/x?u=http://A/", "/x?u=http://A/"},
		{"text", "not a url", "not a url"},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := provider.NormalURL(tt.in); got != tt.want {
				t.Errorf("NormalURL(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzNormalURL(f *testing.F) {
	for _, s := range []string{"https://a.example/a/../b?%41#x", "HTTP://A:80", "://", "a://b/%", "http://[::1", "x://%25/%2e%2E/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := provider.NormalURL(s)
		if twice := provider.NormalURL(once); twice != once {
			t.Errorf("NormalURL(%q) = %q, and of that %q: want it stable", s, once, twice)
		}
		if len(once) > len(s)+1 {
			t.Errorf("NormalURL(%q) grew to %q", s, once)
		}
	})
}

func TestHostSite(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/x":                  "a.example",
		"HTTPS://WWW.A.Example":                "a.example",
		"http://www.a.example:8080/x?y#z":      "a.example",
		"https://user:pw@a.example/":           "a.example",
		"https://a.example?q=http://b.example": "a.example",
		"https://a.example\\@b.example/":       "a.example",
		"https://müller.example/":              "xn--mller-kva.example",
		"https://MÜLLER.example/":              "xn--mller-kva.example",
		"https://www.xn--mller-kva.example/":   "xn--mller-kva.example",
		"https://my_shop.example/":             "my_shop.example",
		"https://a.example./":                  "a.example",
		"https://[2001:db8::1]:443/x":          "2001:db8::1",
		"https://192.0.2.7/x":                  "192.0.2.7",
		"https://a.example/100%":               "a.example",
		"https://wwwx.example/":                "wwwx.example",
		"https:///x":                           "",
		"mailto:a@b.example":                   "",
		"/x":                                   "",
		"https://www.www.example/":             "www.example",
		"not a url":                            "",
		"http://%zz/":                          "%zz",
		"urn:isbn:1":                           "",
	} {
		if got := provider.HostSite(in); got != want {
			t.Errorf("HostSite(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJSONDepth(t *testing.T) {
	for in, want := range map[string]int{
		"":                        0,
		"1":                       0,
		"{}":                      1,
		`{"a":[{"b":1}]}`:         3,
		`{"a":"[[[[","b":"\"[["}`: 1,
		"]]][":                    0,
		strings.Repeat("[", 1000): 1000,
		`"unterminated [[`:        0,
		`"ends in a backslash \`:  0,
	} {
		if got := provider.JSONDepth([]byte(in)); got != want {
			t.Errorf("JSONDepth(%.40q) = %d, want %d", in, got, want)
		}
	}
}
