package wire_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// Whatever bytes another process sends, a query is refused or says what it
// said: it survives the way there and back.
func FuzzQueryFromProto(f *testing.F) {
	for _, q := range []provider.Query{
		{Text: "walnut", Scope: provider.AllSites()},
		{Text: "ü", Scope: provider.InSites("a.example", " b.example "), Limit: 7, Filter: provider.Filter{
			{Path: "offers.price", Op: provider.Less, Value: 19.9},
			{Path: "@type", Op: provider.In, Value: []any{"Recipe", "Movie"}},
			{Path: "name", Op: provider.Exists},
			{Path: "isAccessibleForFree", Op: provider.Equal, Value: true},
		}},
	} {
		b, err := proto.Marshal(wire.QueryToProto(q))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m pb.SearchRequest
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		q, err := wire.QueryFromProto(&m).Check()
		if err != nil {
			return
		}
		if q.Scope.All() != (m.GetScope().GetAllSites() != nil) {
			t.Errorf("a scope became another: %v", m.GetScope())
		}
		again, err := wire.QueryFromProto(wire.QueryToProto(q)).Check()
		if err != nil {
			t.Fatalf("a checked query is refused on the way: %v", err)
		}
		if !proto.Equal(wire.QueryToProto(again), wire.QueryToProto(q)) {
			t.Errorf("%v became %v", q, again)
		}
	})
}
