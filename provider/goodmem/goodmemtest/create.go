package goodmemtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

type jsonMemoryCreationRequest struct {
	MemoryID    string          `json:"memoryId"`
	SpaceID     string          `json:"spaceId"`
	Content     *string         `json:"originalContent"`
	ContentB64  *string         `json:"originalContentB64"`
	ContentRef  string          `json:"originalContentRef"`
	ContentType string          `json:"contentType"`
	Metadata    json.RawMessage `json:"metadata"`
	Chunking    *chunking       `json:"chunkingConfig"`
	PageImages  *bool           `json:"extractPageImages"`
	FileField   string          `json:"fileField"`
}

type jsonBatchMemoryCreationRequest struct {
	Requests []jsonMemoryCreationRequest `json:"requests"`
}

func (s *Server) createMemory(c *call) reply {
	var in jsonMemoryCreationRequest
	var file *upload
	body := c.body
	if isMultipart(c.Request) {
		parts, err := readMultipart(c.Header.Get("Content-Type"), c.body)
		if err != nil {
			return undecodable(err.Error())
		}
		body, file = []byte(parts.request), parts.file
	}
	if wrong := decode(body, &in); wrong != nil {
		return *wrong
	}
	m, bad := s.newMemory(&in, file, "")
	if len(bad) > 0 {
		return invalid(bad...)
	}
	out, failed := s.store(m)
	if failed != nil {
		return s.fail(failed.http, "%s", failed.message)
	}
	return newReply(http.StatusCreated, contentJSON, out)
}

// upload is the file of a multipart request.
type upload struct {
	name, contentType string
	content           []byte
}

type multipartRequest struct {
	request string
	file    *upload
}

func isMultipart(r *http.Request) bool {
	return r != nil && strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

// readMultipart reads the parts "request", JSON, and "file".
func readMultipart(contentType string, body []byte) (multipartRequest, error) {
	var out multipartRequest
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return out, fmt.Errorf("content type: %w", err)
	}
	r := multipart.NewReader(strings.NewReader(string(body)), params["boundary"])
	for {
		part, err := r.NextPart()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("multipart body: %w", err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return out, fmt.Errorf("multipart body: %w", err)
		}
		switch part.FormName() {
		case "request":
			out.request = string(content)
		case "file":
			out.file = &upload{part.FileName(), part.Header.Get("Content-Type"), content}
		}
	}
}

// newMemory checks a request and builds its memory, chunks and all. prefix is
// in front of the names of wrong fields.
func (s *Server) newMemory(in *jsonMemoryCreationRequest, file *upload, prefix string) (*memory, []fieldError) {
	var bad []fieldError
	wrong := func(field, message string) { bad = append(bad, fieldError{prefix + field, message}) }
	m := &memory{ref: in.ContentRef, contentType: in.ContentType, chunking: in.Chunking, state: Pending, actor: s.actor}
	var ok bool
	if m.spaceID, ok = parseUUID(in.SpaceID); !ok {
		wrong("spaceId", "Invalid space ID format")
	}
	bad = append(bad, optionalID(&in.MemoryID, prefix+"memoryId", "Invalid memory ID format")...)
	switch {
	case in.Content != nil && in.ContentB64 != nil:
		wrong("originalContent", "Only one of originalContent and originalContentB64 can be set")
	case in.Content != nil:
		m.content, m.inline = []byte(*in.Content), true
	case in.ContentB64 != nil:
		var err error
		if m.content, err = base64.StdEncoding.DecodeString(*in.ContentB64); err != nil {
			wrong("originalContentB64", "Invalid base64")
		}
		m.inline = true
	case file != nil:
		m.content, m.inline = file.content, true
		if m.contentType == "" {
			m.contentType = file.contentType
		}
	case in.ContentRef == "":
		wrong("originalContent", "Content is required")
	}
	if strings.TrimSpace(m.contentType) == "" {
		wrong("contentType", "Content type is required")
	}
	if raw := strings.TrimSpace(string(in.Metadata)); file != nil && file.name != "" && (raw == "" || raw[0] == '{') {
		in.Metadata = withFilename(raw, file.name)
	}
	if len(in.Metadata) > 0 && string(in.Metadata) != "null" {
		var err error
		if m.metadata, err = parseMetadata(in.Metadata); err != nil {
			wrong("metadata", "Invalid metadata: "+err.Error())
		}
	}
	if in.Chunking != nil {
		if message := in.Chunking.complete(); message != "" {
			wrong("chunkingConfig", message)
		}
	}
	if len(bad) > 0 {
		return nil, bad
	}
	m.id = in.MemoryID
	return m, nil
}

// withFilename adds the name of the uploaded file, as the server does.
func withFilename(object, name string) json.RawMessage {
	inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(object, "{"), "}"))
	if inner != "" {
		inner += ","
	}
	return json.RawMessage("{" + inner + `"filename":` + string(marshal(name)) + "}")
}

// failure is why a memory was not stored, as an HTTP status and as a gRPC code.
type failure struct {
	http, grpc int
	message    string
}

func (s *Server) itemError(f *failure) *ItemError {
	if s.options.HTTPItemCodes {
		return &ItemError{f.http, f.message}
	}
	return &ItemError{f.grpc, f.message}
}

// store cuts a memory into chunks, puts it into its space, starts its indexing
// and returns the answer.
func (s *Server) store(m *memory) ([]byte, *failure) {
	s.mu.RLock()
	sp := s.spaces[m.spaceID]
	s.mu.RUnlock()
	missing := &failure{http.StatusNotFound, 5, "Space not found: " + m.spaceID}
	if sp == nil {
		return nil, missing
	}
	how := &sp.Chunking
	if m.chunking != nil {
		how = m.chunking
	}
	m.prepare(how)
	m.created = s.millis()
	m.updated = m.created
	if m.id == "" {
		m.id = s.newID()
	}
	for _, ch := range m.chunks {
		ch.id = s.newID()
	}
	plan := s.plan(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.space = s.spaces[m.spaceID]; m.space == nil {
		return nil, missing
	}
	if s.memories[m.id] != nil {
		return nil, &failure{http.StatusConflict, 6, "A memory with this ID already exists"}
	}
	s.memories[m.id] = m
	m.space.corpus.add(m)
	s.pending.add(m, plan, s.now())
	return appendMemory(nil, m, view{created: true}), nil
}

// AddMemory stores a text with metadata in a space, indexes it at once, and
// returns its id. What the server would refuse panics.
func (s *Server) AddMemory(spaceID, text string, metadata map[string]any) string {
	in := map[string]any{"spaceId": spaceID, "originalContent": text, "contentType": "text/plain"}
	if metadata != nil {
		in["metadata"] = metadata
	}
	var out struct {
		ID string `json:"memoryId"`
	}
	s.mustCreate(s.createMemory(&call{body: marshal(in), fault: noFault}), &out)
	s.CompleteIndexing(out.ID)
	return out.ID
}

// mustCreate reads the answer of a create that cannot be refused.
func (s *Server) mustCreate(r reply, into any) {
	err := json.Unmarshal(r.body, into)
	if r.status != http.StatusCreated || err != nil {
		panic(fmt.Sprintf("goodmemtest: %d %s", r.status, r.body))
	}
}
