package plugin

import (
	"google.golang.org/protobuf/proto"

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
