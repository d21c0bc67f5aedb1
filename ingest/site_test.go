package ingest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSiteIsTheHost(t *testing.T) {
	for raw, want := range map[string]string{
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
	} {
		require.Equal(t, want, siteOf(raw), "site of %s", raw)
	}
}

func TestURLOfAWrapper(t *testing.T) {
	base, err := url.Parse("https://a.example/shop/index.html")
	require.NoError(t, err)
	for _, c := range []struct {
		raw, want, fails string
		base             *url.URL
	}{
		{raw: " https://A.example/x y?q=%zz#f ", want: "https://A.example/x y?q=%zz#f"},
		{raw: "http://b.example", want: "http://b.example", base: base},
		{raw: "item/1", want: "https://a.example/shop/item/1", base: base},
		{raw: "//b.example/x", want: "https://b.example/x", base: base},
		{raw: "#a", want: "https://a.example/shop/index.html#a", base: base},
		{raw: "item/1", fails: "is relative"},
		{raw: "javascript:alert(1)", fails: "no http or https URL", base: base},
		{raw: "javascript://a.example/%0aalert(1)", fails: "no http or https URL", base: base},
		{raw: "file:///etc/passwd", fails: "no http or https URL", base: base},
		{raw: "https:///x", fails: "has no host", base: base},
		{raw: "https:x", fails: "has no host", base: base},
		{raw: "%zz", fails: "is no URL", base: base},
	} {
		got, err := pageURL(c.raw, c.base)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, "URL %q", c.raw)
			continue
		}
		require.NoError(t, err, "URL %q", c.raw)
		require.Equal(t, c.want, got)
	}
}
