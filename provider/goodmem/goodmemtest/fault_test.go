package goodmemtest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARequestIsAnsweredWithAStatus(t *testing.T) {
	c := serve(t, Options{})
	remove := c.srv.Inject(Fault{Method: "GET", Path: "/v1/spaces/*/memories", Status: 429, Header: http.Header{"retry-after": {"7"}}},
		Fault{Path: "/v1/spaces", Status: 503, Body: "<html>busy</html>"})
	id := c.srv.AddSpace("s")
	limited := c.do(429, "GET", "/v1/spaces/"+id+"/memories", nil)
	require.Equal(t, "7", limited.header.Get("Retry-After"))
	require.Contains(t, limited.body, `{"error":"Too Many Requests","status":429,"timestamp":`)
	require.Equal(t, "<html>busy</html>", c.do(503, "GET", "/v1/spaces", nil).body)
	c.do(200, "GET", "/v1/spaces/"+id, nil)
	remove()
	c.do(200, "GET", "/v1/spaces/"+id+"/memories", nil)
	c.srv.Inject(Fault{Status: 500})
	c.do(500, "GET", "/v1/spaces", nil)
	c.srv.ClearFaults()
	c.do(200, "GET", "/v1/spaces", nil)
}

func TestAFaultStrikesAsOftenAsItSays(t *testing.T) {
	run := func(f Fault, requests int) string {
		c := serve(t, Options{})
		f.Status = 500
		c.srv.Inject(f)
		var out strings.Builder
		for range requests {
			a, err := c.try("GET", "/v1/spaces", nil)
			require.NoError(t, err)
			out.WriteByte("02345"[a.status/100-1])
		}
		return out.String()
	}
	require.Equal(t, "22555", run(Fault{Skip: 2}, 5))
	require.Equal(t, "55222", run(Fault{Times: 2}, 5))
	require.Equal(t, "225225222", run(Fault{Every: 3, Times: 2}, 9))
	require.Equal(t, "2222522252", run(Fault{Skip: 1, Every: 4}, 10))
	share := run(Fault{Share: 0.3}, 400)
	require.Equal(t, share, run(Fault{Share: 0.3}, 400), "the same ones in every run")
	require.InDelta(t, 120, strings.Count(share, "5"), 30)
	calls := 0
	require.Equal(t, "525", run(Fault{Match: func(method, path string, body []byte) bool {
		calls++
		return method == "GET" && path == "/v1/spaces" && len(body) == 0 && calls != 2
	}}, 3))
}

func TestAConnectionIsCutBeforeOrAfterTheRequestIsHandled(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	in := object{"spaceId": id, "originalContent": "noodle", "contentType": "text/plain"}
	c.srv.Inject(Fault{Method: "POST", Cut: true, Times: 1}, Fault{Method: "POST", CutAfter: true, Times: 1})
	_, err := c.try("POST", "/v1/memories", in)
	require.Error(t, err)
	require.Empty(t, c.srv.Memories(id))
	_, err = c.try("POST", "/v1/memories", in)
	require.Error(t, err)
	require.Len(t, c.srv.Memories(id), 1)
	for _, r := range c.srv.Requests() {
		require.Zero(t, r.Status)
		require.NotEmpty(t, r.Body)
	}
	c.do(http.StatusCreated, "POST", "/v1/memories", in)
}

func TestAStreamIsTruncated(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	c.srv.AddMemory(id, "noodle", nil)
	in := object{"message": "noodle", "spaceKeys": []object{{"spaceId": id}}}
	whole := c.do(200, "POST", "/v1/memories:retrieve", in).body
	whole = settled(whole)
	for _, f := range []Fault{{Truncate: 300}, {Truncate: -10}, {Truncate: 300, Clean: true}, {Truncate: 1 << 20, Clean: true}, {Truncate: -(1 << 20)},
		{TruncateLines: 2, Clean: true}, {TruncateLines: 9}} {
		c.srv.ClearFaults()
		c.srv.Inject(f)
		got, err := c.try("POST", "/v1/memories:retrieve", in)
		if f.Clean {
			require.NoError(t, err)
		} else {
			require.True(t, errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
		}
		switch {
		case f.TruncateLines == 2:
			lines := strings.Split(got.body, "\n")
			require.Len(t, lines, 3)
			require.NotEmpty(t, lines[2])
			require.True(t, strings.HasPrefix(whole, settled(lines[0]+"\n"+lines[1]+"\n")))
		case f.Truncate == 300:
			require.Len(t, got.body, 300)
		case f.Truncate == -10:
			require.True(t, strings.HasPrefix(whole, settled(got.body)))
			require.False(t, strings.HasSuffix(got.body, "\n"))
		case f.Truncate < 0:
			require.Empty(t, got.body)
		default:
			require.Equal(t, whole, settled(got.body))
		}
	}
}

func TestAStreamComesLineByLine(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	c.srv.AddMemory(id, "noodle", nil)
	c.srv.Inject(Fault{LinePause: time.Hour})
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.url+"/v1/memories:retrieve",
		bytes.NewReader(marshal(object{"message": "noodle", "spaceKeys": []object{{"spaceId": id}}})))
	require.NoError(t, err)
	req.Header.Set("x-api-key", "gm_test")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "BEGIN")
	require.NoError(t, res.Body.Close()) // the server's wait ends with the client
}

