package wire_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// roundTrips converts a message to Go and back, for every message that the
// wire's calls consist of.
var roundTrips = []func(proto.Message) proto.Message{
	roundTrip(wire.QueryFromProto, wire.QueryToProto),
	roundTrip(wire.ResultFromProto, wire.ResultToProto),
	roundTrip(wire.LookupFromProto, wire.LookupToProto),
	roundTrip(wire.ObjectFromProto, wire.ObjectToProto),
	roundTrip(wire.ListQueryFromProto, wire.ListQueryToProto),
	roundTrip(wire.EntriesFromProto, wire.EntriesToProto),
	roundTrip(wire.SiteFromProto, wire.SiteToProto),
	roundTrip(wire.DocumentFromProto, wire.DocumentToProto),
	roundTrip(wire.PutResultFromProto, wire.PutResultToProto),
	roundTrip(wire.ErrorFromProto, wire.ErrorToProto),
	roundTrip(wire.SelectorFromProto, wire.SelectorToProto),
	roundTrip(wire.InfoFromProto, wire.InfoToProto),
}

func roundTrip[M proto.Message, V any](from func(M) V, to func(V) M) func(proto.Message) proto.Message {
	return func(m proto.Message) proto.Message {
		if m == nil {
			var zero M
			return zero
		}
		return to(from(m.(M)))
	}
}

// inAdapters are the fields that the adapters of package plugin handle without
// a converter.
var inAdapters = map[protoreflect.FullName]bool{
	"siteprovider.v1.ConfigureRequest.settings": true,
	"siteprovider.v1.GetResponse.objects":       true,
	"siteprovider.v1.SitesRequest.after":        true,
	"siteprovider.v1.SitesResponse.sites":       true,
	"siteprovider.v1.SitesResponse.more":        true,
	"siteprovider.v1.PutRequest.documents":      true,
	"siteprovider.v1.PutResponse.results":       true,
	"siteprovider.v1.DeleteResponse.documents":  true,
}

// A field that is added to the wire and forgotten in Go fails here: it is lost
// on the way through a converter, or belongs to no converter at all.
func TestEveryFieldOfTheWireIsConverted(t *testing.T) {
	covered := make(map[protoreflect.FullName]bool)
	for _, convert := range roundTrips {
		kind := convert(nil).ProtoReflect().Type()
		for variant := range 12 { // more than any oneof or enum has
			filled := kind.New()
			fill(filled, variant, 0, covered)
			want := filled.Interface()
			if got := convert(want); !proto.Equal(got, want) {
				t.Errorf("%s, variant %d:\n got %v\nwant %v", kind.Descriptor().Name(), variant, got, want)
			}
		}
	}
	messages := pb.File_siteprovider_v1_provider_proto.Messages()
	for i := range messages.Len() {
		fields := messages.Get(i).Fields()
		for j := range fields.Len() {
			if name := fields.Get(j).FullName(); covered[name] == inAdapters[name] {
				t.Errorf("%s: covered by a converter: %v, by the adapters: %v", name, covered[name], inAdapters[name])
			}
		}
	}
}

// fill sets every field of m to something other than its zero, of a oneof the
// member and of an enum the value that variant picks.
func fill(m protoreflect.Message, variant, depth int, covered map[protoreflect.FullName]bool) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if oneof := field.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
			pick := variant % oneof.Fields().Len()
			if depth > 3 {
				pick = 0 // a list of lists ends here
			}
			if oneof.Fields().Get(pick) != field {
				continue
			}
		}
		// The contract ties the error of a result to its outcome.
		if field.FullName() == "siteprovider.v1.PutResult.error" {
			outcome := pb.Outcome(m.Get(fields.ByName("outcome")).Enum())
			if outcome != pb.Outcome_OUTCOME_FAILED && outcome != pb.Outcome_OUTCOME_UNKNOWN {
				continue
			}
		}
		// A context error is about no argument.
		if field.FullName() == "siteprovider.v1.Error.arg" {
			kind := pb.ErrorKind(m.Get(fields.ByName("kind")).Enum())
			if kind == pb.ErrorKind_ERROR_KIND_DEADLINE_EXCEEDED || kind == pb.ErrorKind_ERROR_KIND_CANCELED {
				continue
			}
		}
		covered[field.FullName()] = true
		if field.IsList() {
			list := m.Mutable(field).List()
			for k := range 2 {
				if field.Message() != nil {
					fill(list.AppendMutable().Message(), variant+k, depth+1, covered)
				} else {
					list.Append(scalar(field, variant+k))
				}
			}
			continue
		}
		if field.Message() != nil {
			fill(m.Mutable(field).Message(), variant, depth+1, covered)
			continue
		}
		m.Set(field, scalar(field, variant))
	}
}

func scalar(field protoreflect.FieldDescriptor, variant int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(7 + variant))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(math.MaxInt32) * int64(2+variant))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1.5 + float64(variant))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%s %d ü", field.Name(), variant))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(fmt.Sprintf(`{"%s": %d}`, field.Name(), variant)))
	case protoreflect.EnumKind:
		values := field.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(1 + variant%(values.Len()-1)).Number())
	}
	panic("no value for a field of kind " + field.Kind().String())
}

