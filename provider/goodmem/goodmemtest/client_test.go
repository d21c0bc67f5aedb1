package goodmemtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// client talks to a server over HTTP, as a user's client would.
type client struct {
	t   testing.TB
	srv *Server
	url string
}

func serve(t testing.TB, o Options) *client {
	t.Helper()
	srv := New(o)
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	return &client{t, srv, web.URL}
}

// answered is an answer that was read whole.
type answered struct {
	status int
	header http.Header
	body   string
}

// try sends a request; body is JSON text, or what is encoded as it.
func (c *client) try(method, path string, body any) (answered, error) {
	var raw []byte
	switch body := body.(type) {
	case nil:
	case string:
		raw = []byte(body)
	default:
		raw = marshal(body)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(raw))
	require.NoError(c.t, err)
	req.Header.Set("x-api-key", "gm_test")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return answered{res.StatusCode, res.Header, string(text)}, err
}

// do sends a request that has to be answered with the status.
func (c *client) do(want int, method, path string, body any) answered {
	c.t.Helper()
	a, err := c.try(method, path, body)
	require.NoError(c.t, err)
	require.Equal(c.t, want, a.status, a.body)
	return a
}

func (a answered) decode(t testing.TB, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), into), a.body)
}

type object = map[string]any

// recursive is a chunking configuration.
func recursive(size, overlap int, separators ...string) object {
	r := object{"chunkSize": size, "chunkOverlap": overlap}
	if separators != nil {
		r["separators"] = separators
	}
	return object{"recursive": r}
}

// create makes a memory and returns its id.
func (c *client) create(spaceID, text string, metadata object) string {
	c.t.Helper()
	var out struct{ MemoryID string }
	c.do(http.StatusCreated, "POST", "/v1/memories",
		object{"spaceId": spaceID, "originalContent": text, "contentType": "text/plain", "metadata": metadata}).decode(c.t, &out)
	return out.MemoryID
}

// event is a line of a retrieval.
type event struct {
	ResultSetBoundary *struct {
		Kind, StageName string
		ExpectedItems   *int
	}
	MemoryDefinition *struct {
		MemoryID string
		Metadata object
	}
	RetrievedItem *struct {
		Chunk struct {
			Chunk struct {
				MemoryID, ChunkText    string
				StartOffset, EndOffset int
				ChunkSequenceNumber    int
			}
			MemoryIndex    int
			RelevanceScore float64
		}
	}
	AbstractReply *struct{ Text string }
	Status        *Status
}

func (a answered) events(t testing.TB) []event {
	t.Helper()
	var out []event
	for line := range strings.Lines(a.body) {
		var e event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		out = append(out, e)
	}
	return out
}

// codes, texts and scores are what of a retrieval most tests are about.
func codes(events []event) []string {
	var out []string
	for _, e := range events {
		switch {
		case e.Status != nil:
			out = append(out, e.Status.Code)
		case e.ResultSetBoundary != nil:
			out = append(out, strings.TrimSpace(e.ResultSetBoundary.Kind+" "+e.ResultSetBoundary.StageName))
		case e.AbstractReply != nil:
			out = append(out, "reply")
		}
	}
	return out
}

func texts(events []event) []string {
	out := []string{}
	for _, e := range events {
		if e.RetrievedItem != nil {
			out = append(out, strings.TrimSpace(e.RetrievedItem.Chunk.Chunk.ChunkText))
		}
	}
	return out
}

func scores(events []event) []float64 {
	var out []float64
	for _, e := range events {
		if e.RetrievedItem != nil {
			out = append(out, e.RetrievedItem.Chunk.RelevanceScore)
		}
	}
	return out
}

// retrieve searches one space; more is put into the request.
func (c *client) retrieve(spaceID, message string, more object) []event {
	c.t.Helper()
	in := object{"message": message, "spaceKeys": []object{{"spaceId": spaceID}}}
	for k, v := range more {
		in[k] = v
	}
	return c.do(http.StatusOK, "POST", "/v1/memories:retrieve", in).events(c.t)
}

func post(config object) object {
	return object{"postProcessor": object{"name": postProcessorName, "config": config}}
}

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }
