package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// write makes a file of a new directory.
func write(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(p, []byte(content), 0o600))
	return p
}

// mustRun runs opts and checks what holds for every report.
func mustRun(t *testing.T, opts Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), opts)
	require.NoError(t, err)
	checkReport(t, r)
	return r
}

func checkReport(t *testing.T, r *Report) {
	t.Helper()
	require.Equal(t, r.Read, r.Stored+r.Unchanged+r.Pending+r.Superseded+r.Skipped+r.Failed, "%+v", r)
	skipped := 0
	for _, n := range r.SkippedBy {
		skipped += n
	}
	require.Equal(t, r.Skipped, skipped, "reasons %v", r.SkippedBy)
	require.Equal(t, r.Failed, len(r.Failures)+r.FailuresOmitted)
}

// stored returns what m holds as "site url schema" lines, sorted.
func stored(t *testing.T, m *providertest.Memory) []string {
	t.Helper()
	sites, err := m.Sites(t.Context())
	require.NoError(t, err)
	var out []string
	for _, s := range sites {
		for q := (provider.ListQuery{Site: s.Site}); ; {
			entries, err := m.List(t.Context(), q)
			require.NoError(t, err)
			if len(entries) == 0 {
				break
			}
			var urls []string
			for _, e := range entries {
				urls = append(urls, e.URL)
			}
			objects, err := m.Get(t.Context(), provider.Lookup{URLs: urls, Scope: provider.InSites(s.Site)})
			require.NoError(t, err)
			for _, o := range objects {
				out = append(out, s.Site+" "+o.URL+" "+string(o.Schema))
			}
			q.After = urls[len(urls)-1]
		}
	}
	return out
}

func thing(n int) string {
	return fmt.Sprintf(`{"@type":"Thing","url":"https://a.example/%d","name":"thing %d"}`, n, n)
}

// things is what the store holds after thing(1) to thing(n) were ingested.
func things(n int) []string {
	var out []string
	for i := 1; i <= n; i++ {
		out = append(out, fmt.Sprintf("a.example https://a.example/%d %s", i, thing(i)))
	}
	return out
}

func zipped(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		z := gzip.NewWriter(&b)
		z.Write([]byte(p))
		z.Close()
	}
	return b.String()
}

func zstandard(t *testing.T, parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		z, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		z.Write([]byte(p))
		require.NoError(t, z.Close())
	}
	return b.String()
}

func TestEveryFormatIsRead(t *testing.T) {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	lines := thing(1) + "\n" + thing(2) + "\n" + thing(3) + "\n"
	skippableFrame := "\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
	for _, c := range []struct {
		name, content string
		want          []string
	}{
		{"an object", thing(1), things(1)},
		{"an object with a byte order mark", "\xef\xbb\xbf" + thing(1), things(1)},
		{"a list", "[" + thing(1) + ",\n" + thing(2) + "]", things(2)},
		{"a graph", `{"@context":"https://schema.org","@graph":[{"@type":"Thing","@id":"https://a.example/g","name":"g","@context":"c"}]}`,
			[]string{`a.example https://a.example/g {"@type":"Thing","@id":"https://a.example/g","name":"g","@context":"c"}`}},
		{"objects in a row", thing(1) + thing(2) + "\n\n" + thing(3), things(3)},
		{"JSON Lines", lines, things(3)},
		{"JSON Lines with CRLF, blank lines, byte order mark", "\xef\xbb\xbf\r\n" + strings.ReplaceAll(lines, "\n", "\r\n\r\n"), things(3)},
		{"JSON Lines of lists", "[" + thing(1) + "]\n[" + thing(2) + "," + thing(3) + "]\n", things(3)},
		{"JSON Lines in UTF-16", string(inUTF16(lines, binary.LittleEndian, true)), things(3)},
		{"JSON Lines in UTF-16 without a mark", string(inUTF16(lines, binary.BigEndian, false)), things(3)},
		{"gzip", zipped(lines), things(3)},
		{"gzip of several members", zipped(lines[:30], lines[30:90], lines[90:]), things(3)},
		{"zstd", zstandard(t, lines), things(3)},
		{"zstd of several frames, one to skip first", skippableFrame + zstandard(t, lines[:30], lines[30:]), things(3)},
		{"url, tab, object", "https://a.example/1\t" + thing(1) + "\nhttps://a.example/2\t" + thing(2), things(2)},
		{"url, tab, list", "https://b.example/x\t[" + thing(1) + "]", []string{"b.example https://b.example/x " + thing(1)}},
		{"url, tab, list of several", "https://b.example/x\t[" + thing(1) + "," + thing(2) + "]",
			[]string{"b.example https://b.example/x [" + thing(1) + "," + thing(2) + "]"}},
		{"url, tab, JSON in a string", "https://b.example/x\t" + quoted(thing(1)), []string{"b.example https://b.example/x " + thing(1)}},
		{"wrappers with an object", `{"url":"https://b.example/x","site":"shop","schema":` + thing(1) + `}`,
			[]string{"shop https://b.example/x " + thing(1)}},
		{"wrappers with JSON in a string", `{"url":"https://www.b.example/x","schema_json":` + quoted(thing(1)) + "}\n" +
			`{"url":"https://b.example/y","raw_schema_object":` + quoted(thing(2)) + `}`,
			[]string{"b.example https://b.example/y " + thing(2), "b.example https://www.b.example/x " + thing(1)}},
		{"a list of wrappers", `[{"url":"https://b.example/x","schema":` + thing(1) + `},` + "\n" + `{"url":"https://b.example/y","schema":` + thing(2) + `}]`,
			[]string{"b.example https://b.example/x " + thing(1), "b.example https://b.example/y " + thing(2)}},
		{"a wrapper without a url", `{"site":"shop","schema":` + thing(1) + `}`, []string{"shop https://a.example/1 " + thing(1)}},
		{"HTML", `<html><link rel=canonical href="https://www.a.example/page"><script type="application/ld+json">{"@type":"Thing","name":"n"}</script>`,
			[]string{`a.example https://www.a.example/page {"@type":"Thing","name":"n"}`}},
		{"HTML in a declared encoding", "<meta charset=latin1><script type=application/ld+json>{\"@type\":\"Thing\",\"url\":\"https://a.example/u\",\"name\":\"S\xfc\xdf\"}</script>",
			[]string{`a.example https://a.example/u {"@type":"Thing","url":"https://a.example/u","name":"Süß"}`}},
		{"HTML in UTF-16", string(inUTF16(`<script type="application/ld+json">`+thing(1)+`</script>`, binary.LittleEndian, true)), things(1)},
		{"a host beyond ASCII", `{"@type":"Thing","url":"https://müller.example/","name":"n"}`,
			[]string{`xn--mller-kva.example https://müller.example/ {"@type":"Thing","url":"https://müller.example/","name":"n"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := providertest.NewMemory()
			r := mustRun(t, Options{Store: m, Sources: []string{write(t, "no.extension", c.content)}})
			require.Empty(t, r.Failures)
			require.Equal(t, c.want, stored(t, m))
			require.Equal(t, len(c.want), r.Stored)
		})
	}
}

func TestStandardInputIsRead(t *testing.T) {
	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{"-"}, Stdin: strings.NewReader(zipped(thing(1)))})
	require.Equal(t, 1, r.Stored)
	require.Equal(t, things(1), stored(t, m))
}

func TestSiteThatIsGivenWins(t *testing.T) {
	m := providertest.NewMemory()
	site := "  Mein Laden 🍠 "
	in := thing(1) + "\n" + `{"url":"https://a.example/2","site":"other","schema":` + thing(2) + "}\n"
	mustRun(t, Options{Store: m, Sources: []string{write(t, "f", in)}, Site: &site})
	require.Equal(t, []string{
		"Mein Laden 🍠 https://a.example/1 " + thing(1),
		"Mein Laden 🍠 https://a.example/2 " + thing(2),
	}, stored(t, m))
}

func TestBaseNamesAPageOnlyWhereThereIsOneInput(t *testing.T) {
	page := `<script type="application/ld+json">{"@type":"Recipe","name":"Soup"}</script>`
	relative := `<script type="application/ld+json">{"@type":"Recipe","name":"Pie","url":"pie"}</script>`
	base := "https://a.example/cook/index.html"

	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{write(t, "soup.html", page)}, Base: base})
	require.Empty(t, r.Failures)
	require.Equal(t, []string{`a.example ` + base + ` {"@type":"Recipe","name":"Soup"}`}, stored(t, m))

	m = providertest.NewMemory()
	r = mustRun(t, Options{Store: m, Sources: []string{write(t, "f.json", `{"@type":"Recipe","name":"Soup"}`)}, Base: base})
	require.Empty(t, r.Failures)
	require.Equal(t, 1, r.Stored)

	m = providertest.NewMemory()
	r = mustRun(t, Options{Store: m, Sources: []string{write(t, "soup.html", page), write(t, "pie.html", relative)}, Base: base})
	require.Equal(t, []string{`a.example https://a.example/cook/pie {"@type":"Recipe","name":"Pie","url":"pie"}`}, stored(t, m))
	require.Equal(t, 1, r.Failed, "the page that names no URL")
}

func TestWrongOptionsAreRefusedBeforeAnythingIsRead(t *testing.T) {
	blank, spaces, all, star, line, good := "", "  ", "All", "*", "a\nb", "a"
	m := providertest.NewMemory()
	in := strings.NewReader(thing(1))
	for name, o := range map[string]Options{
		"no store":            {Sources: []string{"-"}},
		"no source":           {Store: m},
		"site empty":          {Store: m, Sources: []string{"-"}, Site: &blank},
		"site of blanks":      {Store: m, Sources: []string{"-"}, Site: &spaces},
		"site all":            {Store: m, Sources: []string{"-"}, Site: &all},
		"site *":              {Store: m, Sources: []string{"-"}, Site: &star},
		"site with a newline": {Store: m, Sources: []string{"-"}, Site: &line},
		"base relative":       {Store: m, Sources: []string{"-"}, Site: &good, Base: "/x"},
		"base of a file":      {Store: m, Sources: []string{"-"}, Base: "file:///x"},
		"base javascript":     {Store: m, Sources: []string{"-"}, Base: "javascript:alert(1)"},
		"base broken":         {Store: m, Sources: []string{"-"}, Base: "http://[x"},
	} {
		o.Stdin = in
		r, err := Run(t.Context(), o)
		require.ErrorIs(t, err, provider.ErrInvalid, name)
		require.Nil(t, r, name)
	}
	require.Equal(t, len(thing(1)), in.Len(), "nothing may have been read")
	require.Empty(t, stored(t, m))
}

// countPuts returns m as a store, and how many documents are put into it.
func countPuts(m *providertest.Memory) (Store, *int) {
	n := new(int)
	return putFunc{m, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
		*n += len(docs)
		return m.Put(ctx, docs)
	}}, n
}

// putFunc is a store with another Put.
type putFunc struct {
	Store
	put func(context.Context, []provider.Document) ([]provider.PutResult, error)
}

func (p putFunc) Put(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	return p.put(ctx, docs)
}

func TestWhatIsUnchangedIsNotSent(t *testing.T) {
	m := providertest.NewMemory()
	store, sent := countPuts(m)
	var b strings.Builder
	const n = 2345 // several batches, several pages of List
	for i := range n {
		fmt.Fprintf(&b, `{"url":"https://%c.example/%d","name":"outside","schema":{"@type":"Thing","description":"thing %d"}}`+"\n", 'a'+i%2, i, i)
	}
	first := mustRun(t, Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(b.String())})
	require.Equal(t, n, first.Stored)
	require.Equal(t, n, *sent)

	*sent = 0
	again := mustRun(t, Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(b.String())})
	require.Equal(t, n, again.Unchanged)
	require.Equal(t, n, again.Read)
	require.Zero(t, *sent)

	edited := strings.Replace(b.String(), `thing 1000"`, `thing one thousand"`, 1)
	edited = strings.Replace(edited, `"outside","schema":{"@type":"Thing","description":"thing 7"`, `"renamed","schema":{"@type":"Thing","description":"thing 7"`, 1)
	changed := mustRun(t, Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(edited)})
	require.Equal(t, 2, changed.Stored)
	require.Equal(t, n-2, changed.Unchanged)
	require.Equal(t, 2, *sent)
}

