package schemaorg

import (
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// benchProduct is a product as a shop describes it, about 1.2 KB.
var benchProduct = []byte(`{"@context":"https://schema.org/","@type":"Product","@id":"https://shop.example/p/8812#product","url":"https://shop.example/p/8812","name":"Nordkap Down Jacket, Women\u2019s","image":["https://cdn.shop.example/8812/front.jpg","https://cdn.shop.example/8812/back.jpg"],"description":"Warm without weight: 750-fill down in a recycled shell that shrugs off snow &amp; drizzle.<br>Packs into its own pocket. Two hand pockets, one inside pocket, adjustable hood and hem.","sku":"NK-8812-BLU-M","gtin13":"4006381333931","brand":{"@type":"Brand","name":"Fjellheim"},"category":"Clothing > Outerwear > Jackets","color":"Midnight blue","material":"Recycled polyamide, goose down","size":"M","inLanguage":"en-GB","audience":{"@type":"PeopleAudience","suggestedGender":"female"},"aggregateRating":{"@type":"AggregateRating","ratingValue":"4.6","reviewCount":"213"},"review":[{"@type":"Review","name":"Light and warm","reviewBody":"Wore it a whole winter in Troms\u00f8, never cold.","author":{"@type":"Person","name":"Ingrid"}}],"offers":{"@type":"Offer","url":"https://shop.example/p/8812?c=blu","price":"189.95","priceCurrency":"EUR","availability":"https://schema.org/InStock","itemCondition":"https://schema.org/NewCondition","seller":{"@type":"Organization","name":"Shop Example"}}}`)

func BenchmarkDescribe(b *testing.B) {
	b.SetBytes(int64(len(benchProduct)))
	b.ReportAllocs()
	for b.Loop() {
		if d := Describe(benchProduct); d.Fallback {
			b.Fatal("no text")
		}
	}
}

func BenchmarkReadOneObject(b *testing.B) {
	page := Page{Scripts: []Script{{Text: benchProduct, Line: 1, Number: 1}}}
	b.SetBytes(int64(len(benchProduct)))
	b.ReportAllocs()
	for b.Loop() {
		if r := Read(page); len(r.Documents) != 1 {
			b.Fatal("no document")
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	m, err := CompileFilter(provider.Filter{
		{Path: "@type", Op: provider.Equal, Value: "Product"},
		{Path: "offers.price", Op: provider.LessEqual, Value: 200},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !m.Match(benchProduct) {
			b.Fatal("no match")
		}
	}
}

func BenchmarkReadRealPages(b *testing.B) {
	var pages []Page
	for _, p := range realPages(b) {
		pages = append(pages, p.page())
	}
	b.ResetTimer()
	for b.Loop() {
		for _, p := range pages {
			Read(p)
		}
	}
}
