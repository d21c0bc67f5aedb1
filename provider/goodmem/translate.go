package goodmem

import (
	"strconv"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

// typeField is the field of a memory's metadata that holds the types of its
// document, each between bars, as "|Recipe|NewsArticle|": a list would have to
// be searched with operators that no server has been seen to take.
const typeField = "type"

// typesText is what is kept in typeField.
func typesText(types []string) string {
	if len(types) == 0 {
		return ""
	}
	return "|" + strings.Join(types, "|") + "|"
}

// scopeExpr holds for the memories of the sites of s, which passed its Check.
func scopeExpr(siteField string, s provider.Scope) Expr {
	if s.All() {
		return Expr{}
	}
	var sites []Expr
	for _, site := range s.Sites() {
		sites = append(sites, Compare(siteField, provider.Equal, site))
	}
	if len(sites) == 0 {
		return broke(provider.Invalidf("Query.Scope", "names no site"))
	}
	return Any(sites...)
}

// filterExpr holds for the memories whose documents f holds for. f passed its
// Check. Only @type is beside a document in a form that a server can compare:
// any other path is unsupported, because a text in schema_json is no property.
func filterExpr(arg string, f provider.Filter) Expr {
	var all []Expr
	for i, c := range f {
		all = append(all, conditionExpr(arg+"["+strconv.Itoa(i)+"]", c))
	}
	return All(all...)
}

func conditionExpr(arg string, c provider.Condition) Expr {
	if c.Path != "@type" {
		return unsupported(arg+".Path", "GoodMem keeps no property %q to filter by; only @type can be", c.Path)
	}
	switch c.Op {
	case provider.Exists:
		return Compare(typeField, provider.Exists, nil)
	case provider.Equal:
		return hasType(arg+".Value", c.Value)
	case provider.NotEqual:
		e := hasType(arg+".Value", c.Value)
		if e.kind == comparison {
			e.op = notLike
		}
		return e
	case provider.In:
		list, err := listOf(arg+".Value", c.Value)
		if err != nil {
			return broke(err)
		}
		var any []Expr
		for _, v := range list {
			any = append(any, hasType(arg+".Value", v))
		}
		return Any(any...)
	}
	return unsupported(arg+".Op", "types have no order in GoodMem")
}

// The operators that compare a text with a pattern, in which % is any text and
// _ any character.
const (
	like    provider.Op = "LIKE"
	notLike provider.Op = "NOT LIKE"
)

func hasType(arg string, v any) Expr {
	s, ok := v.(string)
	if !ok {
		return unsupported(arg, "types are texts in GoodMem, and a %T is none", v)
	}
	s = schemaorg.TrimType(s)
	if err := checkLiteral(arg, s); err != nil {
		return broke(err)
	}
	if strings.ContainsAny(s, `%_\|`) {
		return unsupported(arg, `a type with one of %% _ \ | cannot be searched for in GoodMem`)
	}
	return Expr{kind: comparison, field: typeField, op: like, values: []any{"%|" + s + "|%"}}
}

func unsupported(arg, format string, args ...any) Expr {
	err := provider.Invalidf(arg, format, args...).(*provider.Error)
	err.Kind = provider.ErrUnsupported
	return broke(err)
}