func TestThePageSpeaksForWhatItsObjectsLack(t *testing.T) {
	m := providertest.NewMemory()
	sent := map[string]string{}
	store := putFunc{m, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
		for _, d := range docs {
			sent[d.URL] = d.Language + " " + d.Name
		}
		return m.Put(ctx, docs)
	}}
	file := write(t, "page.html", `<html lang="de"><title>Lampen &amp; mehr</title><script type="application/ld+json">[{"@type":"Product","name":"Lampe","url":"https://shop.example/de"},
		{"@type":"Product","name":"Lamp","url":"https://shop.example/en","inLanguage":"en"},
		{"@type":"FAQPage","url":"https://shop.example/faq","description":"Fragen"}]</script>`)
	mustRun(t, Options{Sources: []string{file}, Store: store})
	require.Equal(t, map[string]string{
		"https://shop.example/de": "de ", "https://shop.example/en": " ", "https://shop.example/faq": "de Lampen & mehr",
	}, sent, "language and name, where the object has none")
}

func TestANameFromOutsideTheObjectIsSent(t *testing.T) {
	m := providertest.NewMemory()
	var got []provider.Document
	store := putFunc{m, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
		got = append(got, docs...)
		return m.Put(ctx, docs)
	}}
	mustRun(t, Options{Store: store, Sources: []string{"-"}, Stdin: strings.NewReader(
		`{"url":"https://a.example/1","name":"outside","schema":{"@type":"Thing","name":"inside"}}` + "\n" +
			`{"url":"https://a.example/2","name":"outside","schema":{"@type":"Thing","description":"d"}}` + "\n")})
	require.Equal(t, []provider.Document{
		{URL: "https://a.example/1", Site: "a.example", Schema: []byte(`{"@type":"Thing","name":"inside"}`)},
		{URL: "https://a.example/2", Site: "a.example", Schema: []byte(`{"@type":"Thing","description":"d"}`), Name: "outside"},
	}, got, "what the store reads from Schema is left to it")
}

