//go:build unix

package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/plugin"
	"github.com/siteprovider/siteprovider/provider"
)

// An outcome that came back is a promise: whatever happens to the process
// afterwards, the document is there.
func TestAcknowledgedDocumentsSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("SQLite is slow under the race detector; runs without -short")
	}
	t.Parallel()
	const kills, batchSize = 20, 10
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	p := open(t, with("embedded puppet", map[string]string{"data": t.TempDir()}))
	acknowledged := make(map[string][]byte)
	unknown := 0
	for round := range kills {
		pid := pidOf(t, p)
		killed := make(chan struct{})
		time.AfterFunc(time.Duration(random.IntN(40_000))*time.Microsecond, func() {
			kill(t, pid)
			close(killed)
		})
		for batch, dead := 0, false; !dead; batch++ {
			select {
			case <-killed:
				dead = true // one more batch, which starts the next process
			default:
			}
			docs := make([]provider.Document, batchSize)
			for i := range docs {
				url := fmt.Sprintf("https://a.example/%d/%d/%d", round, batch, i)
				docs[i] = provider.Document{URL: url, Site: "a.example", Schema: fmt.Appendf(nil, `{"@type":"Thing","name":"walnut %s"}`, url)}
			}
			results, err := p.Put(context.Background(), docs)
			if errors.Is(err, provider.ErrUnavailable) {
				continue
			}
			if err != nil {
				t.Fatalf("round %d, batch %d: %v", round, batch, err)
			}
			for i, r := range results {
				switch r.Outcome {
				case provider.Stored, provider.Pending:
					acknowledged[docs[i].URL] = docs[i].Schema
				case provider.Unknown:
					unknown++
				default:
					t.Fatalf("round %d, batch %d: %+v", round, batch, r)
				}
			}
		}
	}
	t.Logf("%d kills, %d documents acknowledged, %d unknown", kills, len(acknowledged), unknown)
	if len(acknowledged) < kills*batchSize/2 {
		t.Errorf("only %d documents were acknowledged: the test shows little", len(acknowledged))
	}
	wantObjects(t, p, acknowledged)
}

func wantObjects(t *testing.T, p *plugin.Plugin, want map[string][]byte) {
	t.Helper()
	var urls []string
	check := func() {
		objects, err := p.Get(context.Background(), provider.Lookup{URLs: urls, Scope: provider.InSites("a.example")})
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range objects {
			if !o.Found || !bytes.Equal(o.Schema, want[urls[i]]) {
				t.Errorf("Get(%s) gave found %v, %q, want %q", urls[i], o.Found, o.Schema, want[urls[i]])
			}
		}
		urls = urls[:0]
	}
	for url := range want {
		if urls = append(urls, url); len(urls) == provider.MaxURLs {
			check()
		}
	}
	if len(urls) > 0 {
		check()
	}
}

// The bytes of an object are the same on every way out of the plugin.
func TestBytesOfObjectsCrossTheWireUntouched(t *testing.T) {
	odd := []string{
		`{"n":1.0,"m":1e400,"k":-0,"big":123456789012345678901234567890}`,
		`{ "z" : 1, "a" : 2 , "z" : 3 }`,
		`{"html":"<b>&amp; \u003c \/ \ud83d\ude00 ü</b>","name":"walnut"}`,
		"{\r\n\t\"name\" : \"walnut\"\n}\n\n",
		`[{"name":"walnut"},{"@type":"Thing"}]`,
	}
	var docs []provider.Document
	want := make(map[string][]byte)
	for i := range 50 {
		d := provider.Document{URL: fmt.Sprintf("https://a.example/%d", i), Site: "a.example", Name: "walnut"}
		d.Schema = []byte(odd[i%len(odd)])
		docs, want[d.URL] = append(docs, d), d.Schema
	}
	for _, spec := range []plugin.Spec{kind("memory"), with("embedded", map[string]string{"data": t.TempDir()})} {
		p := open(t, spec)
		if _, err := p.Put(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		wantObjects(t, p, want)
		res, err := p.Search(t.Context(), provider.Query{Text: "walnut", Scope: provider.AllSites()})
		if err != nil || len(res.Hits) != len(docs) {
			t.Fatalf("%d hits, %v, want %d", len(res.Hits), err, len(docs))
		}
		for _, h := range res.Hits {
			if !bytes.Equal(h.Schema, want[h.URL]) {
				t.Errorf("the hit %s has the object %q, want %q", h.URL, h.Schema, want[h.URL])
			}
		}
	}
}