func TestADelayEndsWithTheRequest(t *testing.T) {
	c := serve(t, Options{})
	c.srv.Inject(Fault{Delay: time.Hour})
	short := http.Client{Timeout: 50 * time.Millisecond}
	_, err := short.Get(c.url + "/v1/spaces") // the client's own limit is the point
	require.Error(t, err)
}

func TestItemsOfABatchFail(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	c.srv.Inject(Fault{Item: func(it Item) *ItemError {
		if it.Metadata["url"] == "b" || it.MemoryID == nobody {
			return &ItemError{Code: 8, Message: "rate limited"}
		}
		return nil
	}})
	var requests []object
	for _, u := range []string{"a", "b", "c"} {
		requests = append(requests, object{"spaceId": id, "originalContent": u, "contentType": "text/plain", "metadata": object{"url": u}})
	}
	got := c.do(200, "POST", "/v1/memories:batchCreate", object{"requests": requests}).body
	require.Equal(t, `{"results":[{"success":true,"memory":M},{"success":false,"error":{"code":8,"message":"rate limited"}},{"success":true,"memory":M}]}`, withoutMemories(got))
	require.Len(t, c.srv.Memories(id), 2)
	failed := `{"success":false,"memoryId":"` + nobody + `","error":{"code":8,"message":"rate limited"}`
	require.Contains(t, c.do(200, "POST", "/v1/memories:batchGet", object{"memoryIds": []string{nobody}}).body, failed+"}")
	require.Contains(t, c.do(200, "POST", "/v1/memories:batchDelete", object{"requests": []object{{"memoryId": nobody}}}).body, failed+`,"requestIndex":0}`)
}

func TestStatusesComeIntoAStream(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	c.srv.AddMemory(id, "noodle", nil)
	remove := c.srv.Inject(Fault{
		Before: []Status{{Code: "LLM_CAPABILITY_INFERRED", Message: "as guessed"}},
		After:  []Status{{Code: "SOMETHING_NEW", Message: "unheard of", Details: map[string]string{"b": "2", "a": "1"}}},
	})
	got := c.retrieve(id, "noodle", nil)
	require.Equal(t, []string{"LLM_CAPABILITY_INFERRED", "BEGIN retrieve", "END", "SOMETHING_NEW"}, codes(got))
	require.Equal(t, []string{"noodle"}, texts(got))
	remove()
	c.srv.Inject(Fault{Instead: []Status{{Code: "EMBEDDER_TIMEOUT", Message: "too slow"}}})
	require.Equal(t, []string{"EMBEDDER_TIMEOUT"}, codes(c.retrieve(id, "noodle", nil)))
}

func TestAnAnswerIsRewritten(t *testing.T) {
	c := serve(t, Options{})
	c.srv.AddSpace("s")
	c.srv.Inject(Fault{Rewrite: func(b []byte) []byte { return bytes.Replace(b, []byte("null"), []byte(`"again"`), 1) }})
	require.Contains(t, c.do(200, "GET", "/v1/spaces", nil).body, `"again"`)
}

// A handler that is called without a server panics as net/http says.
func TestACutPanicsWithErrAbortHandler(t *testing.T) {
	srv := New(Options{})
	srv.Inject(Fault{Cut: true})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/spaces", nil))
	})
}

func TestManyClientsAtOnce(t *testing.T) {
	var indexed atomic.Int32
	c := serve(t, Options{Index: func(Memory) Indexing { indexed.Add(1); return Indexing{} }})
	id := c.srv.AddSpace("s")
	reranker := c.srv.AddReranker(Reranker{})
	const workers, rounds = 8, 12
	done := make(chan error, workers)
	for w := range workers {
		go func() {
			done <- func() error {
				for i := range rounds {
					var out struct{ MemoryID string }
					a, err := c.try("POST", "/v1/memories", object{"spaceId": id, "originalContent": "noodle soup", "contentType": "text/plain",
						"metadata": object{"worker": w, "n": i, "site": "s"}})
					if err != nil || a.status != 201 {
						return errors.Join(err, errors.New(a.body))
					}
					a.decode(t, &out)
					for method, path := range map[string]string{
						"GET":    "/v1/spaces/" + id + "/memories?filter=CAST(val('$.site')+AS+TEXT)='s'",
						"POST":   "/v1/memories:retrieve",
						"DELETE": "/v1/memories/" + out.MemoryID,
					} {
						var body any
						if method == "POST" {
							in := post(object{"reranker_id": reranker})
							in["message"], in["spaceKeys"] = "soup", []object{{"spaceId": id}}
							body = in
						}
						if method == "DELETE" && i%2 == 0 {
							continue
						}
						if a, err := c.try(method, path, body); err != nil || a.status >= 300 {
							return errors.Join(err, errors.New(a.body))
						}
					}
					c.srv.Inject(Fault{Method: "NONE"})()
					c.srv.Requests()
				}
				return nil
			}()
		}()
	}
	for range workers {
		require.NoError(t, <-done)
	}
	require.Len(t, c.srv.Memories(id), workers*rounds/2)
	require.EqualValues(t, workers*rounds, indexed.Load())
	require.Len(t, texts(c.retrieve(id, "soup", object{"requestedSize": 100})), workers*rounds/2)
}
