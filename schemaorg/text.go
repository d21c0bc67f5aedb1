package schemaorg

import "github.com/siteprovider/siteprovider/provider"

// TextVersion changes whenever the same object would give another text, name,
// language or list of types.
const TextVersion = 1

// Description is what Describe read from an object.
type Description struct {
	Name     string
	Types    []string // without the schema.org prefix
	Text     string   // what a reader would read
	Language string   // BCP 47 tag; empty when the object names none
	Fallback bool     // the object has no readable word, and Text is its JSON
}

// Describe returns what a reader would read in an object or list of objects.
func Describe(schema []byte) Description { return Description{} }

// Fill returns d with Name, Types, Text and Language, where they are empty,
// taken from d.Schema.
func Fill(d provider.Document) provider.Document { return d }
