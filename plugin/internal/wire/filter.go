package wire

import (
	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

var opToProto = map[provider.Op]pb.Op{
	provider.Equal:        pb.Op_OP_EQUAL,
	provider.NotEqual:     pb.Op_OP_NOT_EQUAL,
	provider.Less:         pb.Op_OP_LESS,
	provider.LessEqual:    pb.Op_OP_LESS_EQUAL,
	provider.Greater:      pb.Op_OP_GREATER,
	provider.GreaterEqual: pb.Op_OP_GREATER_EQUAL,
	provider.In:           pb.Op_OP_IN,
	provider.Exists:       pb.Op_OP_EXISTS,
}

var opFromProto = inverse(opToProto)

// FilterToProto converts a checked filter.
func FilterToProto(f provider.Filter) []*pb.Condition {
	var out []*pb.Condition
	for _, c := range f {
		out = append(out, &pb.Condition{Path: c.Path, Op: opToProto[c.Op], Value: valueToProto(c.Value)})
	}
	return out
}

// FilterFromProto converts conditions. An operator that this version does not
// know becomes its name on the wire, which every check refuses.
func FilterFromProto(conditions []*pb.Condition) provider.Filter {
	var out provider.Filter
	for _, c := range conditions {
		op, known := opFromProto[c.GetOp()]
		if !known {
			op = provider.Op(c.GetOp().String())
		}
		out = append(out, provider.Condition{Path: c.GetPath(), Op: op, Value: valueFromProto(c.GetValue())})
	}
	return out
}

func valueToProto(v any) *pb.Value {
	switch v := v.(type) {
	case string:
		return &pb.Value{Kind: &pb.Value_Text{Text: v}}
	case float64:
		return &pb.Value{Kind: &pb.Value_Number{Number: v}}
	case bool:
		return &pb.Value{Kind: &pb.Value_Boolean{Boolean: v}}
	case []any:
		list := &pb.ValueList{}
		for _, member := range v {
			list.Values = append(list.Values, valueToProto(member))
		}
		return &pb.Value{Kind: &pb.Value_List{List: list}}
	}
	return nil
}

func valueFromProto(m *pb.Value) any {
	switch m := m.GetKind().(type) {
	case *pb.Value_Text:
		return m.Text
	case *pb.Value_Number:
		return m.Number
	case *pb.Value_Boolean:
		return m.Boolean
	case *pb.Value_List:
		list := make([]any, 0, len(m.List.GetValues()))
		for _, member := range m.List.GetValues() {
			list = append(list, valueFromProto(member))
		}
		return list
	}
	return nil
}

func inverse[K, V comparable](m map[K]V) map[V]K {
	out := make(map[V]K, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}
