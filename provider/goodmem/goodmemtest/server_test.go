package goodmemtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKeyIsNeeded(t *testing.T) {
	c := serve(t, Options{APIKey: "gm_right"})
	for key, want := range map[string]int{"": 401, "gm_wrong": 401, "gm_right": 200} {
		for _, path := range []string{"/v1/spaces", "/v1/embedders"} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", c.url+path, nil)
			require.NoError(t, err)
			req.Header.Set("X-API-Key", key)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, want, res.StatusCode, key)
		}
	}
	c.do(http.StatusUnauthorized, "POST", "/v1/memories:retrieve", object{})
	open := serve(t, Options{})
	open.do(http.StatusOK, "GET", "/v1/spaces", nil)
	res, err := http.Get(open.url + "/v1/spaces") // no key is the point
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
}

func TestTheVersionNeedsNoKey(t *testing.T) {
	c := serve(t, Options{APIKey: "gm_right", Version: "server-v1.2.34-dirty"})
	require.JSONEq(t, `{"version":"server-v1.2.34-dirty","major":1,"minor":2,"patch":34,"dirty":false}`, c.do(http.StatusOK, "GET", "/v1/system/info", nil).body)
}

func TestPathsAreTakenAsTheyCome(t *testing.T) {
	c := serve(t, Options{})
	spaceID := c.srv.AddSpace("kept")
	for path, want := range map[string]int{
		"/v1/nothing":                             404,
		"/v2/spaces":                              404,
		"/v1":                                     404,
		"/v1/spaces/" + spaceID + "/":             404,
		"/v1/spaces//" + spaceID:                  404,
		"/v1/memories/../spaces/" + spaceID:       404,
		"/v1/memories/..%2Fspaces%2F" + spaceID:   400,
		"/v1/memories/%2e%2e":                     400,
		"/v1/memories/" + nobody:                  404,
		"/v1/memories/" + nobody + "%20":          400,
		"/v1/memories/" + strings.ToUpper(nobody): 404,
		"/v1/memories/{" + nobody + "}":           400,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "DELETE", c.url, nil)
		require.NoError(t, err)
		req.URL.Opaque = strings.TrimPrefix(c.url, "http:") + path
		req.Header.Set("x-api-key", "gm_test")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, path)
	}
	c.do(http.StatusOK, "GET", "/v1/spaces/"+spaceID, nil)
	c.do(http.StatusMethodNotAllowed, "PATCH", "/v1/spaces", nil)
	c.do(http.StatusMethodNotAllowed, "GET", "/v1/memories:batchGet", nil)
}

func TestBodiesThatTheServerCannotReadAreRefusedInItsWords(t *testing.T) {
	c := serve(t, Options{})
	for _, body := range []struct{ path, body, want string }{
		{"/v1/memories", ``, "Invalid JSON request body: Unexpected"},
		{"/v1/memories", `{"spaceId":`, "Invalid JSON request body: Unexpected"},
		{"/v1/memories", `{]`, "Invalid JSON request body: Unexpected"},
		{"/v1/memories", `[]`, "Cannot deserialize value"},
		{"/v1/memories", `{"spaceId":5}`, "Cannot deserialize value"},
		{"/v1/memories", `{"SpaceId":"x"}`, `Unrecognized field \"SpaceId\" (class com.goodmem.rest.dto.JsonMemoryCreationRequest), not marked as ignorable (10 known properties: \"memoryId\"`},
		{"/v1/memories", "{\"metadata\":{\"anything\":1},\n \"x\":[{}]}", `line: 2, column: 7] (through reference chain: com.goodmem.rest.dto.JsonMemoryCreationRequest[\"x\"])`},
		{"/v1/memories", "{\"originalContent\":\"\xff\"}", "Invalid UTF-8"},
		{"/v1/memories:batchCreate", `{"requests":[{},{"tags":[]}]}`, `(through reference chain: com.goodmem.rest.dto.JsonBatchMemoryCreationRequest[\"requests\"]->java.util.ArrayList[1]->com.goodmem.rest.dto.JsonMemoryCreationRequest[\"tags\"])`},
		{"/v1/memories:batchGet", `{"requests":[]}`, `Unrecognized field \"requests\"`},
		{"/v1/memories:batchDelete", `{"memoryIds":[]}`, `Unrecognized field \"memoryIds\"`},
		{"/v1/memories:batchDelete", `{"requests":[{"filterSelector":{"statusfilter":""}}]}`, `Unrecognized field \"statusfilter\"`},
		{"/v1/memories:retrieve", `{"message":"x","stream":false}`, `Unrecognized field \"stream\"`},
		{"/v1/memories:retrieve", `{"message":"x","rerankerId":"y"}`, `Unrecognized field \"rerankerId\"`},
		{"/v1/memories:retrieve", `{"message":"x","spaceKeys":[{"spaceID":"y"}]}`, `Unrecognized field \"spaceID\"`},
		{"/v1/memories:retrieve", `{"message":"x","postProcessor":{"factory":"y"}}`, `Unrecognized field \"factory\"`},
		{"/v1/spaces", `{"name":"x","publicRead":true}`, `Unrecognized field \"publicRead\"`},
		{"/v1/spaces", `{"name":"x","defaultChunkingConfig":{"recursive":{"size":5}}}`, `Unrecognized field \"size\"`},
		{"/v1/embedders", `{"name":"x"}`, `Unrecognized field \"name\"`},
	} {
		got := c.do(http.StatusBadRequest, "POST", body.path, body.body)
		require.Contains(t, got.body, body.want, body.body)
		require.True(t, strings.HasPrefix(got.body, `{"error":"Invalid JSON request body: `) && !strings.Contains(got.body, `"status"`), got.body)
	}
}

