package ingest

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

func TestBadInputFailsAloneAndIsNamed(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	invalid := `{"@type":"Thing","url":"https://a.example/9","name":"S` // and then a byte of Latin-1
	deep := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	type place struct {
		line   int
		script int
		err    string // a part of the error
	}
	for _, c := range []struct {
		name, content string
		stored        int // thing(1) to this one
		want          []place
	}{
		{"no URL", lines(thing(1), `{"@type":"Thing","name":"n"}`, thing(2)), 2, []place{{2, 0, "no URL"}}},
		{"a javascript: URL", lines(thing(1), `{"@type":"Thing","name":"n","url":"javascript:alert(1)"}`, thing(2)), 2, []place{{2, 0, ""}}},
		{"a javascript: URL of a wrapper", lines(thing(1), `{"url":"javascript:alert(1)","schema":`+thing(9)+`}`, thing(2)), 2, []place{{2, 0, "no http or https URL"}}},
		{"a URL of a wrapper that is a list", lines(thing(1), `{"url":["https://a.example/9"],"schema":`+thing(9)+`}`, thing(2)), 2, []place{{2, 0, "is a list"}}},
		{"a URL of a wrapper that is an object", lines(thing(1), `{"url":{"@id":"https://a.example/9"},"schema":`+thing(9)+`}`, thing(2)), 2, []place{{2, 0, "is an object"}}},
		{"a javascript: URL before a tab", lines(thing(1), "javascript:alert(1)\t"+thing(9), thing(2)), 2, []place{{2, 0, "no http or https URL"}}},
		{"a site nothing can have", lines(thing(1), `{"url":"https://a.example/9","site":"ALL","schema":`+thing(9)+`}`, thing(2)), 2, []place{{2, 0, "every site"}}},
		{"a site with a control character", lines(thing(1), `{"url":"https://a.example/9","site":"a\u0000b","schema":`+thing(9)+`}`, thing(2)), 2, []place{{2, 0, "U+0000"}}},
		{"a wrapper of a number", lines(thing(1), `{"url":"https://a.example/9","schema":9}`, thing(2)), 2, []place{{2, 0, "is a number"}}},
		{"a line of garbage", lines(thing(1), "garbage", thing(2)), 2, []place{{2, 0, ""}}},
		{"a line cut off", lines(thing(1), thing(9)[:40], thing(2)), 2, []place{{2, 0, ""}}},
		{"the last line cut off", thing(1) + "\n" + thing(2) + "\n" + thing(9)[:40], 2, []place{{3, 0, ""}}},
		{"lines that are no objects", lines(thing(1), "17", `"text"`, "null", thing(2)), 2, nil},
		{"invalid UTF-8 in a line", lines(thing(1), invalid+"\xfc\"}", thing(2)), 2,
			[]place{{2, 0, fmt.Sprintf("not valid UTF-8 at byte %d of the input", len(thing(1))+1+len(invalid))}}},
		{"invalid UTF-8 behind a byte order mark", "\xef\xbb\xbf" + lines(thing(1), invalid+"\xfc\"}", thing(2)), 2,
			[]place{{2, 0, fmt.Sprintf("not valid UTF-8 at byte %d of the input", 3+len(thing(1))+1+len(invalid))}}},
		{"invalid UTF-8 in a value of several lines", "{\n\"@type\": \"\xff\"}", 0, []place{{2, 0, "not valid UTF-8 at byte 12"}}},
		{"half a surrogate pair in UTF-16", string(append(append(inUTF16(thing(1)+"\n"+`{"name":"`, binary.LittleEndian, true), 0x3d, 0xd8),
			inUTF16("\"}\n"+thing(2), binary.LittleEndian, false)...)), 2, []place{{2, 0, "not valid UTF-8"}}},
		{"nested deeper than allowed", lines(thing(1), deep, thing(2)), 2, []place{{2, 0, "nested more than 200 deep"}}},
		{"an object over the limit", lines(thing(1), `{"@type":"Thing","url":"https://a.example/9","name":"`+strings.Repeat("x", provider.MaxObjectBytes)+`"}`, thing(2)), 2,
			[]place{{2, 0, ""}}},
		{"a line over the limit", lines(thing(1), `{"name":"`+strings.Repeat("x", maxUnit)+`"}`, thing(2)), 2, []place{{2, 0, "the limit of a line"}}},
		{"an empty file", "", 0, []place{{0, 0, "is empty"}}},
		{"a file of blanks", " \r\n\t\n", 0, []place{{0, 0, "is empty"}}},
		{"a file of many blanks", strings.Repeat("\n", 2*windowBytes), 0, []place{{0, 0, "is blank"}}},
		{"a binary file", "\x7fELF\x02\x01\x01\x00\x00\x00", 0, []place{{0, 0, "is binary"}}},
		{"a binary file, gzipped", zipped("\x7fELF\x02\x01\x01\x00\x00\x00"), 0, []place{{0, 0, "is binary"}}},
		{"gzip twice", zipped(zipped(thing(1))), 0, []place{{0, 0, "is binary"}}},
		{"gzip cut off", zipped(lines(thing(1), thing(2)))[:40], 0, []place{{0, 0, "decompress gzip: unexpected EOF"}}},
		{"gzip with text behind it", zipped(lines(thing(1), thing(2))) + "behind it", 2, []place{{0, 0, "decompress gzip"}}},
		{"gzip with text behind it and no line end in it", zipped(lines(thing(1))+thing(2)) + "behind it", 2, []place{{0, 0, "no gzip"}}},
		{"gzip with zeros behind it", zipped(lines(thing(1), thing(2))) + strings.Repeat("\x00", 512), 2, nil},
		{"gzip with a line end behind it", zipped(lines(thing(1), thing(2))) + "\n", 2, nil},
		{"gzip of several members with zeros between", zipped(lines(thing(1))) + "\x00\x00" + zipped(thing(2)), 2, nil},
		{"gzip that is none", "\x1f\x8b\x08nothing of the kind", 0, []place{{0, 0, "decompress gzip"}}},
		{"zstd cut off", zstandard(t, lines(thing(1), thing(2)))[:40], 0, []place{{0, 0, "decompress zstd"}}},
		{"RSS", "<?xml version='1.0'?><rss version='2.0'></rss>", 0, []place{{0, 0, "is XML (<rss>)"}}},
		{"a value that never ends, valid ones behind it", "{\"a\": [\n" + lines(thing(1), thing(2)), 2, []place{{1, 0, ""}}},
		{"values of several lines, one broken", "{\n" + thing(1)[1:] + "\n{\n\"@type\": \"Thing\" \"x\"\n}\n{\n" + thing(2)[1:], -2, []place{{4, 0, "comma"}}},
		{"a broken script beside a good one",
			"<script type=application/ld+json>{\"@type\":</script>\n<script type=application/ld+json>" + thing(1) + "</script>", 1, []place{{1, 1, ""}}},
		{"a script in an encoding nobody declared",
			"<p>S\xfc\xdf<script type=application/ld+json>" + thing(1) + "</script>\n<script type=application/ld+json>{\"name\":\"\xfc\"}</script>", 1, []place{{2, 2, "UTF-8"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			bad, good := filepath.Join(dir, "bad"), filepath.Join(dir, "good")
			require.NoError(t, os.WriteFile(bad, []byte(c.content), 0o600))
			require.NoError(t, os.WriteFile(good, []byte(`{"@type":"Thing","url":"https://good.example/","name":"n"}`), 0o600))
			m := providertest.NewMemory()
			var told []Failure
			r := mustRun(t, Options{Store: m, Sources: []string{dir}, OnFailure: func(f Failure) { told = append(told, f) }})

			want := []string{`good.example https://good.example/ {"@type":"Thing","url":"https://good.example/","name":"n"}`}
			if c.stored >= 0 {
				require.Equal(t, append(things(c.stored), want...), append(stored(t, m), []string{}...), "failures %v", r.Failures)
			} else {
				require.Equal(t, 1-c.stored, r.Stored)
			}
			require.Len(t, told, len(r.Failures))
			require.Len(t, r.Failures, len(c.want), "%v", r.Failures)
			for i, w := range c.want {
				f := r.Failures[i]
				require.Equal(t, bad, f.Source)
				require.Equal(t, w.line, f.Line, "%v", f)
				require.Equal(t, w.script, f.Script, "%v", f)
				require.ErrorContains(t, f.Err, w.err)
			}
		})
	}
}

func TestSourcesThatCannotBeReadAreNamed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("good"), []byte(thing(1)), 0o600))
	require.NoError(t, os.WriteFile(at("locked"), []byte(thing(2)), 0))
	require.NoError(t, os.Mkdir(at("empty"), 0o700))
	wantFailures := []string{at("empty"), at("missing")}
	if _, err := os.ReadFile(at("locked")); err != nil { // root reads it
		wantFailures = append(wantFailures, at("locked"))
	} else {
		require.NoError(t, os.Remove(at("locked")))
	}
	m := providertest.NewMemory()
	sources := []string{at("missing"), at("empty"), at("good")}
	if len(wantFailures) == 3 {
		sources = append(sources, at("locked"))
	}
	r := mustRun(t, Options{Store: m, Sources: sources})
	var got []string
	for _, f := range r.Failures {
		got = append(got, f.Source)
		require.NotContains(t, f.Err.Error(), dir, "the place is named once")
	}
	require.Equal(t, wantFailures, got)
	require.Equal(t, things(1), stored(t, m))
}

