package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
)

func TestConditionsAreRead(t *testing.T) {
	for expr, want := range map[string]provider.Condition{
		"offers.price<=20":                     {Path: "offers.price", Op: provider.LessEqual, Value: 20.0},
		"offers.price <= 19.90":                {Path: "offers.price", Op: provider.LessEqual, Value: 19.9},
		" a > -3 ":                             {Path: "a", Op: provider.Greater, Value: -3.0},
		"a<0.5":                                {Path: "a", Op: provider.Less, Value: 0.5},
		"a>=0":                                 {Path: "a", Op: provider.GreaterEqual, Value: 0.0},
		"@type=Recipe":                         {Path: "@type", Op: provider.Equal, Value: "Recipe"},
		"@type!=Recipe":                        {Path: "@type", Op: provider.NotEqual, Value: "Recipe"},
		"name=Salt and pepper, or not":         {Path: "name", Op: provider.Equal, Value: "Salt and pepper, or not"},
		`name="a and b=1"`:                     {Path: "name", Op: provider.Equal, Value: "a and b=1"},
		"name=Noodle soup, hot":                {Path: "name", Op: provider.Equal, Value: "Noodle soup, hot"},
		`name="Noodle soup"`:                   {Path: "name", Op: provider.Equal, Value: "Noodle soup"},
		`name="a \"b\" \\ c"`:                  {Path: "name", Op: provider.Equal, Value: `a "b" \ c`},
		`name=""`:                              {Path: "name", Op: provider.Equal, Value: ""},
		`sku="0042"`:                           {Path: "sku", Op: provider.Equal, Value: "0042"},
		`sku=0042`:                             {Path: "sku", Op: provider.Equal, Value: "0042"},
		`sku="42"`:                             {Path: "sku", Op: provider.Equal, Value: "42"},
		"gtin=4006381333931":                   {Path: "gtin", Op: provider.Equal, Value: 4006381333931.0},
		"id=9007199254740993":                  {Path: "id", Op: provider.Equal, Value: "9007199254740993"},
		"a=1e3":                                {Path: "a", Op: provider.Equal, Value: "1e3"},
		"a=1,000":                              {Path: "a", Op: provider.Equal, Value: "1,000"},
		"a=1.":                                 {Path: "a", Op: provider.Equal, Value: "1."},
		"isFree=true":                          {Path: "isFree", Op: provider.Equal, Value: true},
		"isFree = false":                       {Path: "isFree", Op: provider.Equal, Value: false},
		`isFree="true"`:                        {Path: "isFree", Op: provider.Equal, Value: "true"},
		"isFree=TRUE":                          {Path: "isFree", Op: provider.Equal, Value: "TRUE"},
		"datePublished>=2026-01-01":            {Path: "datePublished", Op: provider.GreaterEqual, Value: "2026-01-01"},
		"author.name exists":                   {Path: "author.name", Op: provider.Exists},
		"exists exists":                        {Path: "exists", Op: provider.Exists},
		`@type in (Recipe,Article)`:            {Path: "@type", Op: provider.In, Value: []any{"Recipe", "Article"}},
		`a in ( 1 , two words, "c, d", true )`: {Path: "a", Op: provider.In, Value: []any{1.0, "two words", "c, d", true}},
		`a in("x")`:                            {Path: "a", Op: provider.In, Value: []any{"x"}},
		"größe=groß":                           {Path: "größe", Op: provider.Equal, Value: "groß"},
		"schema:price=1":                       {Path: "schema:price", Op: provider.Equal, Value: 1.0},
		"name=a=b":                             {Path: "name", Op: provider.Equal, Value: "a=b"},
		`name=it's`:                            {Path: "name", Op: provider.Equal, Value: "it's"},
		"in in (in)":                           {Path: "in", Op: provider.In, Value: []any{"in"}},
		"name=exists":                          {Path: "name", Op: provider.Equal, Value: "exists"},
		"temp\u00a0=\u00a05":                   {Path: "temp", Op: provider.Equal, Value: 5.0},
		"offers.price>999999999999999":         {Path: "offers.price", Op: provider.Greater, Value: 999999999999999.0},
		"offers.price>1234567890123456":        {Path: "offers.price", Op: provider.Greater, Value: 1234567890123456.0},
		"startDate<2026-09-01T08:30:00+02:00":  {Path: "startDate", Op: provider.Less, Value: "2026-09-01T08:30:00+02:00"},
		"additionalProperty.x-y_z=the 'ordinary'": {Path: "additionalProperty.x-y_z", Op: provider.Equal, Value: "the 'ordinary'"},
	} {
		t.Run(expr, func(t *testing.T) {
			f, err := parseFilter([]string{expr})
			require.NoError(t, err)
			require.Equal(t, provider.Filter{want}, f)
		})
	}
}

