package goodmem

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// Memory is what a server stores: a content, its metadata, and how far its
// indexing is.
type Memory struct {
	ID          string // in lower case
	SpaceID     string
	ContentType string
	// ProcessingStatus is PENDING, PROCESSING, COMPLETED or FAILED.
	ProcessingStatus string
	// Metadata is a JSON object, or nil. Servers give whole numbers in it as
	// decimals, such as 2026.0.
	Metadata json.RawMessage
	// Content is nil unless it was asked for.
	Content []byte
	// CreatedAt and UpdatedAt are milliseconds since 1970, UTC; 0 when unknown.
	CreatedAt, UpdatedAt int64
}

// MetadataText returns a field of the metadata; "" when it is no text.
func (m Memory) MetadataText(field string) string {
	var value string
	gjson.ParseBytes(m.Metadata).ForEach(func(k, v gjson.Result) bool {
		if k.Str == field && v.Type == gjson.String {
			value = v.Str
		}
		return k.Str != field
	})
	return value
}

// readMemory reads a memory from valid JSON. What has another type than it
// should is left out: it is not worth a search.
func readMemory(v gjson.Result) Memory {
	var m Memory
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "memoryId":
			m.ID = strings.ToLower(text(v))
		case "spaceId":
			m.SpaceID = strings.ToLower(text(v))
		case "contentType":
			m.ContentType = text(v)
		case "processingStatus":
			m.ProcessingStatus = text(v)
		case "metadata":
			m.Metadata = object(v)
		case "originalContent":
			if b, err := base64.StdEncoding.DecodeString(text(v)); err == nil && v.Type == gjson.String {
				m.Content = b
			}
		case "createdAt":
			m.CreatedAt = whole(v)
		case "updatedAt":
			m.UpdatedAt = whole(v)
		}
		return true
	})
	return m
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

func object(v gjson.Result) json.RawMessage {
	if !v.IsObject() {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// whole reads a whole number, also one written as 3.0 or 3e0; 0 if it is none.
func whole(v gjson.Result) int64 {
	if v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || math.Abs(v.Num) > 1<<53 {
		return 0
	}
	return int64(v.Num)
}
