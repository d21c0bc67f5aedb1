package goodmemtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is asked, the server answers with JSON and does not panic.
func FuzzAnyRequestIsAnswered(f *testing.F) {
	const space, memory = "01a0f262-14db-7347-849d-f9ff2bdc3b1b", "01a0f262-14e5-7474-afa9-3a7b3286cd77"
	for _, seed := range [][3]string{
		{"POST", "/v1/memories:retrieve", `{"message":"noodle","spaceKeys":[{"spaceId":"` + space + `","filter":"TRUE"}],"postProcessor":{"name":"` + postProcessorName + `","config":{"llm_id":"x"}}}`},
		{"GET", "/v1/memories:retrieve?message=noodle&spaceIds=" + space + "&pp_reranker_id=x&pp_max_results=1", ``},
		{"POST", "/v1/memories", `{"spaceId":"` + space + `","originalContent":"x","contentType":"text/plain","metadata":{"a":[1,{"b":null}]},"chunkingConfig":{"sentence":{"maxChunkSize":3}}}`},
		{"POST", "/v1/memories", `{"spaceId":"` + space + `","originalContentB64":"JVBERi0=","contentType":"application/pdf"}`},
		{"POST", "/v1/memories:batchCreate", `{"requests":[{"spaceId":"` + space + `","memoryId":"` + memory + `","originalContent":"x","contentType":";"}]}`},
		{"POST", "/v1/memories:batchGet", `{"memoryIds":["` + memory + `"],"includeContent":true}`},
		{"POST", "/v1/memories:batchDelete", `{"requests":[{"filterSelector":{"spaceId":"` + space + `","filter":"1 / 0 = 1"}}]}`},
		{"POST", "/v1/spaces", `{"name":"n","labels":{"a":"b"},"spaceEmbedders":[{"embedderId":"` + space + `"}],"defaultChunkingConfig":{"none":{}}}`},
		{"PUT", "/v1/spaces/" + space, `{"publicRead":true}`},
		{"GET", "/v1/spaces?nameFilter=%2A&label.a=b&maxResults=1&nextToken=eyJpIjoieCJ9", ``},
		{"GET", "/v1/spaces/" + space + "/memories?filter=exists('$.a')&sortBy=updated_at&includeContent=1", ``},
		{"GET", "/v1/memories/" + memory + "/content", ``}, {"DELETE", "/v1/memories/" + memory, ``}, {"GET", "/v1/memories/%zz", ``}, {"GET", "//", ``},
		{"POST", "/v1/llms", `{"displayName":"d","providerType":"p","endpointUrl":"u","modelIdentifier":"m"}`}, {"GET", "/v1/system/info", ``},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	existing := marshal(object{"spaceId": space, "name": "s", "spaceEmbedders": []object{{"embedderId": space}}, "defaultChunkingConfig": recursive(20, 5)})
	stored := marshal(object{"memoryId": memory, "spaceId": space, "originalContent": "noodle soup, and more than one chunk", "contentType": "text/plain", "metadata": object{"a": 1}})
	f.Fuzz(func(t *testing.T, method, target, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		srv := New(Options{Discard: true})
		srv.AddEmbedder(Embedder{ID: space})
		require.Equal(t, http.StatusCreated, srv.createSpace(&call{fault: noFault, body: existing}).status)
		require.Equal(t, http.StatusCreated, srv.createMemory(&call{fault: noFault, body: stored}).status)
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Method, r.URL = method, u
		r.Header.Set("x-api-key", "gm_fuzz")
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		if strings.HasSuffix(u.Path, "/content") && w.Code < 300 || w.Code == http.StatusNoContent {
			return
		}
		for line := range strings.Lines(w.Body.String()) {
			require.True(t, json.Valid([]byte(line)), "%s %s: %d %s", method, target, w.Code, line)
		}
		require.NotEmpty(t, w.Body.String())
	})
}

// The two orders that metadata is written in hold the same, and that is what
// filters see.
func FuzzMetadataIsTheSameInBothOrders(f *testing.F) {
	for _, seed := range []string{`{}`, `{"bb":1,"a":[true,null,{"x":"y","w":1e20}],"":"é\u2028<"}`, `{"a":1,"a":2}`, `{"n":-0,"m":1E-9}`, `{"a":1} {`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m, err := parseMetadata([]byte(raw))
		if err != nil {
			return
		}
		var echo, stored map[string]any
		require.NoError(t, json.Unmarshal(m.echo, &echo), "%s", m.echo)
		require.NoError(t, json.Unmarshal(m.stored, &stored), "%s", m.stored)
		require.Equal(t, m.fields, echo)
		require.Equal(t, m.fields, stored)
		again, err := parseMetadata(m.stored)
		require.NoError(t, err)
		require.Equal(t, string(m.stored), string(again.stored))
	})
}