func TestConditionErrorsNameThePosition(t *testing.T) {
	for expr, want := range map[string]string{
		"":                   "character 1: want a property path",
		"   ":                "character 4: want a property path",
		"=5":                 "character 1: want a property path",
		"price":              "character 6: want one of = != < <= > >=, or a blank",
		"price is 5":         "character 7: want one of = != < <= > >= in exists",
		"price=":             `character 7: want a value; an empty text is ""`,
		"price==5":           "character 7: unexpected '='",
		"price=>5":           "character 7: unexpected '>'",
		"price<>5":           "character 7: unexpected '>'",
		`name="open`:         "character 6: the quotes are not closed",
		`name="a\n"`:         `character 8: in quotes a backslash stands before " or \ only`,
		`name="a" b`:         `character 10: unexpected "b"`,
		"a exists 5":         `character 10: unexpected "5"`,
		"a in 5":             "character 6: want a list in parentheses",
		"a in ()":            "character 7: want a value",
		"a in (1,)":          "character 9: want a value",
		"a in (1":            "character 8: want , or )",
		`a in (1 "x")`:       "character 9: want , or )",
		"a in (1) 2":         `character 10: unexpected "2"`,
		"a in (1) and b = 2": "character 10: one --filter takes one condition",
		"a>=10 and a<=60":    "character 7: one --filter takes one condition; repeat --filter",
		"a=x OR b in (y)":    "character 5: one --filter takes one condition",
		"a exists && b != 1": "character 10: one --filter takes one condition",
		"a=null":             `say exists, or "null" for the text`,
		"größe ~ 5":          "character 7: want one of",
		"a\xff=1":            "is not valid UTF-8",
	} {
		t.Run(expr, func(t *testing.T) {
			_, err := parseFilter([]string{expr})
			require.ErrorIs(t, err, provider.ErrInvalid)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "--filter")
		})
	}
}

func TestWhatTheContractRefusesIsRefused(t *testing.T) {
	for _, expr := range []string{"name<abc", "isFree>true", "a..b=1", ".a=1", strings.Repeat("a", provider.MaxConditionPath+1) + "=1"} {
		_, err := parseFilter([]string{expr})
		require.ErrorIs(t, err, provider.ErrInvalid, expr)
	}
	many := make([]string, provider.MaxConditions+1)
	for i := range many {
		many[i] = "a=1"
	}
	_, err := parseFilter(many)
	require.ErrorIs(t, err, provider.ErrInvalid)

	_, err = parseFilter([]string{"a=1", "name<abc"})
	require.ErrorContains(t, err, `--filter: "name<abc": "abc" has no order`)
}

// formatCondition writes a condition in the grammar of --filter, with quotes
// around every text.
func formatCondition(c provider.Condition) string {
	value := func(v any) string {
		switch v := v.(type) {
		case string:
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return fmt.Sprint(v)
	}
	switch c.Op {
	case provider.Exists:
		return c.Path + " exists"
	case provider.In:
		var members []string
		for _, m := range c.Value.([]any) {
			members = append(members, value(m))
		}
		return c.Path + " in (" + strings.Join(members, ", ") + ")"
	}
	return c.Path + " " + string(c.Op) + " " + value(c.Value)
}

// FuzzParseCondition wants of every input an error that matches ErrInvalid, or
// a condition that, written out and read again, is the same.
func FuzzParseCondition(f *testing.F) {
	for _, seed := range []string{
		"offers.price<=20", `sku="0042"`, `a in (a,b,"c d")`, "path exists", `name="a \"b\" \\"`,
		"a=-0", "a in (-0.0)", "\u2003a\u2003=\u2003b", "a=\x00", "a\xf0=1", "a!=", "in in (in)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		c, err := parseCondition(expr)
		if err != nil {
			require.ErrorIs(t, err, provider.ErrInvalid)
			return
		}
		if n, ok := c.Value.(float64); ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
			t.Fatalf("parseCondition(%q) has the value %v", expr, n)
		}
		again, err := parseCondition(formatCondition(c))
		require.NoError(t, err, formatCondition(c))
		require.Equal(t, c, again)
	})
}
