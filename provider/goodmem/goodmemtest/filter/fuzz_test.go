package filter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var dialects = []Dialect{Backslash, Doubled, Sloppy, Either, Neither}

// Whatever the bytes, reading them does not panic, and what was read is the
// same expression again when it is printed and read.
func FuzzParseOfPrint(f *testing.F) {
	for _, seed := range []string{
		`CAST(val('$.site') AS TEXT) = 'O\'Brien'`, `CAST(val('$.site') AS TEXT) = 'O''Brien'`, `NOT (TRUE OR FALSE) AND NOT NOT TRUE`, `- -1 = 1 - -1`,
		`(1 = 2) = TRUE`, `1 - (2 - 3) = 2 - 1 - 1`, `'a' || ('b' || 'c') = 'abc'`, `val('$.tags')[1 + 1] IN ['a', [1]]`, `(1 IS NULL) IS NOT NULL`, `1 IN (val('$.a'), 2)`,
		`'x' NOT IN val('$.tags') OR 'x' NOT IN ('y')`, `EXTRACT(YEAR FROM CAST(val('$.d') AS DATE)) >= 2024 -- now`, `'C:\\new' LIKE 'C:\\\\%'`, `'\\\n' = '\n'`,
		`(val('$.a') CONTAINS 'x') OVERLAPS [CURRENT_DATE, NULL]`, `exists('$.a[*]."b c".*')`, `(-1)[0] = (1)[0]`, `((1 + 2) * 3 % 4 / 5 = 1)`,
	} {
		f.Add(seed)
	}
	m := decode(f)
	f.Fuzz(func(t *testing.T, src string) {
		for _, d := range dialects {
			e, err := Parse(src, d)
			if err != nil {
				continue
			}
			printed, ok := e.Print(d)
			require.True(t, ok, "%q under %s cannot be printed", src, d)
			again, err := Parse(printed, d)
			require.NoError(t, err, "%q under %s, printed %q", src, d, printed)
			require.Equal(t, e.Root, again.Root, "%q under %s, printed %q", src, d, printed)
			got, failed := e.Match(m, now)
			want, failedAgain := again.Match(m, now)
			require.Equal(t, want, got)
			require.Equal(t, failed, failedAgain)
			if cover, ok := e.Cover(func(Equality) int { return 1 }); ok && got {
				require.True(t, covered(cover, m), "%q under %s matches outside of its cover %v", src, d, cover)
			}
		}
	})
}

func covered(cover []Equality, m map[string]any) bool {
	for _, eq := range cover {
		if v, ok := m[eq.Field]; ok {
			if s, _ := TextOf(v); s == eq.Value {
				return true
			}
		}
	}
	return false
}

// A text that a dialect has a literal for is read back as it was, and nothing
// that follows inside it is seen as part of the expression.
func FuzzQuoteOfUnquote(f *testing.F) {
	for _, seed := range []string{``, `a`, `O'Brien`, `\`, `\'`, `''`, `x' OR '1'='1`, `C:\new`, "a\nb\tc\r", `' OR TRUE --`, `\\n`, "日本'", "\\\n", `\' OR TRUE --`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		for _, d := range dialects {
			literal, ok := Quote(s, d)
			if !ok {
				continue
			}
			e, err := Parse(`CAST(val('$.f') AS TEXT) = `+literal, d)
			require.NoError(t, err, "%q under %s: %s", s, d, literal)
			require.Equal(t, Binary{"=", Cast{Val{"$.f", []step{{name: "f"}}}, "TEXT"}, String{s}}, e.Root)
		}
	})
}
