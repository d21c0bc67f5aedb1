package goodmem

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestFiltersAreWrittenWithTheCastOfTheValue(t *testing.T) {
	a, b := Compare("a", provider.Equal, "x"), Compare("b", provider.Equal, true)
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{Expr{}, ""},
		{a, `CAST(val('$.a') AS TEXT) = 'x'`},
		{b, `CAST(val('$.b') AS BOOLEAN) = true`},
		{Compare("a.b_1", provider.NotEqual, ""), `CAST(val('$.a.b_1') AS TEXT) != ''`},
		{Compare("n", provider.Equal, 5), `CAST(val('$.n') AS NUMERIC) = 5`},
		{Compare("n", provider.Less, -3), `CAST(val('$.n') AS NUMERIC) < -3`},
		{Compare("n", provider.LessEqual, 1e20), `CAST(val('$.n') AS NUMERIC) <= 100000000000000000000`},
		{Compare("n", provider.Greater, 1.5e-7), `CAST(val('$.n') AS NUMERIC) > 0.00000015`},
		{Compare("n", provider.GreaterEqual, 2.5), `CAST(val('$.n') AS NUMERIC) >= 2.5`},
		{Compare("a", provider.Equal, "true"), `CAST(val('$.a') AS TEXT) = 'true'`},
		{Compare("a", provider.In, []string{"x", "y"}), `CAST(val('$.a') AS TEXT) IN ('x', 'y')`},
		{Compare("n", provider.In, []any{1, 2.5}), `CAST(val('$.n') AS NUMERIC) IN (1, 2.5)`},
		{Compare("a", provider.Exists, nil), `exists('$.a')`},
		{All(a, Expr{}, b), `(CAST(val('$.a') AS TEXT) = 'x') AND (CAST(val('$.b') AS BOOLEAN) = true)`},
		{Any(a, b), `(CAST(val('$.a') AS TEXT) = 'x') OR (CAST(val('$.b') AS BOOLEAN) = true)`},
		{Any(a, Expr{}), ""},
		{Not(a), `NOT (CAST(val('$.a') AS TEXT) = 'x')`},
		{All(Expr{}, a), `CAST(val('$.a') AS TEXT) = 'x'`},
	} {
		if got, err := c.e.render(AnyDialect); err != nil || got != c.want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
		}
	}
}

