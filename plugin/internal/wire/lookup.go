package wire

import (
	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

// LookupToProto converts a checked lookup.
func LookupToProto(l provider.Lookup) *pb.GetRequest {
	return &pb.GetRequest{Urls: l.URLs, Scope: ScopeToProto(l.Scope)}
}

// LookupFromProto converts m, unchecked.
func LookupFromProto(m *pb.GetRequest) provider.Lookup {
	return provider.Lookup{URLs: m.GetUrls(), Scope: ScopeFromProto(m.GetScope())}
}

// ObjectToProto converts o.
func ObjectToProto(o provider.Object) *pb.Object {
	return &pb.Object{Url: o.URL, Site: o.Site, Found: o.Found, Ambiguous: o.Ambiguous, Schema: o.Schema}
}

// ObjectFromProto converts m.
func ObjectFromProto(m *pb.Object) provider.Object {
	return provider.Object{
		URL:       m.GetUrl(),
		Site:      m.GetSite(),
		Found:     m.GetFound(),
		Ambiguous: m.GetAmbiguous(),
		Schema:    m.GetSchema(),
	}
}

// ListQueryToProto converts a checked query.
func ListQueryToProto(q provider.ListQuery) *pb.ListRequest {
	return &pb.ListRequest{Site: q.Site, After: q.After, Limit: int32(q.Limit)}
}

// ListQueryFromProto converts m, unchecked.
func ListQueryFromProto(m *pb.ListRequest) provider.ListQuery {
	return provider.ListQuery{Site: m.GetSite(), After: m.GetAfter(), Limit: int(m.GetLimit())}
}

// EntriesToProto converts a page of entries.
func EntriesToProto(entries []provider.Entry) *pb.ListResponse {
	m := &pb.ListResponse{Entries: make([]*pb.Entry, len(entries))}
	for i, e := range entries {
		m.Entries[i] = &pb.Entry{Url: e.URL, Hash: text(e.Hash), Indexed: e.Indexed}
	}
	return m
}

// EntriesFromProto converts m.
func EntriesFromProto(m *pb.ListResponse) []provider.Entry {
	var out []provider.Entry
	for _, e := range m.GetEntries() {
		out = append(out, provider.Entry{URL: e.GetUrl(), Hash: e.GetHash(), Indexed: e.GetIndexed()})
	}
	return out
}

// SiteToProto converts s.
func SiteToProto(s provider.Site) *pb.SiteCount {
	return &pb.SiteCount{Site: s.Site, Documents: s.Documents}
}

// SiteFromProto converts m.
func SiteFromProto(m *pb.SiteCount) provider.Site {
	return provider.Site{Site: m.GetSite(), Documents: m.GetDocuments()}
}

// InfoToProto converts i.
func InfoToProto(i provider.Info) *pb.InfoResponse {
	m := &pb.InfoResponse{
		Name:      text(i.Name),
		Version:   text(i.Version),
		Backend:   text(i.Backend),
		Documents: i.Documents,
	}
	for _, c := range i.Capabilities {
		m.Capabilities = append(m.Capabilities, text(string(c)))
	}
	return m
}

// InfoFromProto converts m.
func InfoFromProto(m *pb.InfoResponse) provider.Info {
	i := provider.Info{
		Name:      m.GetName(),
		Version:   m.GetVersion(),
		Backend:   m.GetBackend(),
		Documents: m.GetDocuments(),
	}
	for _, c := range m.GetCapabilities() {
		i.Capabilities = append(i.Capabilities, provider.Capability(c))
	}
	return i
}
