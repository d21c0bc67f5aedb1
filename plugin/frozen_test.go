package plugin

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
)

var freeze = flag.Bool("freeze", false, "add what is new on the wire to "+frozenWire)

const frozenWire = "testdata/siteprovider.v1.txt"

// A host and a plugin of different years have to understand each other, so
// whatever has once been on the wire stays as it was.
func TestTheWireIsFrozen(t *testing.T) {
	committed, err := os.ReadFile(frozenWire)
	if err != nil {
		t.Fatal(err)
	}
	frozen := strings.FieldsFunc(string(committed), func(r rune) bool { return r == '\n' || r == '\r' })
	current := wireFacts()
	broken, added := changes(frozen, current)
	for _, line := range broken {
		t.Errorf("no longer on the wire: %s", line)
	}
	if len(broken) > 0 {
		t.Error(`Hosts and plugins that are installed already depend on each of these.
Put them back as they were: what changes its meaning or type gets a new name and a
new number, beside the old one, which is kept and may be marked as deprecated.
What really has to break them is siteprovider.v2, with a ProtocolVersion of its own.`)
		return
	}
	if len(added) == 0 {
		return
	}
	if !*freeze {
		t.Errorf("new on the wire:\n%s\nThat is allowed, and frozen from now on:\n\n\tgo test ./plugin -run TestTheWireIsFrozen -freeze\n\nand commit %s.",
			strings.Join(added, "\n"), frozenWire)
		return
	}
	if err := os.WriteFile(frozenWire, []byte(strings.Join(current, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// changes compares what is frozen with what is there now.
func changes(frozen, current []string) (broken, added []string) {
	for _, line := range frozen {
		if !slices.Contains(current, line) {
			broken = append(broken, line)
		}
	}
	for _, line := range current {
		if !slices.Contains(frozen, line) {
			added = append(added, line)
		}
	}
	return broken, added
}

// wireFacts says all that two programs have to agree on, a line for each.
func wireFacts() []string {
	facts := []string{
		fmt.Sprintf("protocol version %d of go-plugin core %d", ProtocolVersion, goplugin.CoreProtocolVersion),
		fmt.Sprintf("cookie %s=%s", CookieKey, CookieValue),
		fmt.Sprintf("health service %s", goplugin.GRPCServiceName),
		fmt.Sprintf("variables %s=stdin %s %s", LeaseEnv, LogLevelEnv, socketDirEnv),
	}
	file := pb.File_siteprovider_v1_provider_proto
	each(file.Services().Len, file.Services().Get, func(s protoreflect.ServiceDescriptor) {
		each(s.Methods().Len, s.Methods().Get, func(m protoreflect.MethodDescriptor) {
			facts = append(facts, fmt.Sprintf("call /%s/%s(%s%s) %s%s", s.FullName(), m.Name(),
				streamed(m.IsStreamingClient()), m.Input().FullName(), streamed(m.IsStreamingServer()), m.Output().FullName()))
		})
	})
	each(file.Enums().Len, file.Enums().Get, func(e protoreflect.EnumDescriptor) { facts = append(facts, enumFacts(e)...) })
	each(file.Messages().Len, file.Messages().Get, func(m protoreflect.MessageDescriptor) { facts = append(facts, messageFacts(m)...) })
	return facts
}

func messageFacts(m protoreflect.MessageDescriptor) []string {
	facts := []string{fmt.Sprintf("message %s", m.FullName())}
	each(m.Fields().Len, m.Fields().Get, func(f protoreflect.FieldDescriptor) {
		kind := f.Kind().String()
		switch {
		case f.IsMap():
			kind = fmt.Sprintf("map from %v to %v", f.MapKey().Kind(), f.MapValue().Kind())
		case f.Message() != nil:
			kind = string(f.Message().FullName())
		case f.Enum() != nil:
			kind = string(f.Enum().FullName())
		}
		fact := fmt.Sprintf("field %s = %d: %v %s", f.FullName(), f.Number(), f.Cardinality(), kind)
		if f.IsPacked() {
			fact += ", packed"
		}
		if f.HasPresence() {
			fact += ", with presence"
		}
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
			fact += ", one of " + string(o.Name())
		}
		facts = append(facts, fact)
	})
	each(m.Enums().Len, m.Enums().Get, func(e protoreflect.EnumDescriptor) { facts = append(facts, enumFacts(e)...) })
	each(m.Messages().Len, m.Messages().Get, func(inner protoreflect.MessageDescriptor) {
		facts = append(facts, messageFacts(inner)...)
	})
	return facts
}

func enumFacts(e protoreflect.EnumDescriptor) []string {
	facts := []string{fmt.Sprintf("enum %s", e.FullName())}
	each(e.Values().Len, e.Values().Get, func(v protoreflect.EnumValueDescriptor) {
		facts = append(facts, fmt.Sprintf("value %s.%s = %d", e.FullName(), v.Name(), v.Number()))
	})
	return facts
}

func streamed(is bool) string {
	if is {
		return "stream "
	}
	return ""
}

// each calls f with the members of one of protobuf's lists.
func each[D any](length func() int, get func(int) D, f func(D)) {
	for i := range length() {
		f(get(i))
	}
}

// The comparison sees every kind of change that breaks somebody.
func TestABrokenWireIsNoticed(t *testing.T) {
	now := wireFacts()
	for what, change := range map[string][2]string{
		"a field's number":          {"Hit.url = 1:", "Hit.url = 9:"},
		"a field's name":            {"field siteprovider.v1.Hit.url ", "field siteprovider.v1.Hit.address "},
		"a field's type":            {"SearchRequest.limit = 4: optional int32", "SearchRequest.limit = 4: optional int64"},
		"a list that was one":       {"Hit.types = 4: repeated", "Hit.types = 4: optional"},
		"a field's presence":        {"Answer.text = 1: optional string, with presence", "Answer.text = 1: optional string"},
		"a field that left a oneof": {"Value.text = 1: optional string, with presence, one of kind", "Value.text = 1: optional string"},
		"a call's name":             {"/siteprovider.v1.Provider/Search(", "/siteprovider.v1.Provider/Find("},
		"a call that streams":       {") siteprovider.v1.SearchResponse", ") stream siteprovider.v1.SearchResponse"},
		"an enum's value":           {"Op.OP_IN = 7", "Op.OP_IN = 8"},
		"the cookie":                {"cookie " + CookieKey, "cookie OTHER"},
	} {
		var then []string
		for _, line := range now {
			then = append(then, strings.Replace(line, change[0], change[1], 1))
		}
		if broken, added := changes(then, now); len(broken) != 1 || len(added) != 1 {
			t.Errorf("%s changed: broken %q, added %q, want one of each", what, broken, added)
		}
	}
	if broken, added := changes(now[1:], now); len(broken) != 0 || len(added) != 1 {
		t.Errorf("an addition: broken %q, added %q, want it added and nothing broken", broken, added)
	}
}
