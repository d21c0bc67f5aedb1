package wire

import (
	"strings"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/provider"
)

// DocumentToProto converts a checked document.
func DocumentToProto(d provider.Document) *pb.Document {
	return &pb.Document{
		Url:      d.URL,
		Site:     d.Site,
		Schema:   d.Schema,
		Name:     d.Name,
		Types:    d.Types,
		Text:     d.Text,
		Language: d.Language,
	}
}

// DocumentFromProto converts m, unchecked.
func DocumentFromProto(m *pb.Document) provider.Document {
	return provider.Document{
		URL:      m.GetUrl(),
		Site:     m.GetSite(),
		Schema:   m.GetSchema(),
		Name:     m.GetName(),
		Types:    m.GetTypes(),
		Text:     m.GetText(),
		Language: m.GetLanguage(),
	}
}

var outcomeToProto = map[provider.Outcome]pb.Outcome{
	provider.Stored:     pb.Outcome_OUTCOME_STORED,
	provider.Unchanged:  pb.Outcome_OUTCOME_UNCHANGED,
	provider.Pending:    pb.Outcome_OUTCOME_PENDING,
	provider.Superseded: pb.Outcome_OUTCOME_SUPERSEDED,
	provider.Failed:     pb.Outcome_OUTCOME_FAILED,
	provider.Unknown:    pb.Outcome_OUTCOME_UNKNOWN,
}

var outcomeFromProto = inverse(outcomeToProto)

// PutResultToProto converts r.
func PutResultToProto(r provider.PutResult) *pb.PutResult {
	m := &pb.PutResult{Site: text(r.Site), Url: text(r.URL), Outcome: outcomeToProto[r.Outcome]}
	switch {
	case r.Err != nil:
		m.Error = ErrorToProto(r.Err)
	case r.Outcome == provider.Failed || r.Outcome == provider.Unknown:
		m.Error = ErrorToProto(provider.Errorf(provider.ErrInternal, "the provider gave no reason"))
	}
	return m
}

// PutResultFromProto converts m. An outcome that is missing, or not known to
// this version, becomes Unknown and never counts as kept.
func PutResultFromProto(m *pb.PutResult) provider.PutResult {
	r := provider.PutResult{Site: m.GetSite(), URL: m.GetUrl()}
	outcome, known := outcomeFromProto[m.GetOutcome()]
	switch {
	case !known:
		r.Outcome = provider.Unknown
		r.Err = provider.Errorf(provider.ErrInternal, "the plugin reports the outcome %s", m.GetOutcome())
	case outcome == provider.Failed || outcome == provider.Unknown:
		r.Outcome, r.Err = outcome, ErrorFromProto(m.GetError())
	default:
		r.Outcome = outcome
	}
	return r
}

// SelectorToProto converts a checked selector.
func SelectorToProto(s provider.Selector) *pb.DeleteRequest {
	return &pb.DeleteRequest{Site: s.Site, Urls: s.URLs, WholeSite: s.WholeSite}
}

// SelectorFromProto converts m, unchecked.
func SelectorFromProto(m *pb.DeleteRequest) provider.Selector {
	return provider.Selector{Site: m.GetSite(), URLs: m.GetUrls(), WholeSite: m.GetWholeSite()}
}

// text makes s fit for a string field, which has to be valid UTF-8. It is for
// what is read by people; an identity that is not UTF-8 is left alone and
// fails the call rather than name another document.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func texts(list []string) []string {
	for i, s := range list {
		if fixed := text(s); fixed != s {
			out := append([]string(nil), list...)
			for j := i; j < len(out); j++ {
				out[j] = text(out[j])
			}
			return out
		}
	}
	return list
}
