package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// Whatever is wrong with one input, the rest goes in, the place is named, and
// the exit status says that something failed.
func TestBadInputFailsAloneAndIsNamed(t *testing.T) {
	good := soup + "\n"
	object := func(url string) string { return fmt.Sprintf(`{"@type":"Recipe","name":"Bad","url":%s}`, url) }
	for name, tc := range map[string]struct {
		files  map[string]string // beside good.jsonl
		args   []string
		status int
		stored int64
		named  string // a part of stderr
	}{
		"a javascript URL":          {map[string]string{"bad.jsonl": object(`"javascript:alert(1)"`)}, []string{"."}, exitPart, 1, "bad.jsonl:1"},
		"no URL at all":             {map[string]string{"bad.jsonl": `{"@type":"Recipe","name":"Bad"}`}, []string{"."}, exitPart, 1, "bad.jsonl:1"},
		"a URL that is a number":    {map[string]string{"bad.jsonl": object(`42`)}, []string{"."}, exitPart, 1, "bad.jsonl:1"},
		"a line that is no JSON":    {map[string]string{"bad.jsonl": cake + "\n{\"@type\":\n" + tent + "\n"}, []string{"."}, exitPart, 3, "bad.jsonl:2"},
		"a file that is not there":  {nil, []string{"good.jsonl", "missing.jsonl"}, exitPart, 1, "missing.jsonl"},
		"a pattern without a match": {nil, []string{"good.jsonl", "*.nothing"}, exitPart, 1, "*.nothing"},
		"an empty file":             {map[string]string{"bad.json": ""}, []string{"."}, exitPart, 1, "bad.json"},
		"a binary file":             {map[string]string{"bad.bin": "\x7fELF\x02\x01\x01\x00\x00\x00\x00"}, []string{"."}, exitPart, 1, "bad.bin"},
		"an empty directory":        {nil, []string{"good.jsonl", "empty"}, exitPart, 1, "empty"},
		"bytes that are no UTF-8":   {map[string]string{"bad.jsonl": strings.Replace(cake, "Plum", "Pl\xff\xfem", 1)}, []string{"."}, exitPart, 1, "bad.jsonl"},
		"brackets without end":      {map[string]string{"bad.json": strings.Repeat("[", 10_000_000)}, []string{"."}, exitPart, 1, "bad.json"},
		"nothing bad, to compare":   {map[string]string{"more.jsonl": cake}, []string{"."}, exitDone, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(in, "empty"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(in, "good.jsonl"), []byte(good), 0o600))
			for file, text := range tc.files {
				require.NoError(t, os.WriteFile(filepath.Join(in, file), []byte(text), 0o600))
			}
			data := filepath.Join(t.TempDir(), "store")
			o := siteprovider(t, in, "", append([]string{"--data", data, "--json", "ingest"}, tc.args...)...)
			require.Equal(t, tc.status, o.status, o.stderr)
			require.True(t, gjson.Valid(o.stdout), o.stdout)
			require.Equal(t, tc.stored, gjson.Get(o.stdout, "stored").Int(), o.stdout+o.stderr)
			if tc.named == "" {
				require.Empty(t, o.stderr)
				require.Empty(t, gjson.Get(o.stdout, "failures").Array())
				return
			}
			require.Contains(t, o.stderr, tc.named)
			failures := gjson.Get(o.stdout, "failures").Array()
			require.Len(t, failures, int(gjson.Get(o.stdout, "failed").Int()))
			source, line, _ := strings.Cut(tc.named, ":")
			require.Contains(t, failures[0].Get("source").Str, source)
			require.Equal(t, line, failures[0].Get("line").Raw[:len(line)])
			require.NotEmpty(t, failures[0].Get("error").Str)
		})
	}
}

func TestEncodingsThatAreCertainAreRead(t *testing.T) {
	utf16 := []byte{0xFF, 0xFE}
	for _, r := range cake {
		utf16 = append(utf16, byte(r), byte(r>>8))
	}
	latin1 := "<html><head><meta charset=\"iso-8859-1\"><script type=\"application/ld+json\">" +
		strings.Replace(cake, "Plum", "Pfl\xe4um", 1) + "</script></head></html>"
	for name, text := range map[string]string{
		"a byte order mark": "\xEF\xBB\xBF" + cake,
		"UTF-16":            string(utf16),
		"declared latin-1":  latin1,
	} {
		t.Run(name, func(t *testing.T) {
			o := must(t, t.TempDir(), text, "ingest", "--json", "-")
			require.Equal(t, int64(1), gjson.Get(o.stdout, "stored").Int(), o.stdout)
		})
	}
}

