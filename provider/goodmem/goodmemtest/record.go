package goodmemtest

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Request is a request that the server received, whatever became of it.
type Request struct {
	Method string
	// Path is the path as it came, not decoded and not cleaned.
	Path  string
	Query url.Values
	// Header has REDACTED for the API key.
	Header http.Header
	Body   []byte
	// Status is what was answered: 0 while it is not, and for a connection
	// that was cut before the answer.
	Status int
	Time   time.Time
}

// Requests returns the requests so far, in the order they came in. The caller
// must not change what they refer to.
func (s *Server) Requests() []Request {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	out := make([]Request, len(s.recorded))
	for i, r := range s.recorded {
		out[i] = *r
	}
	return out
}

// RequestsTo returns those of Requests with the method and the path.
func (s *Server) RequestsTo(method, path string) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Method != method || r.Path != path })
}

// ForgetRequests empties the record.
func (s *Server) ForgetRequests() {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	s.recorded = nil
}

// record notes a request and returns how to note its answer.
func (s *Server) record(r *http.Request, body []byte) func(status int) {
	if s.options.Discard {
		return func(int) {}
	}
	header := r.Header.Clone()
	if header.Get(keyHeader) != "" {
		header.Set(keyHeader, "REDACTED")
	}
	if header.Get("Authorization") != "" {
		header.Set("Authorization", "REDACTED")
	}
	rec := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: header, Body: body, Time: s.now()}
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	s.recorded = append(s.recorded, rec)
	return func(status int) {
		s.recordMu.Lock()
		defer s.recordMu.Unlock()
		rec.Status = status
	}
}