func TestFieldsThatAreNotValidAreNamed(t *testing.T) {
	c := serve(t, Options{})
	spaceID := c.srv.AddSpace("s")
	for _, body := range []struct {
		path string
		body any
		want string
	}{
		{"/v1/spaces", object{}, `{"errors":[{"field":"name","message":"Space name is required"},{"field":"spaceEmbedders","message":"At least one embedder is required"},{"field":"defaultChunkingConfig","message":"Default chunking configuration is required"}]}`},
		{"/v1/spaces", object{"name": "x", "spaceEmbedders": []object{{"embedderId": nobody}}, "defaultChunkingConfig": object{"none": object{}, "sentence": object{"maxChunkSize": 5}}}, `"field":"defaultChunkingConfig"`},
		{"/v1/spaces", object{"name": "x", "spaceEmbedders": []object{{"embedderId": nobody}}, "defaultChunkingConfig": recursive(10, 10)}, `"field":"defaultChunkingConfig"`},
		{"/v1/memories", object{"spaceId": "../x"}, `{"errors":[{"field":"spaceId","message":"Invalid space ID format"},{"field":"originalContent","message":"Content is required"},{"field":"contentType","message":"Content type is required"}]}`},
		{"/v1/memories", object{"spaceId": spaceID, "originalContent": "x", "originalContentB64": "eA==", "contentType": "text/plain"}, `"field":"originalContent"`},
		{"/v1/memories", object{"spaceId": spaceID, "originalContentB64": "?", "contentType": "text/plain"}, `"field":"originalContentB64"`},
		{"/v1/memories", object{"spaceId": spaceID, "originalContent": "x", "contentType": "text/plain", "metadata": []int{1}}, `"field":"metadata"`},
		{"/v1/memories", `{"spaceId":"` + spaceID + `","originalContent":"x","contentType":"text/plain","metadata":{"n":1e999}}`, `"field":"metadata"`},
		{"/v1/memories", object{"spaceId": spaceID, "originalContent": "x", "contentType": "text/plain", "memoryId": "1"}, `"field":"memoryId"`},
		{"/v1/memories:batchCreate", object{"requests": []object{}}, `"field":"requests"`},
		{"/v1/memories:batchCreate", object{"requests": []object{{"spaceId": spaceID, "originalContent": "x", "contentType": "text/plain"}, {"spaceId": "x", "originalContent": "x", "contentType": "text/plain"}}}, `{"errors":[{"field":"requests[1].spaceId","message":"Invalid space ID format"}]}`},
		{"/v1/memories:batchGet", object{"memoryIds": []string{nobody, "x"}}, `{"errors":[{"field":"memoryIds[1]","message":"Invalid memory ID format"}]}`},
		{"/v1/memories:batchDelete", object{"requests": []object{{"memoryId": nobody, "filterSelector": object{"spaceId": nobody}}}}, `"field":"requests[0].memoryId"`},
		{"/v1/memories:batchDelete", object{"requests": []object{{"filterSelector": object{"spaceId": "all"}}}}, `"field":"requests[0].filterSelector.spaceId"`},
		{"/v1/memories:batchDelete", object{"requests": []object{{"filterSelector": object{"spaceId": nobody, "statusFilter": "DONE"}}}}, `"field":"requests[0].filterSelector.statusFilter"`},
		{"/v1/memories:retrieve", object{"message": "x", "spaceKeys": []object{{"spaceId": "x"}}}, `{"errors":[{"field":"spaceKeys[0].spaceId","message":"Invalid space ID format"}]}`},
		{"/v1/memories:retrieve", object{}, `{"errors":[{"field":"message","message":"Message is required"},{"field":"spaceKeys","message":"At least one space key is required"}]}`},
		{"/v1/memories:retrieve", object{"message": "x", "requestedSize": -1, "spaceKeys": []object{{"spaceId": nobody, "embedderWeights": []object{{"embedderId": "y", "weight": 1}}}}}, `"field":"spaceKeys[0].embedderWeights[0].embedderId"`},
		{"/v1/llms", object{"displayName": "x", "llmId": "y"}, `"field":"llmId"`},
	} {
		got := c.do(http.StatusBadRequest, "POST", body.path, body.body)
		require.Contains(t, got.body, body.want)
		require.True(t, strings.HasPrefix(got.body, `{"errors":[`), got.body)
	}
	require.Empty(t, c.srv.Memories(spaceID))
}

