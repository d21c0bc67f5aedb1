package schemaorg_test

import (
	"fmt"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/schemaorg"
)

func Example() {
	html := []byte(`<html><head><link rel="canonical" href="https://food.example/soup">
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
  {"@type": "WebSite", "name": "Food"},
  {"@type": "Recipe", "name": "Leek &amp; potato soup", "author": {"@id": "#kim"},
   "recipeIngredient": ["2 leeks", "3 potatoes",]},
  {"@type": "Person", "@id": "#kim", "name": "Kim Low"}
]}</script></head></html>`)

	reading := schemaorg.Read(schemaorg.ReadHTML(html, ""))
	for _, d := range reading.Documents {
		fmt.Println(d.Types, d.URL, "line", d.Line)
		fmt.Println(schemaorg.Describe(d.Schema).Text)
	}
	for _, s := range reading.Skipped {
		fmt.Println("left out:", s.Types, s.Reason)
	}
	for _, r := range reading.Repairs {
		fmt.Println("repaired:", r.What)
	}
	// Output:
	// [Recipe] https://food.example/soup line 4
	// Leek & potato soup
	//
	// Kim Low
	//
	// 2 leeks
	// 3 potatoes
	// left out: [WebSite] boilerplate
	// left out: [Person] joined
	// repaired: [stray comma]
}

func ExampleCompileFilter() {
	cheap, err := schemaorg.CompileFilter(provider.Filter{
		{Path: "@type", Op: provider.Equal, Value: "Product"},
		{Path: "offers.price", Op: provider.LessEqual, Value: 20},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cheap.Match([]byte(`{"@type": "Product", "offers": [{"price": "19.90"}]}`)))
	// Output: true
}