func TestUnknownFilesOfADirectoryAreLeftOutWithANotice(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README"), []byte("Dear reader"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(thing(1)), 0o600))
	r := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{dir}})
	require.Equal(t, map[string]int{unreadFormat: 1}, r.SkippedBy)
	require.Len(t, r.Notices, 1)
	require.Equal(t, filepath.Join(dir, "README"), r.Notices[0].Source)

	named := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{filepath.Join(dir, "README")}})
	require.Equal(t, 1, named.Failed, "a file that was named")
}

func TestABrokenWrapperIsMended(t *testing.T) {
	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{write(t, "f",
		`{"url":"https://a.example/1","schema":`+thing(1)+`,}`+"\n"+thing(2)+",\n"+thing(3)+";\n")}})
	require.Empty(t, r.Failures)
	require.Equal(t, things(3), stored(t, m))
	require.Equal(t, 1, r.Repairs, "commas and semicolons between values are no damage")
}

// patterned repeats a text until size bytes are out.
type patterned struct {
	head, body, tail string
	size             int64
	out              int64
	rest             string
}

func (p *patterned) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if p.rest == "" {
			switch {
			case p.out == 0 && p.head != "":
				p.rest = p.head
			case p.out < p.size:
				p.rest = p.body
			case p.tail != "":
				p.rest, p.tail = p.tail, ""
			default:
				return n, map[bool]error{true: io.EOF}[n == 0]
			}
		}
		k := copy(b[n:], p.rest)
		p.rest = p.rest[k:]
		n += k
		p.out += int64(k)
	}
	return n, nil
}

