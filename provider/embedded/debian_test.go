package embedded

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// DebianDocuments returns the documents of the file that make_debian_jsonl.py
// wrote: about 64,000, on 58 sites.
func DebianDocuments(b *testing.B) []provider.Document {
	b.Helper()
	path := os.Getenv("SITEPROVIDER_DEBIAN_JSONL")
	if path == "" {
		b.Skip("set SITEPROVIDER_DEBIAN_JSONL to the file that make_debian_jsonl.py of the test data writes")
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var docs []provider.Document
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, provider.MaxObjectBytes)
	for lines.Scan() {
		var line struct {
			URL, Site string
			Schema    json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatal(err)
		}
		docs = append(docs, provider.Document{URL: line.URL, Site: line.Site, Schema: line.Schema})
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return docs
}
