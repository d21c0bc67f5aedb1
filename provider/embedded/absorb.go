package embedded

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// fanOut is how many segments of one size class are merged into one.
	fanOut = 4
	// maxTurnBytes bounds what a write rewrites of segments besides its own,
	// and so how long it takes. Larger merges are the keeper's.
	maxTurnBytes = 2 << 20
	// maxMergeBytes bounds what one merge rewrites, and so how long it holds
	// up others that write.
	maxMergeBytes = 32 << 20
	// chunkBytes is what a row of a segment has of it: as much as fills, with
	// the row's own numbers, three pages but for an eighth of another. SQLite
	// asks the system for the memory of each larger value, which costs more
	// than reading it. Rows of older programs have 1 MiB.
	chunkBytes = 25_536
)

// toAbsorb returns the segments that are to be rewritten together with new
// documents: those of which half is dead, and, once there would be fanOut
// segments of a size class, all of that class and below. So a site has a few
// segments of each class, and a document is rewritten once for each.
func toAbsorb(rows []segmentRow, added int64) []segmentRow {
	left := slices.Clone(rows)
	slices.SortStableFunc(left, func(a, b segmentRow) int { return cmp.Compare(a.living(), b.living()) })
	var list []segmentRow
	var bytes int64
	documents := added
	take := func(which func(segmentRow) bool) {
		left = slices.DeleteFunc(left, func(r segmentRow) bool {
			living := r.living()
			if !which(r) || living > 0 && bytes+r.bytes > maxTurnBytes {
				return false
			}
			list = append(list, r)
			if living > 0 {
				bytes += r.bytes
			}
			documents += living
			return true
		})
	}
	take(func(r segmentRow) bool { return 2*r.living() <= r.documents })
	for added > 0 {
		class, peers := sizeClass(documents), 1
		for _, r := range left {
			if sizeClass(r.living()) == class {
				peers++
			}
		}
		if before := documents; peers >= fanOut {
			take(func(r segmentRow) bool { return sizeClass(r.living()) <= class })
			if documents > before {
				continue
			}
		}
		break
	}
	return list
}

// sizeClass is 0 for fewer than fanOut documents, and one more for each time as
// many.
func sizeClass(documents int64) int { return (bits.Len64(uint64(max(documents, 1))) - 1) / 2 }
