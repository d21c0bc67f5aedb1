package wire

import (
	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

// ScopeToProto converts a checked scope.
func ScopeToProto(s provider.Scope) *pb.Scope {
	if s.All() {
		return &pb.Scope{Scope: &pb.Scope_AllSites{AllSites: &pb.AllSites{}}}
	}
	return &pb.Scope{Scope: &pb.Scope_Sites{Sites: &pb.SiteList{Sites: s.Sites()}}}
}

// ScopeFromProto converts m. A scope that is absent or says nothing becomes
// the zero Scope, which every check refuses.
func ScopeFromProto(m *pb.Scope) provider.Scope {
	switch m := m.GetScope().(type) {
	case *pb.Scope_AllSites:
		return provider.AllSites()
	case *pb.Scope_Sites:
		return provider.InSites(m.Sites.GetSites()...)
	}
	return provider.Scope{}
}
