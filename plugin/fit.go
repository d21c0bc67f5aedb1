package plugin

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"
	"github.com/siteprovider/siteprovider/plugin/internal/wire"
	"github.com/siteprovider/siteprovider/provider"
)

// fitting returns how many of the first items one reply may hold: as many as
// stay within MaxReplyBytes, and never none, because no single item is larger.
func fitting[M proto.Message](items []M) int {
	const framing = 8 // field tag and length of an item
	room := provider.MaxReplyBytes
	for i, item := range items {
		room -= proto.Size(item) + framing
		if room < 0 && i > 0 {
			return i
		}
	}
	return len(items)
}

// fitResult converts a result to a message that can be sent. Providers keep
// the objects of a result within MaxReplyBytes; this is for one that does not,
// and for names and types, whose limits add up to more than a message holds.
func fitResult(r *provider.Result) *pb.SearchResponse {
	m := wire.ResultToProto(r)
	if proto.Size(m) <= provider.MaxMessageBytes {
		return m
	}
	fitted := *r
	fitted.Hits, fitted.Statuses = slices.Clone(r.Hits), slices.Clone(r.Statuses)
	fitted.Fit()
	m = wire.ResultToProto(&fitted)

	const statusRoom = 1 << 10 // for the status that this may add
	size, bare := proto.Size(m)+statusRoom, 0
	for i := len(m.Hits) - 1; i >= 0 && size > provider.MaxMessageBytes; i-- {
		hit := m.Hits[i]
		size -= proto.Size(hit)
		hit.Name, hit.Types = "", nil
		size += proto.Size(hit)
		bare++
	}
	if bare > 0 {
		m.Degraded = true
		m.Statuses = append(m.Statuses, &pb.Status{
			Code:    provider.StatusResultTruncated,
			Message: fmt.Sprintf("the last %d hits came without name and types: the reply would have been over %d bytes", bare, provider.MaxMessageBytes),
			Kind:    pb.StatusKind_STATUS_KIND_PROBLEM,
		})
	}
	return m
}
