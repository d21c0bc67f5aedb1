// Package schemaorg reads Schema.org objects: from JSON-LD, also broken and
// also inside HTML, to documents with a URL and a readable text.
package schemaorg
