package filter

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const metadata = `{
	"site": "a.example", "name": "O'Brien", "path": "C:\\new", "flag": true, "off": false, "n": 5, "price": 19.99, "big": 1e20, "small": 1.5e-7,
	"word": "true", "five": "5", "nothing": null, "user-id": "u1", "lines": "a\nb", "tags": ["urgent", "manila", 3], "owner": {"name": "ann", "age": 40},
	"items": [{"sku": "x"}, {"sku": "y"}], "due": "2025-06-30", "at": "2025-06-30T10:20:30Z"}`

func decode(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(metadata), &m))
	return m
}

// The rules in the order of the notes on the wire: casts and their silent
// misses first, then operators.
func TestExpressionsMatchAsTheServersDo(t *testing.T) {
	m := decode(t)
	for expr, want := range map[string]bool{
		// Casts.
		`CAST(val('$.flag') AS BOOLEAN) = true`:     true,
		`CAST(val('$.off') AS BOOLEAN) = false`:     true,
		`CAST(val('$.flag') AS TEXT) = 'true'`:      false,
		`CAST(val('$.flag') AS TEXT) = 'True'`:      false,
		`CAST(val('$.flag') AS TEXT) = 't'`:         true,
		`val('$.flag') = true`:                      false,
		`val('$.n') = 5`:                            false,
		`val('$.site') = 'a.example'`:               false,
		`CAST(val('$.n') AS NUMERIC) = 5`:           true,
		`CAST(val('$.n') AS NUMERIC) = 5.0`:         true,
		`CAST(val('$.n') AS TEXT) = '5'`:            true,
		`CAST(val('$.n') AS TEXT) = '5.0'`:          false,
		`CAST(val('$.n') AS BOOLEAN) = true`:        false,
		`CAST(val('$.five') AS NUMERIC) = 5`:        false,
		`CAST(val('$.word') AS BOOLEAN) = true`:     false,
		`CAST(val('$.word') AS TEXT) = 'true'`:      true,
		`CAST(val('$.site') AS TEXT) = 'a.example'`: true,
		`CAST(val('$.site') AS TEXT) = 'A.example'`: false,
		`CAST(val('$.site') AS NUMERIC) = 5`:        false,
		`CAST(val('$.gone') AS TEXT) = 'x'`:         false,
		`CAST(val('$.gone') AS TEXT) != 'x'`:        false,
		`CAST(val('$.nothing') AS TEXT) = 'null'`:   false,
		`CAST(val('$.user-id') AS TEXT) = 'u1'`:     false,
		`CAST(val('$."user-id"') AS TEXT) = 'u1'`:   true,

		`CAST(val('$.big') AS NUMERIC) = 100000000000000000000`: true,
		`CAST(val('$.small') AS NUMERIC) = 0.00000015`:          true,
		`CAST(val('$.price') AS NUMERIC) <= 19.99`:              true,
		`CAST(val('$.price') AS NUMERIC) < 19.99`:               false,
		`CAST(val('$.price') AS NUMERIC) = 1.999E1`:             true,
		`CAST(val('$.site') AS TEXT) > 'a'`:                     true,

		// Keywords, comments, spellings.
		`cast(VAL('$.n') as numeric) == 5 -- five`:       true,
		"CAST(val('$.n') AS NUMERIC) -- a comment\n<> 6": true,
		`TRUE`:                      true,
		`FALSE`:                     false,
		`NOT FALSE AND TRUE`:        true,
		`NULL IS NULL`:              true,
		`val('$.gone') IS NULL`:     true,
		`val('$.site') IS NOT NULL`: true,
		`NOT (CAST(val('$.gone') AS TEXT) = 'x')`:   false,
		`CAST(val('$.gone') AS TEXT) = 'x' OR TRUE`: true,
		`NULL AND FALSE`:                      false,
		`(NULL AND FALSE) IS NULL`:            false,
		`(NULL OR FALSE) IS NULL`:             true,
		`TRUE OR TRUE AND FALSE`:              true,
		`(TRUE OR TRUE) AND FALSE`:            false,
		`NOT TRUE OR TRUE`:                    true,
		`NOT (TRUE OR TRUE)`:                  false,
		`NOT 1 = 2`:                           true,
		`1 + 2 * 3 = 7`:                       true,
		`(1 + 2) * 3 = 9`:                     true,
		`7 - 2 - 1 = 4`:                       true,
		`-2 + 3 = 1`:                          true,
		`- -2 = 2`:                            true,
		`7 % 4 = 3`:                           true,
		`'a' || 'b' || 'c' = 'abc'`:           true,
		`'a' || CAST(1 + 1 AS TEXT) = 'a2'`:   true,
		`'x' || NULL IS NULL`:                 true,
		`CAST('7' AS NUMERIC) = 7`:            true,
		`CAST('seven' AS NUMERIC) IS NULL`:    true,
		`CAST(val('$.n') AS NUMERIC) + 1 = 6`: true,
		`CAST(CAST(val('$.price') AS NUMERIC) AS INT) = 20`: true,

		// Lists, arrays, paths.
		`CAST(val('$.site') AS TEXT) IN ('b.example', 'a.example')`:     true,
		`CAST(val('$.site') AS TEXT) NOT IN ('b.example', 'a.example')`: false,
		`CAST(val('$.site') AS TEXT) IN ('b.example')`:                  false,
		`CAST(val('$.gone') AS TEXT) NOT IN ('b.example')`:              false,
		`'urgent' IN val('$.tags')`:                                     true,
		`'urgent' NOT IN val('$.tags')`:                                 false,
		`3 IN val('$.tags')`:                                            true,
		`'3' IN val('$.tags')`:                                          false,
		`'b' IN ['a', 'b']`:                                             true,
		`val('$.tags') CONTAINS 'urgent'`:                               true,
		`val('$.tags') CONTAINS ['urgent', 3]`:                          true,
		`val('$.tags') CONTAINS ['urgent', 4]`:                          false,
		`val('$.tags') OVERLAPS ['cebu', 'manila']`:                     true,
		`val('$.tags') OVERLAPS ['cebu']`:                               false,
		`CAST(val('$.tags')[1] AS TEXT) = 'manila'`:                     true,
		`CAST(val('$.tags')[7] AS TEXT) IS NULL`:                        true,
		`CAST(val('$.tags[0]') AS TEXT) = 'urgent'`:                     true,
		`CAST(val('$.owner.name') AS TEXT) = 'ann'`:                     true,
		`CAST(val('$.owner.age') AS NUMERIC) >= 40`:                     true,
		`CAST(val('$.items[1].sku') AS TEXT) = 'y'`:                     true,
		`CAST(val('$.items.sku') AS TEXT) = 'x'`:                        true,
		`exists('$.tags[*]')`:                                           true,
		`exists('$.items[*].sku')`:                                      true,
		`exists('$.items[*].price')`:                                    false,
		`exists('$.gone')`:                                              false,
		`exists('$.nothing')`:                                           true,
		`val('$.owner') = val('$.owner')`:                               true,
		`val('$.tags') = ['urgent', 'manila', 3]`:                       true,

		// Patterns.
		`CAST(val('$.site') AS TEXT) LIKE 'a.%'`:          true,
		`CAST(val('$.site') AS TEXT) LIKE '_.exampl_'`:    true,
		`CAST(val('$.site') AS TEXT) LIKE 'A.%'`:          false,
		`CAST(val('$.site') AS TEXT) ILIKE 'A.%'`:         true,
		`CAST(val('$.site') AS TEXT) NOT LIKE 'b%'`:       true,
		`CAST(val('$.site') AS TEXT) NOT ILIKE 'A%'`:      false,
		`'aXbXc' LIKE 'a%X%c'`:                            true,
		`CAST(val('$.gone') AS TEXT) NOT LIKE 'b%'`:       false,
		`CAST(val('$.site') AS TEXT) LIKE '%' AND TRUE`:   true,
		`CAST(val('$.site') AS TEXT) LIKE 'a' || '.%'`:    true,
		`CAST(val('$.site') AS TEXT) LIKE ''`:             false,
		`CAST(val('$.site') AS TEXT) LIKE 'a.example%%%'`: true,

		// Values of one type made into another.
		`CAST(TRUE AS TEXT) = 't' AND CAST(FALSE AS TEXT) = 'f'`:                true,
		`CAST('yes' AS BOOLEAN) AND NOT CAST('off' AS BOOLEAN)`:                 true,
		`CAST('maybe' AS BOOLEAN) IS NULL`:                                      true,
		`CAST(5 AS JSONB) = val('$.n')`:                                         true,
		`CAST('5' AS JSONB) = val('$.n')`:                                       false,
		`CAST(NULL AS JSONB) = val('$.nothing')`:                                false,
		`CAST(CURRENT_DATE AS JSONB) = ['2026-03-01'][0]`:                       true,
		`CAST(val('$.n') AS JSONB) = 5`:                                         false,
		`CAST(CAST(val('$.at') AS TIMESTAMP) AS TEXT) = '2025-06-30 10:20:30'`:  true,
		`CAST(CAST(val('$.at') AS TIMESTAMP) AS DATE) = '2025-06-30'`:           true,
		`CAST('2025-06-30' AS DATE) = CAST(val('$.due') AS DATE)`:               true,
		`CAST(CAST('2025-06-30' AS DATE) AS TIMESTAMP) < '2025-06-30 00:00:01'`: true,
		`CAST(5 AS DATE) IS NULL`:                                               true,
		`CAST(CURRENT_DATE AS NUMERIC) IS NULL`:                                 true,
		`CAST(2.5 AS INTEGER) = 2 AND CAST(3.5 AS INTEGER) = 4`:                 true,
		`CAST(val('$.tags') AS TEXT) = '["urgent","manila",3]'`:                 true,
		`CAST(val('$.owner') AS TEXT) LIKE '{%"age":40%}'`:                      true,
		`val('$.owner') != val('$.tags')`:                                       true,
		`val('$.owner') = val('$.items[0]')`:                                    false,
		`[TRUE, NULL, 'x'] = [TRUE, NULL, 'x']`:                                 true,
		`[[1]] CONTAINS [[1]] AND NOT [1] CONTAINS [[1]]`:                       true,
		`TRUE > FALSE`:       true,
		`TRUE = 1`:           false,
		`+5 = 5 AND -5 < +5`: true,
		`-val('$.n') IS NULL AND +val('$.n') IS NULL AND val('$.n') * 2 IS NULL`: true,
		`1 OVERLAPS [1]`:        false,
		`val('$.n') OVERLAPS 5`: true,
		`'x' CONTAINS 'x'`:      false,
		`exists('$.*')`:         true,
		`exists('$.owner.*') AND exists('$.n[*]') AND exists('$.n[0]') AND NOT exists('$.n[1]')`:                     true,
		`exists('$.tags[-1]') OR exists('$.tags[x]') OR exists('$.tags[') OR exists('$ .tags') OR exists('$."open')`: false,
		`val('$.*') IS NOT NULL`: true,

		// Dates.
		`1 + CURRENT_DATE = '2026-03-02'`:                         true,
		`CURRENT_DATE - 1 = '2026-02-28'`:                         true,
		`EXTRACT(DOW FROM '2026-03-01') = 0`:                      true,
		`EXTRACT(YEAR FROM 'soon') IS NULL`:                       true,
		`CAST(val('$.due') AS DATE) >= CURRENT_DATE - 365`:        true,
		`CAST(val('$.due') AS DATE) >= CURRENT_DATE - 30`:         false,
		`CURRENT_DATE = '2026-03-01'`:                             true,
		`CURRENT_DATE - CAST(val('$.due') AS DATE) = 244`:         true,
		`EXTRACT(YEAR FROM CAST(val('$.due') AS DATE)) = 2025`:    true,
		`EXTRACT(month FROM CAST(val('$.at') AS TIMESTAMP)) = 6`:  true,
		`CAST(val('$.at') AS TIMESTAMP) > '2025-06-30 10:20:00'`:  true,
		`CAST(val('$.at') AS DATE) = CAST(val('$.due') AS DATE)`:  true,
		`CAST(val('$.site') AS DATE) IS NULL`:                     true,
		`EXTRACT(YEAR FROM CAST(val('$.gone') AS DATE)) = 2025`:   false,
		`CAST(val('$.due') AS DATE) IN ('2025-06-30')`:            true,
		`CAST(CAST(val('$.due') AS DATE) AS TEXT) = '2025-06-30'`: true,
	} {
		for _, d := range []Dialect{Backslash, Doubled, Sloppy, Either, Neither} {
			e, err := Parse(expr, d)
			require.NoError(t, err, "%s under %s", expr, d)
			got, err := e.Match(m, now)
			require.NoError(t, err, expr)
			require.Equal(t, want, got, "%s under %s", expr, d)
		}
	}
}