// staleStore lists every document as one that a search does not find.
type staleStore struct{ Store }

func (s staleStore) List(ctx context.Context, q provider.ListQuery) ([]provider.Entry, error) {
	page, err := s.Store.List(ctx, q)
	for i := range page {
		page[i].Indexed = false
	}
	return page, err
}

func TestWhatIsNotIndexedIsSentAgain(t *testing.T) {
	m := providertest.NewMemory()
	store, sent := countPuts(m)
	in := write(t, "f", thing(1)+"\n"+thing(2))
	mustRun(t, Options{Store: store, Sources: []string{in}})
	*sent = 0
	r := mustRun(t, Options{Store: staleStore{store}, Sources: []string{in}})
	require.Equal(t, 2, *sent)
	require.Equal(t, 2, r.Unchanged, "the outcome is the store's")
}

func TestTheFirstObjectOfAURLWinsAcrossPages(t *testing.T) {
	dir := t.TempDir()
	other := `{"@type":"Thing","url":"https://a.example/1","name":"another"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(thing(2)+"\n"+thing(1)+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(other+"\n"+thing(1)+"\n"+thing(3)+"\n"), 0o600))
	for _, sources := range [][]string{{dir}, {filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "a.jsonl")}} {
		m := providertest.NewMemory()
		r := mustRun(t, Options{Store: m, Sources: sources})
		require.Equal(t, things(3), stored(t, m))
		require.Equal(t, map[string]int{urlTaken: 1, sameAgain: 1}, r.SkippedBy)
		require.Len(t, r.Notices, 1)
		require.Equal(t, Place{Source: filepath.Join(dir, "b.jsonl"), Line: 1, URL: "https://a.example/1"}, r.Notices[0].Place)
		require.Contains(t, r.Notices[0].Text, filepath.Join(dir, "a.jsonl")+":2")
	}
}

func TestBytesStayAsTheyAre(t *testing.T) {
	schema := `{ "@type":"Product" ,"name":"a\u003cb\/ \ud83c\udf60 <>&","b":1.50e+01,"a":-0.0,"n":12345678901234567890,"c":"é","z":[ ] }`
	for name, in := range map[string]string{
		"wrapper": `{"url":"https://a.example/1","schema":` + schema + `}`,
		"line":    "https://a.example/1\t" + schema,
	} {
		m := providertest.NewMemory()
		mustRun(t, Options{Store: m, Sources: []string{write(t, "f", in)}})
		require.Equal(t, []string{"a.example https://a.example/1 " + schema}, stored(t, m), name)
	}
}

func TestProgressGoesUpToTheWhole(t *testing.T) {
	in := strings.Repeat(thing(1)+"\n", 10_000)
	path := write(t, "f", in)
	var last Progress
	calls := 0
	r := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{path}, Progress: func(p Progress) {
		calls++
		require.GreaterOrEqual(t, p.Bytes, last.Bytes)
		require.GreaterOrEqual(t, p.Documents, last.Documents)
		last = p
	}})
	require.Greater(t, calls, 2)
	require.Equal(t, Progress{Documents: r.Read, Bytes: int64(len(in)), Total: int64(len(in))}, last)
	require.Equal(t, 10_000, r.Read)

	mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{path, "-"}, Stdin: strings.NewReader(thing(2)),
		Progress: func(p Progress) { require.EqualValues(t, -1, p.Total) }})
}

func TestReportAsJSON(t *testing.T) {
	r := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{write(t, "f", thing(1))}})
	b, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"read":1,"stored":1,"unchanged":0,"pending":0,"superseded":0,"skipped":0,"failed":0,"deleted":0,"failures":[]}`, string(b))

	f := Failure{Place{Source: "f.html", Line: 3, Script: 2, URL: "u"}, provider.Invalidf("x", "is wrong")}
	b, err = json.Marshal(f)
	require.NoError(t, err)
	require.JSONEq(t, `{"source":"f.html","line":3,"script":2,"url":"u","error":"invalid argument: x: is wrong"}`, string(b))
	require.Equal(t, "f.html:3, script 2, u: invalid argument: x: is wrong", f.String())
}
