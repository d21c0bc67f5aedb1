package wire

import (
	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

// QueryToProto converts a checked query.
func QueryToProto(q provider.Query) *pb.SearchRequest {
	return &pb.SearchRequest{
		Text:   q.Text,
		Scope:  ScopeToProto(q.Scope),
		Filter: FilterToProto(q.Filter),
		Limit:  int32(q.Limit),
	}
}

// QueryFromProto converts m, unchecked.
func QueryFromProto(m *pb.SearchRequest) provider.Query {
	return provider.Query{
		Text:   m.GetText(),
		Scope:  ScopeFromProto(m.GetScope()),
		Filter: FilterFromProto(m.GetFilter()),
		Limit:  int(m.GetLimit()),
	}
}

// ResultToProto converts r.
func ResultToProto(r *provider.Result) *pb.SearchResponse {
	m := &pb.SearchResponse{
		Hits:      make([]*pb.Hit, len(r.Hits)),
		Degraded:  r.Degraded,
		ScoreKind: text(string(r.ScoreKind)),
	}
	for i, h := range r.Hits {
		m.Hits[i] = &pb.Hit{
			Url:     h.URL,
			Site:    h.Site,
			Name:    text(h.Name),
			Types:   texts(h.Types),
			Schema:  h.Schema,
			Passage: text(h.Passage),
		}
	}
	for _, st := range r.Statuses {
		kind, known := statusKindToProto[st.Kind]
		if !known {
			kind = pb.StatusKind_STATUS_KIND_UNKNOWN
		}
		m.Statuses = append(m.Statuses, &pb.Status{Code: text(st.Code), Message: text(st.Message), Kind: kind})
	}
	if r.Answer != nil {
		m.Answer = &pb.Answer{}
		if r.Answer.Text != nil {
			words := text(*r.Answer.Text)
			m.Answer.Text = &words
		}
	}
	return m
}

// ResultFromProto converts m. A status of a kind that this version does not
// know counts as a problem.
func ResultFromProto(m *pb.SearchResponse) *provider.Result {
	r := &provider.Result{ScoreKind: provider.ScoreKind(m.GetScoreKind())}
	if hits := m.GetHits(); len(hits) > 0 {
		r.Hits = make([]provider.Hit, len(hits))
		for i, h := range hits {
			r.Hits[i] = provider.Hit{
				URL:     h.GetUrl(),
				Site:    h.GetSite(),
				Name:    h.GetName(),
				Types:   h.GetTypes(),
				Schema:  h.GetSchema(),
				Passage: h.GetPassage(),
			}
		}
	}
	for _, st := range m.GetStatuses() {
		kind, known := statusKindFromProto[st.GetKind()]
		if !known {
			kind = provider.StatusUnknown
		}
		r.AddStatus(provider.Status{Code: st.GetCode(), Message: st.GetMessage(), Kind: kind})
	}
	r.Degraded = r.Degraded || m.GetDegraded()
	if m.Answer != nil {
		r.Answer = &provider.Answer{Text: m.Answer.Text}
	}
	return r
}

var statusKindToProto = map[provider.StatusKind]pb.StatusKind{
	provider.StatusProblem: pb.StatusKind_STATUS_KIND_PROBLEM,
	provider.StatusUnknown: pb.StatusKind_STATUS_KIND_UNKNOWN,
	provider.StatusNotice:  pb.StatusKind_STATUS_KIND_NOTICE,
}

var statusKindFromProto = inverse(statusKindToProto)
