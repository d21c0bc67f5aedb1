package ingest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

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