func TestQuotesAreReadAsTheDialectSays(t *testing.T) {
	const fails = "fails"
	for _, c := range []struct {
		literal                              string
		backslash, doubled, sloppy, ei, neit string
	}{
		{`'plain'`, "plain", "plain", "plain", "plain", "plain"},
		{`''`, "", "", "", "", ""},
		{`'O''Brien'`, fails, "O'Brien", fails, "O'Brien", fails},
		{`'O\'Brien'`, "O'Brien", fails, "O'Brien", "O'Brien", fails},
		{`'\\'`, `\`, `\\`, `\`, `\`, fails},
		{`'\'`, fails, `\`, fails, fails, fails},
		{`'C:\\new'`, `C:\new`, `C:\\new`, "C:\\\new", `C:\new`, fails},
		{`'a\nb'`, "a\nb", `a\nb`, "a\nb", "a\nb", fails},
		{`'a\tb\r'`, "a\tb\r", `a\tb\r`, "a\tb\r", "a\tb\r", fails},
		{`'a\xb'`, fails, `a\xb`, `a\xb`, fails, fails},
		{`''''`, fails, "'", fails, "'", fails},
		{`'\\''`, fails, fails, fails, fails, fails},
		{`"double"`, fails, fails, fails, fails, fails},
		{"'a\nb'", fails, fails, fails, fails, fails},
		{"'a\x00b'", fails, fails, fails, fails, fails},
		{"'a\x7fb'", fails, fails, fails, fails, fails},
		{`'open`, fails, fails, fails, fails, fails},
		{`'C:' || '\\' || 'new'`, `C:\new`, `C:\\new`, `C:\new`, `C:\new`, fails},
		{`'日本' || '\\' || 'é'`, `日本\é`, `日本\\é`, `日本\é`, `日本\é`, fails},
	} {
		for d, want := range map[Dialect]string{Backslash: c.backslash, Doubled: c.doubled, Sloppy: c.sloppy, Either: c.ei, Neither: c.neit} {
			e, err := Parse(c.literal+` = CAST(val('$.f') AS TEXT)`, d)
			if want == fails {
				require.Error(t, err, "%s under %s", c.literal, d)
				continue
			}
			require.NoError(t, err, "%s under %s", c.literal, d)
			ok, err := e.Match(map[string]any{"f": want}, now)
			require.NoError(t, err)
			require.True(t, ok, "%s under %s is not %q", c.literal, d, want)
		}
	}
}

// A value that was not escaped widens a filter, and one that was does not:
// whether an escape is one depends on the dialect.
func TestAnEscapeOfTheOtherDialectIsAnInjection(t *testing.T) {
	m := map[string]any{"site": "other"}
	for expr, want := range map[string]map[Dialect]bool{
		`CAST(val('$.site') AS TEXT) = 'x' OR '1'='1'`:     {Backslash: true, Doubled: true},
		`CAST(val('$.site') AS TEXT) = 'x\' OR TRUE --'`:   {Backslash: false, Doubled: true},
		`CAST(val('$.site') AS TEXT) = '\'' OR TRUE --'`:   {Backslash: true, Doubled: false},
		`CAST(val('$.site') AS TEXT) = 'x'' OR ''1''=''1'`: {Doubled: false},
	} {
		for _, d := range []Dialect{Backslash, Doubled} {
			e, err := Parse(expr, d)
			matches, parses := want[d]
			if !parses {
				require.Error(t, err, "%s under %s", expr, d)
				continue
			}
			require.NoError(t, err, "%s under %s", expr, d)
			got, err := e.Match(m, now)
			require.NoError(t, err)
			require.Equal(t, matches, got, "%s under %s", expr, d)
		}
	}
}

func TestBadExpressionsAreRefused(t *testing.T) {
	for _, expr := range []string{
		``, ` `, `-- nothing`, `val('$.a')`, `'text'`, `5`, `NULL`, `CURRENT_DATE`, `[1]`, `TRUE TRUE`, `TRUE AND`, `AND TRUE`, `(TRUE`, `TRUE)`, `NOT`,
		`a = 1`, `foo('x') = 1`, `DATE_OF('2025-01-01') = 1`, `val('a') = 1`, `val(1) = 1`, `val('$.a' = 1`, `exists($.a)`, `1 = `, `= 1`, `1 = 2 = 3`, `1 IN ()`, `1 IN (1,)`, `1 IN`, `1 NOT 2`,
		`1 IS 2`, `1 LIKE`, `CAST(1 TEXT) = '1'`, `CAST(1 AS 'TEXT') = '1'`, `EXTRACT(CENTURY FROM CURRENT_DATE) = 1`, `5. = 5`, `5e = 5`, `5x = 5`, `1e999 = 1`, `.5 = 1`,
		`'a' AND TRUE`, `NOT val('$.a')`, `TRUE + 1 = 2`, `'a' * 2 = 2`, `CURRENT_DATE * 2 = 2`, `-'a' = 1`, `1 = 1; DROP`, `$.a = 1`, "TRUE \x00", "TRUE\xff", `1 === 1`, `1 NOT CONTAINS 2`,
		`[1][ = 1`, `val('$.a')[0 = 1`,
	} {
		_, err := Parse(expr, Backslash)
		var wrong *Error
		require.ErrorAs(t, err, &wrong, expr)
		require.False(t, wrong.Internal, expr)
		require.LessOrEqual(t, wrong.Offset, len(expr), expr)
	}
}

func TestATypeThatDoesNotExistFailsInsideTheServer(t *testing.T) {
	_, err := Parse(`CAST(val('$.n') AS NUMBER) = 5`, Backslash)
	var wrong *Error
	require.True(t, errors.As(err, &wrong) && wrong.Internal, "%v", err)
	e, err := Parse(`1 / (CAST(val('$.n') AS NUMERIC) - 5) = 1`, Backslash)
	require.NoError(t, err)
	_, err = e.Match(decode(t), now)
	require.Error(t, err, "a division by zero")
	e, err = Parse(`CURRENT_DATE + 1e9 = CURRENT_DATE`, Backslash)
	require.NoError(t, err)
	_, err = e.Match(decode(t), now)
	require.Error(t, err, "a date out of range")
}

func TestNestingHasALimit(t *testing.T) {
	deep := func(n int) string {
		b := make([]byte, 0, 2*n+4)
		for range n {
			b = append(b, '(')
		}
		b = append(b, "TRUE"...)
		for range n {
			b = append(b, ')')
		}
		return string(b)
	}
	_, err := Parse(deep(MaxDepth), Backslash)
	require.NoError(t, err)
	_, err = Parse(deep(MaxDepth+1), Backslash)
	require.Error(t, err)
}

func TestNoMetadataMatchesNothingButConstants(t *testing.T) {
	for expr, want := range map[string]bool{
		`TRUE`: true, `exists('$')`: false, `val('$') IS NULL`: true, `CAST(val('$.a') AS TEXT) = 'x'`: false,
	} {
		e, err := Parse(expr, Backslash)
		require.NoError(t, err)
		got, err := e.Match(nil, now)
		require.NoError(t, err)
		require.Equal(t, want, got, expr)
	}
}

func TestTheCoverOfAnExpressionHoldsWhateverItMatches(t *testing.T) {
	count := func(eq Equality) int { return len(eq.Value) }
	for expr, want := range map[string][]Equality{
		`CAST(val('$.url') AS TEXT) = 'u'`:                                                                {{"url", "u"}},
		`'u' = CAST(val('$.url') AS VARCHAR)`:                                                             {{"url", "u"}},
		`CAST(val('$.url') AS TEXT) = 'u' || '\\' || 'v'`:                                                 {{"url", `u\v`}},
		`CAST(val('$.url') AS TEXT) = 'long' AND CAST(val('$.site') AS TEXT) = 's'`:                       {{"site", "s"}},
		`TRUE AND CAST(val('$.site') AS TEXT) = 's'`:                                                      {{"site", "s"}},
		`CAST(val('$.site') AS TEXT) = 's' OR CAST(val('$.site') AS TEXT) IN ('t', 'u')`:                  {{"site", "s"}, {"site", "t"}, {"site", "u"}},
		`CAST(val('$.site') AS TEXT) = 's' OR TRUE`:                                                       nil,
		`NOT CAST(val('$.site') AS TEXT) = 's'`:                                                           nil,
		`CAST(val('$.site') AS TEXT) != 's'`:                                                              nil,
		`CAST(val('$.site') AS TEXT) NOT IN ('s')`:                                                        nil,
		`CAST(val('$.n') AS NUMERIC) = 5`:                                                                 nil,
		`CAST(val('$.a.b') AS TEXT) = 's'`:                                                                nil,
		`CAST(val('$.site') AS TEXT) IN ('s', CAST(val('$.b') AS TEXT))`:                                  nil,
		`(CAST(val('$.a') AS TEXT) = 'x' OR FALSE) AND NOT FALSE`:                                         nil,
		`(CAST(val('$.a') AS TEXT) = 'x' OR CAST(val('$.b') AS TEXT) = 'y') AND exists('$.c') AND TRUE`:   {{"a", "x"}, {"b", "y"}},
		`CAST(val('$.a') AS TEXT) = 'x' AND (CAST(val('$.b') AS TEXT) = 'y' OR exists('$.c')) AND TRUE`:   {{"a", "x"}},
		`CAST(val('$.a') AS TEXT) LIKE 'x' AND (CAST(val('$.b') AS TEXT) = 'y' AND exists('$.c') = TRUE)`: {{"b", "y"}},
	} {
		e, err := Parse(expr, Backslash)
		require.NoError(t, err, expr)
		got, ok := e.Cover(count)
		require.Equal(t, want != nil, ok, expr)
		if ok {
			require.Equal(t, want, got, expr)
		}
	}
}
