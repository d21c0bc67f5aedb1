package schemaorg

// TrimType returns the name of a type or property without a schema.org prefix.
func TrimType(t string) string { return t }