// A document that is too large is refused and costs neither its neighbours nor
// the memory of the machine.
func TestAHugeDocumentIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB; leave out -short")
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "huge.jsonl"))
	require.NoError(t, err)
	fmt.Fprintln(f, soup)
	fmt.Fprint(f, `{"@type":"Recipe","url":"https://kitchen.example/huge","name":"`)
	for range 100 {
		fmt.Fprint(f, strings.Repeat("huge ", 1<<20/5))
	}
	fmt.Fprintln(f, `"}`)
	fmt.Fprintln(f, cake)
	require.NoError(t, f.Close())
	o := siteprovider(t, dir, "", "--json", "ingest", "huge.jsonl")
	require.Equal(t, exitPart, o.status)
	require.Equal(t, int64(2), gjson.Get(o.stdout, "stored").Int(), o.stdout)
	require.Equal(t, int64(1), gjson.Get(o.stdout, "failed").Int(), o.stdout)
	require.Equal(t, int64(2), gjson.Get(o.stdout, "failures.0.line").Int(), o.stdout)
}

// Texts that mean something to a terminal are shown, not obeyed, wherever a
// document can put them.
func TestHostileDocumentsDoNotReachTheTerminal(t *testing.T) {
	dir := t.TempDir()
	evil := `{"@type":"Recipe","url":"https://evil.example/a","name":"soup \u001b]0;owned\u0007\u001b[2J","description":"soup \u202egnp.exe \u009b31m"}`
	must(t, dir, evil+"\n", "ingest", "-")
	o := must(t, dir, "", "search", "soup")
	require.Contains(t, o.stdout, "soup")
	for _, r := range o.stdout + o.stderr {
		require.False(t, r != '\n' && visible(string(r)) != string(r), "%U in %q", r, o.stdout)
	}
	// A failure names what the input says, too.
	o = siteprovider(t, dir, `{"@type":"Recipe","name":"x","url":"javascript:\u001b[31m\u009b"}`, "ingest", "-")
	require.Equal(t, exitPart, o.status)
	for _, r := range o.stdout + o.stderr {
		require.False(t, r != '\n' && visible(string(r)) != string(r), "%U in %q", r, o.stderr)
	}
}

// TestDiskFull fills a small file system, whose directory SITEPROVIDER_TMPFS
// names. What was acknowledged before is found afterwards.
func TestDiskFull(t *testing.T) {
	mount := os.Getenv("SITEPROVIDER_TMPFS")
	if mount == "" {
		t.Skip("needs a small empty file system of its own: mount -t tmpfs -o size=3m tmpfs DIR, and SITEPROVIDER_TMPFS=DIR")
	}
	store := filepath.Join(mount, "store")
	dir := t.TempDir()
	must(t, dir, soup, "--data", store, "ingest", "-")

	var acknowledged []string
	full := false
	for batch := 0; batch < 50 && !full; batch++ {
		var input strings.Builder
		var urls []string
		for i := range 10 {
			n := batch*10 + i
			urls = append(urls, fmt.Sprintf("https://big.example/%d", n))
			fmt.Fprintf(&input, `{"@type":"Article","url":%q,"name":"Part %d","text":%q}`+"\n", urls[i], n, filler(n))
		}
		o := siteprovider(t, dir, input.String(), "--data", store, "ingest", "-")
		if full = o.status != exitDone; !full {
			acknowledged = append(acknowledged, urls...)
			continue
		}
		require.Equal(t, exitFault, o.status, o.stdout+o.stderr)
		require.Contains(t, o.stderr, "disk full")
	}
	require.True(t, full, "500 documents of 20 KB fit into %s", mount)
	require.NotEmpty(t, acknowledged)

	// The file system stays full: reading has to work all the same.
	must(t, dir, "", append([]string{"--data", store, "get"}, acknowledged...)...)
	require.Equal(t, soup+"\n", must(t, dir, "", "--data", store, "get", "https://kitchen.example/soup").stdout)
	require.Contains(t, must(t, dir, "", "--data", store, "search", "noodle").stdout, "Noodle soup")
}

// filler returns about 20 KB of words that compress badly enough.
func filler(seed int) string {
	var b strings.Builder
	for x := uint32(seed + 1); b.Len() < 20_000; {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&b, "w%x ", x)
	}
	return b.String()
}
