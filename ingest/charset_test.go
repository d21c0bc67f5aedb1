package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHTMLIsDecodedAsItDeclares(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"meta charset", "<meta charset=iso-8859-1><p>S\xfc\xdf", "<meta charset=iso-8859-1><p>Süß"},
		{"any case and blanks", "<META CHARSET=' Windows-1251 '><p>\xcf\xf0\xe8", "<META CHARSET=' Windows-1251 '><p>При"},
		{"http-equiv", `<meta content="text/html; charset=Shift_JIS" http-equiv=Content-Type>` + "\x93\xfa\x96\x7b",
			`<meta content="text/html; charset=Shift_JIS" http-equiv=Content-Type>日本`},
		{"XML declaration", "\n<?xml version='1.0' encoding='ISO-8859-15'?><html>\xa4", "\n<?xml version='1.0' encoding='ISO-8859-15'?><html>€"},
		{"UTF-8 with an old declaration", "<meta charset=iso-8859-1>Süß", "<meta charset=iso-8859-1>Süß"},
		{"ISO-2022-JP looks like ASCII", "<meta charset=iso-2022-jp>\x1b$BF|K\\\x1b(B", "<meta charset=iso-2022-jp>日本"},
		{"nothing declared", "<p>S\xfc\xdf", "<p>S\xfc\xdf"},
		{"UTF-8 declared, and it is not", "<meta charset=utf-8>\xfc", "<meta charset=utf-8>\xfc"},
		{"UTF-16 declared in ASCII", "<meta charset=utf-16>\xfc", "<meta charset=utf-16>\xfc"},
		{"an encoding nobody knows", "<meta charset=klingon>\xfc", "<meta charset=klingon>\xfc"},
		{"a declaration that is a comment", "<!-- <meta charset=iso-8859-1> -->\xfc", "<!-- <meta charset=iso-8859-1> -->\xfc"},
		{"another meta element", "<meta name=a content='charset=iso-8859-1'>\xfc", "<meta name=a content='charset=iso-8859-1'>\xfc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeHTML([]byte(c.page))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}