func TestTheRecordHasEveryRequest(t *testing.T) {
	c := serve(t, Options{})
	c.do(http.StatusOK, "GET", "/v1/spaces?nameFilter=a%2Fb&maxResults=1", nil)
	c.do(http.StatusBadRequest, "POST", "/v1/memories:retrieve", `{"message": 1}`)
	c.do(http.StatusBadRequest, "GET", "/v1/memories/..%2Fx", nil)
	got := c.srv.Requests()
	require.Len(t, got, 3)
	require.Equal(t, "GET", got[0].Method)
	require.Equal(t, "/v1/spaces", got[0].Path)
	require.Equal(t, "a/b", got[0].Query.Get("nameFilter"))
	require.Equal(t, "REDACTED", got[0].Header.Get("x-api-key"))
	require.Equal(t, 200, got[0].Status)
	require.JSONEq(t, `{"message": 1}`, string(got[1].Body))
	require.Equal(t, 400, got[1].Status)
	require.Equal(t, "/v1/memories/..%2Fx", got[2].Path)
	require.False(t, got[2].Time.IsZero())
	require.Len(t, c.srv.RequestsTo("POST", "/v1/memories:retrieve"), 1)
	c.srv.ForgetRequests()
	require.Empty(t, c.srv.Requests())

	quiet := serve(t, Options{Discard: true})
	quiet.do(http.StatusOK, "GET", "/v1/spaces", nil)
	require.Empty(t, quiet.srv.Requests())
}

func TestAURICanBeTooLong(t *testing.T) {
	c := serve(t, Options{MaxURI: 100})
	c.do(http.StatusOK, "GET", "/v1/spaces?nameFilter="+strings.Repeat("a", 78), nil)
	require.Contains(t, c.do(http.StatusRequestURITooLong, "GET", "/v1/spaces?nameFilter="+strings.Repeat("a", 79), nil).body, `"status":414`)
}

func TestIDsGrowAndAreOfVersion7(t *testing.T) {
	var g ids
	last := ""
	for range 10_000 {
		id := g.next(1_790_772_909_287)
		require.Less(t, last, id)
		canonical, ok := parseUUID(strings.ToUpper(id))
		require.True(t, ok)
		require.Equal(t, id, canonical)
		require.Equal(t, byte('7'), id[14])
		require.Contains(t, "89ab", id[19:20])
		last = id
	}
	for _, bad := range []string{"", "x", nobody + " ", " " + nobody, "{" + nobody + "}", strings.ReplaceAll(nobody, "-", ""), nobody[:35] + "g", "urn:uuid:" + nobody} {
		_, ok := parseUUID(bad)
		require.False(t, ok, bad)
	}
}

func TestNumbersAreWrittenAsJavaDoes(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1: "-1.0", 2026: "2026.0", 0.5: "0.5", -0.28848138451576233: "-0.28848138451576233", 9999999: "9999999.0", 1e7: "1.0E7",
		1790212958819: "1.790212958819E12", 1e20: "1.0E20", 0.001: "0.001", 0.00015: "1.5E-4", 1.5e-7: "1.5E-7", -12345678.5: "-1.23456785E7",
	} {
		require.Equal(t, want, string(appendDouble(nil, f)))
	}
}

func TestMetadataKeepsItsOrderOnlyInTheAnswerOfTheCreate(t *testing.T) {
	m, err := parseMetadata([]byte(`{"tenant":"acme","b":[{"z":1,"a":{"yy":2,"x":null}}],"a":true,"b2":"<&>","a":false}`))
	require.NoError(t, err)
	require.Equal(t, `{"tenant":"acme","b":[{"z":1.0,"a":{"yy":2.0,"x":null}}],"a":false,"b2":"<&>"}`, string(m.echo))
	require.Equal(t, `{"a":false,"b":[{"a":{"x":null,"yy":2.0},"z":1.0}],"b2":"<&>","tenant":"acme"}`, string(m.stored))
	require.Equal(t, map[string]any{"tenant": "acme", "b": []any{map[string]any{"z": 1.0, "a": map[string]any{"yy": 2.0, "x": nil}}}, "a": false, "b2": "<&>"}, m.fields)
	for _, bad := range []string{`{"a":["\u0000"]}`, `{"\u0000":1}`, `[]`, `"x"`, `5`, `null`, strings.Repeat(`{"a":`, 1100) + "1" + strings.Repeat("}", 1100)} {
		_, err := parseMetadata([]byte(bad))
		require.Error(t, err)
	}
}