func TestQuotesAndBackslashesAreWrittenInTheDialect(t *testing.T) {
	for _, c := range []struct{ value, backslash, doubling string }{
		{`O'Brien`, `'O\'Brien'`, `'O''Brien'`},
		{`x' OR '1'='1`, `'x\' OR \'1\'=\'1'`, `'x'' OR ''1''=''1'`},
		{`C:\new`, `('C:' || '\\' || 'new')`, `('C:' || '\' || 'new')`},
		{`\' OR TRUE --`, `('\\' || '\' OR TRUE --')`, `('\' || ''' OR TRUE --')`},
		{`\\`, `('\\' || '\\')`, `('\' || '\')`},
		{`\`, `'\\'`, `'\'`},
	} {
		e := Compare("site", provider.Equal, c.value)
		if _, err := e.render(AnyDialect); !errors.Is(err, provider.ErrInternal) {
			t.Errorf("%q was written for no dialect: %v", c.value, err)
		}
		for d, want := range map[Dialect]string{Backslash: c.backslash, Doubling: c.doubling} {
			want = "CAST(val('$.site') AS TEXT) = " + want
			if got, err := e.render(d); err != nil || got != want {
				t.Errorf("%v: got %s (%v), want %s", d, got, err, want)
			}
		}
	}
}

func TestWhatNoFilterCanHoldIsInvalid(t *testing.T) {
	good := Compare("a", provider.Equal, "x")
	for name, e := range map[string]Expr{
		"a field with a quote":     Compare("a') = 'x", provider.Equal, "x"),
		"a field with a hyphen":    Compare("user-id", provider.Equal, "x"),
		"a field with a newline":   Compare("a\n", provider.Equal, "x"),
		"a field without a name":   Compare("a..b", provider.Equal, "x"),
		"no field":                 Compare("", provider.Equal, "x"),
		"a line break":             Compare("a", provider.Equal, "x\ny"),
		"a delete character":       Compare("a", provider.Equal, "x\x7f"),
		"a C1 control":             Compare("a", provider.Equal, "x\u0085"),
		"broken UTF-8":             Compare("a", provider.Equal, "\xff"),
		"null":                     Compare("a", provider.Equal, nil),
		"NaN":                      Compare("a", provider.Equal, math.NaN()),
		"infinity":                 Compare("a", provider.Less, math.Inf(1)),
		"a map":                    Compare("a", provider.Equal, map[string]any{}),
		"a text in an order":       Compare("a", provider.Less, "5"),
		"an empty list":            Compare("a", provider.In, []any{}),
		"a mixed list":             Compare("a", provider.In, []any{"a", 1}),
		"in without a list":        Compare("a", provider.In, "a"),
		"exists with a value":      Compare("a", provider.Exists, 1),
		"an unknown operator":      Compare("a", "= 1 OR", 1),
		"not of nothing":           Not(Expr{}),
		"a broken part":            All(good, Any(good, Compare("", provider.Equal, 1))),
		"a bracket not opened":     verbatimExpr("metadata_filter", "a = 1) OR (TRUE"),
		"a bracket not closed":     verbatimExpr("metadata_filter", "(a = 1"),
		"crossed brackets":         verbatimExpr("metadata_filter", "([)]"),
		"a comment":                verbatimExpr("metadata_filter", "a = 1 -- no more"),
		"a text without end":       verbatimExpr("metadata_filter", "a = 'x"),
		"a verbatim line break":    verbatimExpr("metadata_filter", "a = 1\nOR TRUE"),
		"a scope without any site": scopeExpr("site", provider.InSites()),
	} {
		if got, err := e.render(Backslash); !errors.Is(err, provider.ErrInvalid) || got != "" {
			t.Errorf("%s: %q, %v, want an invalid argument", name, got, err)
		}
	}
}

func TestAVerbatimFilterIsSentAsItIs(t *testing.T) {
	for _, text := range []string{
		`CAST(val('$.a') AS TEXT) = 'O\'Brien (1) -- x' OR exists('$.b[*]')`,
		`CAST(val('$.a') AS TEXT) = 'O''Brien) -- x'`,
	} {
		e := All(scopeExpr("site", provider.InSites("a.example")), verbatimExpr("metadata_filter", " "+text+" "))
		want := "(CAST(val('$.site') AS TEXT) = 'a.example') AND (" + text + ")"
		if got, err := e.render(AnyDialect); err != nil || got != want {
			t.Errorf("got %s (%v)\nwant %s", got, err, want)
		}
	}
	if e := verbatimExpr("metadata_filter", "  "); !e.IsZero() {
		t.Errorf("a blank expression is the condition %+v", e)
	}
}

func TestAScopeIsAnOrOfItsSites(t *testing.T) {
	if e := scopeExpr("site", provider.AllSites()); !e.IsZero() {
		t.Errorf("every site is the condition %+v", e)
	}
	got, err := scopeExpr("origin", provider.InSites("a", "b")).render(AnyDialect)
	if want := "(CAST(val('$.origin') AS TEXT) = 'a') OR (CAST(val('$.origin') AS TEXT) = 'b')"; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestTypesAreFilteredAndOtherPathsUnsupported(t *testing.T) {
	for _, c := range []struct {
		f    provider.Filter
		want string
	}{
		{nil, ""},
		{provider.Filter{{Path: "@type", Op: provider.Equal, Value: "https://schema.org/Recipe"}}, `CAST(val('$.type') AS TEXT) LIKE '%|Recipe|%'`},
		{provider.Filter{{Path: "@type", Op: provider.NotEqual, Value: "Recipe"}}, `CAST(val('$.type') AS TEXT) NOT LIKE '%|Recipe|%'`},
		{provider.Filter{{Path: "@type", Op: provider.Exists}}, `exists('$.type')`},
		{provider.Filter{{Path: "@type", Op: provider.In, Value: []any{"A", "B"}}}, `(CAST(val('$.type') AS TEXT) LIKE '%|A|%') OR (CAST(val('$.type') AS TEXT) LIKE '%|B|%')`},
	} {
		if got, err := filterExpr("Query.Filter", c.f).render(AnyDialect); err != nil || got != c.want {
			t.Errorf("%v: got %s (%v), want %s", c.f, got, err, c.want)
		}
	}
	if got := typesText([]string{"A", "B"}); !strings.Contains(got, "|A|") || !strings.Contains(got, "|B|") {
		t.Errorf("typesText = %q, which the filter does not match", got)
	}
	for _, c := range []provider.Condition{
		{Path: "offers.price", Op: provider.Less, Value: 20.0},
		{Path: "name", Op: provider.Equal, Value: "x"},
		{Path: "@type", Op: provider.Equal, Value: 5.0},
		{Path: "@type", Op: provider.Equal, Value: "R%"},
		{Path: "@type", Op: provider.In, Value: []any{"A", "a_b"}},
		{Path: "@type", Op: provider.Less, Value: 5.0},
	} {
		f := provider.Filter{{Path: "@type", Op: provider.Equal, Value: "Recipe"}, c}
		if got, err := filterExpr("Query.Filter", f).render(AnyDialect); !errors.Is(err, provider.ErrUnsupported) || got != "" {
			t.Errorf("%v: %q, %v, want unsupported", c, got, err)
		}
	}
}