// peakDuring returns how far what is alive on the heap grew while f ran, in
// bytes. What waits to be collected depends on how busy the machine is and does
// not count.
func peakDuring(f func()) int64 {
	alive := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before := alive()
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			most = max(most, alive()-before)
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	return <-peak
}

func TestHugeInputIsReadInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads hundreds of megabytes")
	}
	const bound = 160 << 20
	for _, c := range []struct {
		long   bool // only with SITEPROVIDER_LONG=1
		name   string
		in     io.Reader
		stored int
		failed int
		err    string
	}{
		{false, "one document of 100 MB", &patterned{head: `{"@type":"Thing","name":"`, body: strings.Repeat("x", 1000), tail: `"}` + "\n" + thing(1) + "\n", size: 100 << 20}, 1, 1, "limit"},
		{true, "one document of 100 MB over many lines", &patterned{head: "{\"@type\":\"Thing\",\n\"name\":\"\"", body: ",\n\"x\": 1" + strings.Repeat(" ", 1000), tail: "}\n" + thing(1), size: 100 << 20}, 1, 1, "limit"},
		{true, "a document of 100 MB between two lines", &patterned{head: thing(1) + "\n" + `{"name":"`, body: strings.Repeat("x", 1000), tail: `"}` + "\n" + thing(2) + "\n", size: 100 << 20}, 2, 1, "limit of a line"},
		{false, "10 million brackets", &patterned{body: "[", size: 10_000_000}, 0, 1, "nested"},
		{true, "10 million brackets in a line", &patterned{head: thing(1) + "\n", body: "[", tail: "\n" + thing(2), size: 10_000_000}, 2, 1, ""},
		{true, "40 million brackets", &patterned{body: "[", size: 40_000_000}, 0, -1, ""},
		{true, "10 million opened objects", &patterned{body: `{"a":`, size: 50_000_000}, 0, 1, ""},
		{false, "lines of 1 MB, one of them cut off", &patterned{head: strings.Replace(thing(1), "{", "{"+strings.Repeat(" ", 1<<20), 1) + "\n{\"name\":\"x\n", body: thing(2) + strings.Repeat(" ", 1<<20) + "\n", size: 20 << 20}, -2, 1, ""},
		{true, "a list of 10 million numbers", &patterned{head: "[0", body: ",1", tail: "]", size: 20_000_000}, 0, 0, ""},
		{true, "a list of 10 million words", &patterned{head: "[0", body: ",x", tail: "]", size: 20_000_000}, 0, 10_000_000 - 1, "no JSON object"},
		{false, "8 million values in a row", &patterned{body: "{}", size: 16_000_000}, 0, 1, "more than 250000 values"},
		{false, "a line without end", &endless{text: "x"}, 0, 1, "is neither JSON"},
		{true, "a line without end, JSON", &endless{text: `{"name":"x`}, 0, 1, "what follows is not read"},
		{false, "a line without end after a good one", &endless{text: thing(1) + "\n" + thing(2) + "\n{\"name\":\"x"}, 2, 1, "what follows is not read"},
		{false, "a list of 40 MB on one line", &patterned{head: "[" + thing(1), body: "," + thing(2) + strings.Repeat(" ", 1000), tail: "]", size: 40 << 20}, 2, 0, ""},
		{false, "a list of 40 MB, one member too long", &patterned{head: "[" + thing(1) + `,{"name":"` + strings.Repeat("x", maxUnit) + `"}`, body: ",\n" + thing(2) + strings.Repeat(" ", 1000), tail: "]", size: 40 << 20}, 2, 1, "limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && os.Getenv("SITEPROVIDER_LONG") != "1" {
				t.Skip("much like the others; set SITEPROVIDER_LONG=1")
			}
			m := providertest.NewMemory()
			var r *Report
			peak := peakDuring(func() { r = mustRun(t, Options{Store: m, Sources: []string{"-"}, Stdin: c.in}) })
			t.Logf("peak %d MB, read %d, skipped %v, failures %v", peak>>20, r.Read, r.SkippedBy, r.Failures)
			require.Less(t, peak, int64(bound))
			if c.stored >= 0 {
				require.Equal(t, things(c.stored), stored(t, m))
			} else {
				require.Equal(t, -c.stored, r.Stored)
			}
			if c.failed >= 0 {
				require.Equal(t, c.failed, r.Failed, "%v", r.Failures)
			}
			if c.failed > 0 {
				require.ErrorContains(t, r.Failures[0].Err, c.err)
			}
		})
	}
}

func TestABombOfGzipNeedsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks a gigabyte")
	}
	unit := zipped(strings.Repeat(" ", 64<<20))
	var r *Report
	peak := peakDuring(func() {
		r = mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{"-"},
			Stdin: io.MultiReader(strings.NewReader(zipped("{\"a\":\"")), strings.NewReader(strings.Repeat(unit, 16)))})
	})
	require.Less(t, peak, int64(160<<20))
	require.Equal(t, 1, r.Failed, "%v", r.Failures)
}

func TestMemoryDoesNotGrowWithTheNumberOfDocuments(t *testing.T) {
	if os.Getenv("SITEPROVIDER_LONG") != "1" {
		t.Skip("a million documents take minutes; set SITEPROVIDER_LONG=1")
	}
	one := func(n int) int64 {
		return peakDuring(func() {
			r, err := Run(t.Context(), Options{Store: forgetful{}, Sources: []string{"-"}, Stdin: &numberedThings{n: n}})
			require.NoError(t, err)
			require.Equal(t, n, r.Stored)
		})
	}
	few, many := one(64_000), one(1_000_000)
	t.Logf("peak %d MB with 64,000 documents, %d MB with 1,000,000", few>>20, many>>20)
	require.Less(t, many, few*6/5+(8<<20))
}

