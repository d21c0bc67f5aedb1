// Package schemaorg reads Schema.org objects: from JSON-LD, also broken and
// also inside HTML, to documents with a URL, a name and a text worth searching.
//
//	page := schemaorg.ReadHTML(html, "https://shop.example/p/1")
//	reading := schemaorg.Read(page)
//	for _, d := range reading.Documents {
//		text := schemaorg.Describe(d.Schema).Text
//		...
//	}
//
// The scripts of a page are one graph: objects that refer to each other by
// their @id are put together, and what merely surrounds the content is left
// out. Whatever is not a document is accounted for, with its reason and place.
//
// It fetches nothing, stores nothing and knows no source format but HTML; for
// files and feeds see package ingest. All of it is safe for bytes of any
// origin: depth and size are checked before anything recurses, and work grows
// with the size of the input.
package schemaorg
