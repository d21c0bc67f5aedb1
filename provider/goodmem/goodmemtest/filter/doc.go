// Package filter reads, prints and evaluates GoodMem's filter expressions, the
// language of spaceKeys[].filter, of the filter parameter of a listing and of
// filterSelector.filter:
//
//	e, err := filter.Parse(`CAST(val('$.site') AS TEXT) = 'a.example'`, filter.Backslash)
//	ok, err := e.Match(map[string]any{"site": "a.example"}, time.Now())
//
// It is an implementation for tests, made from what GoodMem's documentation
// says and what others observed of its servers. Where the two disagree, on how
// a quote is written inside a literal, the Dialect decides. What neither says
// (more functions, regular expressions, limits) is not here: such an
// expression is an error, never a guess that matches.
//
// The operators, from the one that binds least to the one that binds most:
//
//	OR
//	AND
//	NOT
//	= == != <> < <= > >=  [NOT] LIKE  [NOT] ILIKE  IS [NOT] NULL
//	[NOT] IN (a, b)  [NOT] IN array  CONTAINS  OVERLAPS   (not chained)
//	||
//	+ -
//	* / %
//	unary + -
//	x[0]
//
// Primary expressions are 'text', numbers, TRUE, FALSE, NULL, [a, b],
// (expression), val('$.path'), exists('$.path'), CAST(x AS TYPE), EXTRACT(FIELD
// FROM x) and CURRENT_DATE. Keywords are case-insensitive, -- starts a comment
// that ends with its line. An expression must be boolean.
//
// val yields JSON, and JSON compared with anything but JSON is not true, so a
// field has to be cast to the type it is stored as. A cast that does not fit
// what is stored yields NULL, which matches nothing and is no error. The text
// of a JSON boolean is t or f.
package filter