// forgetful stores everything and keeps nothing.
type forgetful struct{}

func (forgetful) Put(_ context.Context, docs []provider.Document) ([]provider.PutResult, error) {
	out := make([]provider.PutResult, len(docs))
	for i := range out {
		out[i].Outcome = provider.Stored
	}
	return out, nil
}

func (forgetful) List(context.Context, provider.ListQuery) ([]provider.Entry, error) { return nil, nil }

// numberedThings is JSON Lines of n different things.
type numberedThings struct {
	n, i int
	rest string
}

func (r *numberedThings) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.i == r.n {
			return 0, io.EOF
		}
		r.i++
		r.rest = thing(r.i) + "\n"
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestEveryDocumentIsCountedOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		var b strings.Builder
		want := Report{}
		seen := map[int]bool{}
		for range rnd.IntN(200) {
			switch rnd.IntN(6) {
			case 0, 1, 2:
				n := rnd.IntN(150)
				b.WriteString(thing(n))
				if seen[n] {
					want.Skipped++
				} else {
					want.Stored++
				}
				seen[n] = true
			case 3:
				b.WriteString(`{"@type":`)
				want.Failed++
			case 4:
				b.WriteString(`{"name":"no type"}`)
				want.Skipped++
			case 5:
				b.WriteString(`{"@type":"Thing","name":"no url"}`)
				want.Failed++
			}
			b.WriteByte('\n')
		}
		if b.Len() == 0 {
			continue
		}
		// A good first line and last line make it lines, whatever is between.
		text := thing(1000) + "\n" + thing(1001) + "\n" + b.String()
		r := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{"-"}, Stdin: strings.NewReader(text)})
		require.Equal(t, [3]int{want.Stored + 2, want.Skipped, want.Failed}, [3]int{r.Stored, r.Skipped, r.Failed},
			"round %d: %v %v\n%s", round, r.SkippedBy, r.Failures, text)
	}
}

func TestFailuresAreBoundedInMemoryAndAllHandedOn(t *testing.T) {
	told := 0
	r := mustRun(t, Options{
		Store: providertest.NewMemory(), Sources: []string{"-"},
		Stdin:     strings.NewReader(thing(1) + "\n" + thing(2) + "\n" + strings.Repeat("nonsense\n", 3*MaxListed)),
		OnFailure: func(Failure) { told++ },
	})
	require.Equal(t, 3*MaxListed, r.Failed)
	require.Equal(t, 3*MaxListed, told)
	require.Len(t, r.Failures, MaxListed)
	require.Equal(t, 2*MaxListed, r.FailuresOmitted)
}

func TestDataOfADirectoryThatCannotBeReadFailsAndAStoreIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json": thing(1), "cut.json": `"@type": "Thing"`, "lost.JSONL.gz": zipped("Dear reader"), "README": "Dear reader",
		"store/" + storeFile: "", "store/segment.json": thing(2),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{dir}})
	require.Equal(t, things(1), stored(t, m))
	var failed, noticed []string
	for _, f := range r.Failures {
		failed = append(failed, filepath.Base(f.Source))
	}
	for _, n := range r.Notices {
		noticed = append(noticed, filepath.Base(n.Source))
	}
	require.Equal(t, []string{"cut.json", "lost.JSONL.gz"}, failed)
	require.ElementsMatch(t, []string{"store", "README"}, noticed)
}

func TestALineOfAURLWithoutJSONNamesTheURL(t *testing.T) {
	r := mustRun(t, Options{Store: providertest.NewMemory(), Sources: []string{write(t, "f", "https://a.example/1\t"+thing(1)+"\nhttps://a.example/2\tnot json\n")}})
	require.Len(t, r.Failures, 1)
	require.Equal(t, "https://a.example/2", r.Failures[0].URL)
	require.ErrorContains(t, r.Failures[0].Err, "no JSON")
}

func TestAZeroByteCostsOnlyItsLine(t *testing.T) {
	m := providertest.NewMemory()
	r := mustRun(t, Options{Store: m, Sources: []string{write(t, "f", thing(1)+"\n\x00\n"+thing(2)+"\n")}})
	require.Equal(t, things(2), stored(t, m), "%v", r.Failures)
}
