package goodmemtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// The states of a memory, as on the wire.
const (
	Pending    = "PENDING"
	Processing = "PROCESSING"
	Completed  = "COMPLETED"
	Failed     = "FAILED"
)

// Memory is what the server holds of a memory.
type Memory struct {
	ID          string
	SpaceID     string
	Content     []byte
	ContentType string
	Metadata    map[string]any // numbers are float64
	Status      string
	Created     time.Time
}

// memory is a memory; state and what follows are guarded by the server's lock,
// the rest never changes.
type memory struct {
	id, spaceID string
	space       *space
	content     []byte
	inline      bool // there is content, though it may be empty
	sha         string
	ref         string
	contentType string
	metadata    *metadata
	chunking    *chunking // given with the memory
	chunks      []*chunk
	created     int64
	actor       string
	job         int64

	state   string
	reason  string // of a failure
	updated int64
	indexed bool
	gone    bool
}

// chunk is a stretch of a memory's text.
type chunk struct {
	memory     *memory
	id         string
	number     int
	text       string
	start, end int
	metadata   string // JSON, or empty
	created    int64
	terms      map[string]int
	length     int // in words
}

// texts yields the texts of the top-level fields that filters compare.
func (m *memory) texts() iter.Seq[filter.Equality] {
	return func(yield func(filter.Equality) bool) {
		if m.metadata == nil {
			return
		}
		for name, v := range m.metadata.fields {
			s, ok := filter.TextOf(v)
			if ok && len(s) <= longestText && !yield(filter.Equality{Field: name, Value: s}) {
				return
			}
		}
	}
}

// fields is the metadata for filters.
func (m *memory) fields() map[string]any {
	if m.metadata == nil {
		return nil
	}
	return m.metadata.fields
}

func (m *memory) public() Memory {
	return Memory{
		ID: m.id, SpaceID: m.spaceID, Content: m.content, ContentType: m.contentType, Metadata: m.fields(),
		Status: m.state, Created: time.UnixMilli(m.created),
	}
}

// prepare cuts the content into chunks, outside of the lock.
func (m *memory) prepare(how *chunking) {
	sum := sha256.Sum256(m.content)
	m.sha = hex.EncodeToString(sum[:])
	text, ok := extract(m.content, m.contentType)
	if !ok || !m.inline {
		return
	}
	pages := ""
	if text.pages > 0 {
		// Chunks are not told apart by page here.
		pages = `{"source_page_count":` + strconv.Itoa(text.pages) + `.0,"source_page_end_index":` + strconv.Itoa(text.pages-1) +
			`.0,"source_page_start_index":0.0}`
	}
	from, offset := 0, 0
	for i, p := range how.cut(text.text) {
		offset += units(text.text[from:p.start])
		from = p.start
		ch := &chunk{memory: m, number: i, text: text.text[p.start:p.end], start: offset, metadata: pages, terms: make(map[string]int)}
		ch.end = ch.start + units(ch.text)
		for _, w := range words(ch.text) {
			ch.terms[w]++
			ch.length++
		}
		m.chunks = append(m.chunks, ch)
	}
}

func decomposed(s string) string { return norm.NFKD.String(s) }

// view says what of a memory is shown.
type view struct {
	created bool // the answer of a create, which knows less
	content bool
	history bool
}

func (c *call) view() view {
	return view{
		content: c.flag("includeContent", "include_content"),
		history: c.flag("includeProcessingHistory", "include_processing_history"),
	}
}

