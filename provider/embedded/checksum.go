package embedded

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/siteprovider/siteprovider/provider"
)

// SQLite itself does not notice a byte that changed, so rows have checksums. All
// of them are CRC-32C.

// rowChecksum is that of what a document's row hands out, each column after its
// length.
func rowChecksum(url, name, types, language string, text, schema []byte) uint32 {
	var head []byte
	for _, column := range []string{url, name, types, language} {
		head = binary.AppendUvarint(head, uint64(len(column)))
		head = append(head, column...)
	}
	head = binary.AppendUvarint(head, uint64(len(text)))
	sum := crc32.Update(0, castagnoli, head)
	sum = crc32.Update(sum, castagnoli, text)
	return crc32.Update(sum, castagnoli, schema)
}

// headChecksum is that of what a document is found and listed by.
func headChecksum(site int64, url string, key, version int64, hash []byte) uint32 {
	sum := checksumOf(url, site, key, version, int64(len(url)))
	return crc32.Update(sum, castagnoli, hash)
}

// checkHead compares what a document is found by with its checksum, if there is
// one.
func checkHead(crc, site int64, url string, key, version int64, hash []byte) error {
	head := uint32(crc >> 32)
	if head == 0 || head == headChecksum(site, url, key, version, hash) {
		return nil
	}
	return provider.Errorf(provider.ErrCorrupt,
		"document %s: what it is found by is not as it was stored (wrong checksum); restore the store from a backup, or reindex all of it", url)
}

// documentChecksum joins the two checksums of a document's row.
func documentChecksum(head, row uint32) int64 { return int64(uint64(head)<<32 | uint64(row)) }

// nameChecksum is that of a site's number and name, which nothing ever changes.
func nameChecksum(id int64, name string) int64 { return int64(checksumOf(name, id)) }

// sum is the checksum of all that a site's row says.
func (r siteRow) sum() int64 {
	return int64(checksumOf(r.name, r.id, r.documents, r.generation, r.version))
}

// sum is the checksum of the store's row, apart from its id.
func (r storeRow) sum() int64 {
	return int64(checksumOf("", r.generation, r.dropped, r.count, r.version))
}

// sum is the checksum of the row of a segment of a site.
func (r segmentRow) sum(site int64) int64 {
	return int64(crc32.Update(checksumOf("", site, r.documents, r.bytes, r.format), castagnoli, r.dead))
}

func checksumOf(text string, numbers ...int64) uint32 {
	b := make([]byte, 0, 128)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return crc32.Checksum(append(b, text...), castagnoli)
}

// checkRow compares a row with its checksum.
func checkRow(crc int64, url, name, types, language string, text, schema []byte) error {
	if uint32(crc) == rowChecksum(url, name, types, language, text, schema) {
		return nil
	}
	return provider.Errorf(provider.ErrCorrupt,
		"document %s: it is not as it was stored (wrong checksum); delete it and ingest it again, or restore the store from a backup", url)
}