// What messages can say and Go values cannot becomes something that a check
// refuses, or that counts as the worse.
func TestWhatGoCannotSay(t *testing.T) {
	query := func(m *pb.SearchRequest) func() error {
		return func() error { _, err := wire.QueryFromProto(m).Check(); return err }
	}
	all := &pb.Scope{Scope: &pb.Scope_AllSites{AllSites: &pb.AllSites{}}}
	condition := func(op pb.Op, v *pb.Value) *pb.SearchRequest {
		return &pb.SearchRequest{Text: "x", Scope: all, Filter: []*pb.Condition{{Path: "p", Op: op, Value: v}}}
	}
	number := &pb.Value{Kind: &pb.Value_Number{Number: 1}}
	nested := &pb.Value{Kind: &pb.Value_List{List: &pb.ValueList{Values: []*pb.Value{{Kind: &pb.Value_List{List: &pb.ValueList{}}}}}}}
	for name, check := range map[string]func() error{
		"no scope":                    query(&pb.SearchRequest{Text: "x"}),
		"a scope that says nothing":   query(&pb.SearchRequest{Text: "x", Scope: &pb.Scope{}}),
		"a list that is not there":    query(&pb.SearchRequest{Text: "x", Scope: &pb.Scope{Scope: &pb.Scope_Sites{}}}),
		"an empty list of sites":      query(&pb.SearchRequest{Text: "x", Scope: &pb.Scope{Scope: &pb.Scope_Sites{Sites: &pb.SiteList{}}}}),
		"a blank site":                query(&pb.SearchRequest{Text: "x", Scope: &pb.Scope{Scope: &pb.Scope_Sites{Sites: &pb.SiteList{Sites: []string{" "}}}}}),
		"no operator":                 query(condition(pb.Op_OP_UNSPECIFIED, number)),
		"an operator of the future":   query(condition(99, number)),
		"no value":                    query(condition(pb.Op_OP_EQUAL, nil)),
		"a value that says nothing":   query(condition(pb.Op_OP_EQUAL, &pb.Value{})),
		"a list in a list":            query(condition(pb.Op_OP_IN, nested)),
		"an infinite number":          query(condition(pb.Op_OP_LESS, &pb.Value{Kind: &pb.Value_Number{Number: math.Inf(1)}})),
		"a negative limit":            query(&pb.SearchRequest{Text: "x", Scope: all, Limit: -1}),
		"a lookup without a scope":    func() error { _, err := wire.LookupFromProto(&pb.GetRequest{Urls: []string{"u"}}).Check(); return err },
		"a deletion of nothing":       func() error { _, err := wire.SelectorFromProto(&pb.DeleteRequest{Site: "s"}).Check(); return err },
		"a deletion without a site":   func() error { _, err := wire.SelectorFromProto(&pb.DeleteRequest{WholeSite: true}).Check(); return err },
		"a list query without a site": func() error { _, err := wire.ListQueryFromProto(&pb.ListRequest{}).Check(); return err },
		"a condition that is null":    query(&pb.SearchRequest{Text: "x", Scope: all, Filter: []*pb.Condition{nil}}),
	} {
		if err := check(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}

	for _, number := range []pb.StatusKind{0, 99} {
		r := wire.ResultFromProto(&pb.SearchResponse{Statuses: []*pb.Status{{Code: "X", Kind: number}}})
		if !r.Degraded || r.Statuses[0].Kind != provider.StatusUnknown {
			t.Errorf("a status of kind %d: %+v, want it unknown and the result degraded", number, r)
		}
	}
	for _, number := range []pb.Outcome{0, 99} {
		if r := wire.PutResultFromProto(&pb.PutResult{Outcome: number}); r.Outcome != provider.Unknown || r.Err == nil {
			t.Errorf("outcome %d: %+v, want Unknown with an error", number, r)
		}
	}
	if r := wire.PutResultFromProto(&pb.PutResult{Outcome: pb.Outcome_OUTCOME_FAILED}); r.Err == nil {
		t.Errorf("a failure without an error: %+v, want some error", r)
	}
}

func TestAnswersKeepWhatIsAbsentAndWhatIsEmpty(t *testing.T) {
	empty := ""
	for name, answer := range map[string]*provider.Answer{
		"no language model": nil, "a failed one": {}, "an empty text": {Text: &empty},
	} {
		got := wire.ResultFromProto(wire.ResultToProto(&provider.Result{Answer: answer})).Answer
		if !reflect.DeepEqual(got, answer) {
			t.Errorf("%s: %+v became %+v", name, answer, got)
		}
	}
}

func TestWordsThatAreNoTextAreMended(t *testing.T) {
	m := wire.ResultToProto(&provider.Result{
		Hits:     []provider.Hit{{Name: "a\xff", Types: []string{"ok", "b\xff"}, Passage: "c\xff", Schema: []byte("{\"x\":\"\xff\"}")}},
		Statuses: []provider.Status{{Code: "d\xff", Message: "e\xff"}},
	})
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	if want := "a\uFFFD"; m.Hits[0].Name != want {
		t.Errorf("name %q, want %q", m.Hits[0].Name, want)
	}
	if want := []byte("{\"x\":\"\xff\"}"); !bytes.Equal(m.Hits[0].Schema, want) {
		t.Errorf("schema %q, want it untouched", m.Hits[0].Schema)
	}
}
