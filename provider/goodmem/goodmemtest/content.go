package goodmemtest

import (
	"bytes"
	"net/http"
	"time"
)

// getContent answers with the bytes as they were given, or a range of them.
func (s *Server) getContent(c *call, id string) reply {
	s.mu.RLock()
	m, missing := s.findMemory(id)
	s.mu.RUnlock()
	if missing != nil {
		return *missing
	}
	if !m.inline {
		return s.fail(http.StatusNotFound, "Memory has no inline content: %s", m.id)
	}
	w := &contentWriter{reply{status: http.StatusOK, header: http.Header{}}}
	w.reply.header.Set("Content-Type", m.contentType)
	w.reply.header.Set("Etag", `"`+m.sha+`"`)
	http.ServeContent(w, c.Request, "", time.Time{}, bytes.NewReader(m.content))
	return w.reply
}

// contentWriter collects what http.ServeContent writes.
type contentWriter struct{ reply reply }

func (w *contentWriter) Header() http.Header { return w.reply.header }

func (w *contentWriter) WriteHeader(status int) { w.reply.status = status }

func (w *contentWriter) Write(b []byte) (int, error) {
	w.reply.body = append(w.reply.body, b...)
	return len(b), nil
}
