package embedded

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/siteprovider/siteprovider/provider"
)

// rowChecksum is the CRC-32C of what a document's row hands out, each column
// after its length. SQLite itself does not notice a byte that changed.
func rowChecksum(url, name, types, language string, text, schema []byte) int64 {
	var head []byte
	for _, column := range []string{url, name, types, language} {
		head = binary.AppendUvarint(head, uint64(len(column)))
		head = append(head, column...)
	}
	head = binary.AppendUvarint(head, uint64(len(text)))
	sum := crc32.Update(0, castagnoli, head)
	sum = crc32.Update(sum, castagnoli, text)
	return int64(crc32.Update(sum, castagnoli, schema))
}

// checkRow compares a row with its checksum.
func checkRow(crc int64, url, name, types, language string, text, schema []byte) error {
	if crc == rowChecksum(url, name, types, language, text, schema) {
		return nil
	}
	return provider.Errorf(provider.ErrCorrupt,
		"document %s: it is not as it was stored (wrong checksum); delete it and ingest it again, or restore the store from a backup", url)
}
