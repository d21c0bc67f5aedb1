package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// FuzzRun: whatever the input, a run comes to its end, counts everything once
// and hands the store only what the contract allows.
func FuzzRun(f *testing.F) {
	for _, s := range []string{
		thing(1) + "\n" + thing(2), "[" + thing(1) + "," + thing(2) + "]", "https://a.example/1\t" + thing(1),
		`{"url":"https://a.example/1","site":"s","schema_json":"{\"@type\":\"A\"}"}`, `[{"url":"https://a.example/1","schema":[{}]},7]`,
		`<script type="application/ld+json">` + thing(1) + `</script>`, thing(1) + ",", `{"a":` + "\n" + thing(1), zipped(thing(1)),
		string(inUTF16(thing(1), binary.LittleEndian, true)), "{\"schema\":\"\\\"{}\\\"\",", "\x28\xb5\x2f\xfd\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		store := putFunc{forgetful{}, func(ctx context.Context, docs []provider.Document) ([]provider.PutResult, error) {
			for i, d := range docs {
				if _, err := d.Check(fmt.Sprint(i)); err != nil {
					t.Errorf("document %d: %v", i, err)
				}
			}
			return forgetful{}.Put(ctx, docs)
		}}
		r, err := Run(t.Context(), Options{Store: store, Sources: []string{"-"}, Stdin: bytes.NewReader(in), Base: "https://a.example/"})
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, r)
		if r.Read == 0 {
			t.Fatal("nothing came of the input, want a document, something skipped or a failure")
		}
	})
}
