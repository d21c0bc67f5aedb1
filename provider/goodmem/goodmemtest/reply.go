package goodmemtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// reply is an answer before it is sent, so that a fault can still spoil it.
type reply struct {
	status int
	header http.Header
	body   []byte
}

const (
	contentJSON   = "application/json"
	contentNDJSON = "application/x-ndjson; charset=utf-8"
)

func newReply(status int, contentType string, body []byte) reply {
	return reply{status: status, header: http.Header{"Content-Type": {contentType}}, body: body}
}

// answer encodes v as the server does: no escapes for HTML, no line feed.
func answer(status int, v any) reply {
	return newReply(status, contentJSON, marshal(v))
}

func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only what this package built is encoded.
		panic(fmt.Sprintf("goodmemtest: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func appendString(b []byte, s string) []byte { return append(b, marshal(s)...) }

func noContent() reply { return reply{status: http.StatusNoContent, header: http.Header{}} }

// serviceError is the first of the three shapes of errors.
type serviceError struct {
	Error     string `json:"error"`
	Status    int    `json:"status"`
	Timestamp int64  `json:"timestamp"`
}

// fail answers with a message, the status and the time.
func (s *Server) fail(status int, format string, args ...any) reply {
	return answer(status, serviceError{fmt.Sprintf(format, args...), status, s.millis()})
}

// fieldError is an element of the second shape, of a field that is not valid.
type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// invalid answers 400 with the fields that are wrong.
func invalid(fields ...fieldError) reply {
	return answer(http.StatusBadRequest, struct {
		Errors []fieldError `json:"errors"`
	}{fields})
}

// undecodable answers 400 with the third shape, of a body that cannot be read.
func undecodable(message string) reply {
	return answer(http.StatusBadRequest, struct {
		Error string `json:"error"`
	}{"Invalid JSON request body: " + message})
}
