package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestObjectsKeepTheirBytesFromIngestToOutput sends fifty different objects
// through the whole program: ingested, looked up and searched by commands of
// their own, each of which starts a plugin.
func TestObjectsKeepTheirBytesFromIngestToOutput(t *testing.T) {
	random := rand.New(rand.NewPCG(50, 50))
	dir := t.TempDir()
	want := make(map[string]string)
	var lines strings.Builder
	get := []string{"get", "--json"}
	for i := range 50 {
		url := fmt.Sprintf("https://a.example/%d", i)
		want[url] = oddObject(random, url)
		fmt.Fprintf(&lines, "%s\t%s\n", url, want[url])
		get = append(get, url)
	}
	must(t, dir, lines.String(), "ingest", "-")

	got := gjson.Parse(must(t, dir, "", get...).stdout).Get("objects").Array()
	require.Len(t, got, 50)
	for _, o := range got {
		require.Equal(t, want[o.Get("url").String()], o.Get("schema").Raw)
	}
	hits := gjson.Parse(must(t, dir, "", "search", "--json", "-n", "60", "walnut").stdout).Get("hits").Array()
	require.Len(t, hits, 50)
	for _, h := range hits {
		require.Equal(t, want[h.Get("url").String()], h.Get("schema").Raw)
	}
	for _, url := range get[2:5] {
		require.Equal(t, want[url]+"\n", must(t, dir, "", "get", url).stdout)
	}
}

// oddObject makes an object, on one line, that a decoder and encoder would not
// give back as it was.
func oddObject(random *rand.Rand, url string) string {
	values := []string{
		"1.0", "1e2", "-0", "12345678901234567890123", "0.10", "1E-7", "1e400", "1.50e+3", "[ ]", "{ }", "[ 1 ,2]", "null", "true",
		`"<script>&amp;</script>"`, `"\u003c\u0026\u003E"`, `"\u00e9é\/\b\f\n\r"`, `"\ud83d\ude00😀\u2028"`, `"\ud800"`, `"\"\\"`, `{"k":1,"k":2}`,
	}
	names := []string{"z", "a", "m", "k\\u0041", "<", "a.b", "*", "ü", "", "a"}
	b := `{"@type":"Thing", "name":"walnut","url":"` + url + `"`
	for range 3 + random.IntN(8) {
		b += []string{",", " , ", ",\t"}[random.IntN(3)] + `"` + names[random.IntN(len(names))] + `"` + []string{":", " : "}[random.IntN(2)] + values[random.IntN(len(values))]
	}
	return b + []string{"}", " }"}[random.IntN(2)]
}