// appendMemory writes a memory; what it has not got is left out. The caller
// holds the lock.
func appendMemory(b []byte, m *memory, v view) []byte {
	b = append(b, `{"memoryId":"`+m.id+`","spaceId":"`+m.spaceID+`"`...)
	if v.content && m.inline {
		b = append(b, `,"originalContent":"`...)
		b = base64.StdEncoding.AppendEncode(b, m.content)
		b = append(b, '"')
	}
	if !v.created && m.inline {
		b = append(b, `,"originalContentLength":`...)
		b = strconv.AppendInt(b, int64(len(m.content)), 10)
		b = append(b, `,"originalContentSha256":"`+m.sha+`"`...)
	}
	if m.ref != "" {
		b = appendString(append(b, `,"originalContentRef":`...), m.ref)
	}
	b = appendString(append(b, `,"contentType":`...), m.contentType)
	// No server was seen to extract page images, of PDFs neither.
	b = append(b, `,"processingStatus":"`+m.state+`","pageImageStatus":"PENDING","pageImageCount":0`...)
	if m.metadata != nil {
		b = append(b, `,"metadata":`...)
		if v.created {
			b = append(b, m.metadata.echo...)
		} else {
			b = append(b, m.metadata.stored...)
		}
	}
	b = append(b, `,"createdAt":`...)
	b = strconv.AppendInt(b, m.created, 10)
	b = append(b, `,"updatedAt":`...)
	b = strconv.AppendInt(b, m.updated, 10)
	b = append(b, `,"createdById":"`+m.actor+`","updatedById":"`+m.actor+`"`...)
	if m.chunking != nil {
		b = append(append(b, `,"chunkingConfig":`...), marshal(m.chunking)...)
	}
	if v.history {
		b = append(append(b, `,"processingHistory":`...), marshal(m.history())...)
	}
	return append(b, '}')
}

// history has the shape that the Python SDK decodes.
func (m *memory) history() any {
	type job struct {
		ID        int64  `json:"jobId"`
		Type      string `json:"jobType"`
		Status    string `json:"status"`
		Attempts  int    `json:"attempts"`
		Max       int    `json:"maxAttempts"`
		LastError string `json:"lastError,omitempty"`
		Updated   int64  `json:"updatedAt"`
	}
	j := job{ID: m.job, Type: "DOCUMENT_PROCESSING", Status: "BACKGROUND_JOB_PENDING", Max: 3, LastError: m.reason, Updated: m.updated}
	switch m.state {
	case Processing:
		j.Status, j.Attempts = "BACKGROUND_JOB_RUNNING", 1
	case Completed:
		j.Status, j.Attempts = "BACKGROUND_JOB_SUCCEEDED", 1
	case Failed:
		j.Status, j.Attempts = "BACKGROUND_JOB_FAILED", 3
	}
	return struct {
		Latest   job   `json:"latestJob"`
		Attempts []any `json:"attempts"`
	}{j, []any{}}
}

// findMemory returns a memory; the caller holds the lock.
func (s *Server) findMemory(id string) (*memory, *reply) {
	canonical, ok := parseUUID(id)
	if !ok {
		r := invalid(fieldError{"memoryId", "Invalid memory ID format"})
		return nil, &r
	}
	m := s.memories[canonical]
	if m == nil {
		r := s.fail(http.StatusNotFound, "Memory not found: %s", canonical)
		return nil, &r
	}
	return m, nil
}

func (s *Server) getMemory(c *call, id string) reply {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m, missing := s.findMemory(id)
	if missing != nil {
		return *missing
	}
	return newReply(http.StatusOK, contentJSON, appendMemory(nil, m, c.view()))
}

func (s *Server) deleteMemory(_ *call, id string) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, missing := s.findMemory(id)
	if missing != nil {
		return *missing
	}
	s.drop(m)
	return noContent()
}

// drop removes a memory; the caller holds the lock.
func (s *Server) drop(m *memory) {
	delete(s.memories, m.id)
	m.space.corpus.remove(m)
}

// Memories returns what a space holds, the oldest first; a space that is not
// there holds nothing. The caller must not change what they refer to.
func (s *Server) Memories(spaceID string) []Memory {
	s.settle()
	s.mu.RLock()
	defer s.mu.RUnlock()
	sp := s.spaces[spaceID]
	if sp == nil {
		return nil
	}
	var out []Memory
	for _, m := range sp.corpus.live() {
		out = append(out, m.public())
	}
	return out
}
