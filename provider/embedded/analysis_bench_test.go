//go:build unix

package embedded

import (
	"bufio"
	"encoding/json"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// preparedDocuments returns the documents of the file that make_debian_jsonl.py
// wrote, or as many short ones in three languages.
func preparedDocuments(b *testing.B) []provider.Document {
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

// BenchmarkPrepare checks and prepares documents for the index, on one
// processor, and reports how many it does in a second of its time.
func BenchmarkPrepare(b *testing.B) {
	docs := preparedDocuments(b)
	a := newAnalyser(newLexicon())
	b.ResetTimer()
	start := cpuTime(b)
	for range b.N {
		for _, d := range docs {
			checked, err := d.Check("document")
			if err != nil {
				b.Fatal(err)
			}
			c := change{doc: checked}
			c.prepare(a)
		}
	}
	b.ReportMetric(float64(len(docs)*b.N)/(cpuTime(b)-start).Seconds(), "docs/cpu-s")
}

// cpuTime returns the time that processors spent on this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
