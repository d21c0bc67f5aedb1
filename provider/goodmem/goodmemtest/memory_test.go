package goodmemtest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type listed struct {
	Memories []struct {
		MemoryID, ProcessingStatus string
		OriginalContent            *string
		Metadata                   object
		ProcessingHistory          *struct {
			LatestJob struct{ Status, LastError string }
		}
	}
	NextToken *string
}

// list gets a page; parameters are name and value in turn.
func (c *client) list(want int, spaceID string, parameters ...string) listed {
	c.t.Helper()
	q := make(url.Values)
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	var page listed
	a := c.do(want, "GET", "/v1/spaces/"+spaceID+"/memories?"+q.Encode(), nil)
	if want == http.StatusOK {
		a.decode(c.t, &page)
	}
	return page
}

// listAll gets all pages and returns the field n of each memory.
func (c *client) listAll(spaceID string, parameters ...string) []int {
	c.t.Helper()
	var out []int
	token := ""
	for {
		page := c.list(http.StatusOK, spaceID, append(parameters, "nextToken", token)...)
		for _, m := range page.Memories {
			out = append(out, int(m.Metadata["n"].(float64)))
		}
		if page.NextToken == nil {
			return out
		}
		require.NotEmpty(c.t, page.Memories)
		token = *page.NextToken
	}
}

func TestMemoriesAreListedPageByPage(t *testing.T) {
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now})
	id := c.srv.AddSpace("s")
	var newest, even []int
	for i := range 60 {
		if i%4 == 0 {
			at.at = at.at.Add(1e6) // some share their millisecond
		}
		c.srv.AddMemory(id, "x", object{"n": i, "even": fmt.Sprint(i%2 == 0), "kind": "x"})
		newest = append([]int{i}, newest...)
		if i%2 == 0 {
			even = append([]int{i}, even...)
		}
	}
	oldest := slices.Clone(newest)
	slices.Reverse(oldest)
	for _, size := range []string{"1", "7", "59", "60", "61", "0", "9999"} {
		require.Equal(t, newest, c.listAll(id, "maxResults", size), size)
		require.Equal(t, oldest, c.listAll(id, "maxResults", size, "sortBy", "created_at", "sortOrder", "ASCENDING"), size)
		require.Equal(t, newest, c.listAll(id, "max_results", size, "sort_by", "updated_at"), size)
		require.Equal(t, even, c.listAll(id, "maxResults", size, "filter", `CAST(val('$.even') AS TEXT) = 'true'`), size)
		require.Equal(t, even, c.listAll(id, "maxResults", size, "filter", `CAST(val('$.even') AS TEXT) LIKE 'true'`), size)
	}
	require.Len(t, c.list(http.StatusOK, id).Memories, 50)
	many := c.srv.AddSpace("many")
	for range 501 {
		c.srv.AddMemory(many, "x", nil)
	}
	require.Len(t, c.list(http.StatusOK, many, "maxResults", "9999").Memories, 500)
	require.ElementsMatch(t, newest, c.listAll(id, "sortBy", "processing_status", "maxResults", "7"))

	// What is deleted between two pages is missed by none of the others.
	page := c.list(http.StatusOK, id, "maxResults", "10")
	for _, m := range page.Memories {
		c.do(http.StatusNoContent, "DELETE", "/v1/memories/"+m.MemoryID, nil)
	}
	require.Equal(t, newest[10:20], func() []int {
		var out []int
		for _, m := range c.list(http.StatusOK, id, "maxResults", "10", "nextToken", *page.NextToken).Memories {
			out = append(out, int(m.Metadata["n"].(float64)))
		}
		return out
	}())
	for _, bad := range [][2]string{{"sortBy", "name"}, {"statusFilter", "DONE"}, {"nextToken", "x"}, {"filter", "x"}, {"maxResults", "x"}} {
		c.list(http.StatusBadRequest, id, bad[0], bad[1])
	}
	c.list(http.StatusNotFound, nobody)
	c.list(http.StatusBadRequest, "x")
}

func TestAMemoryIsFoundWhenItIsIndexed(t *testing.T) {
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now, IndexDelay: 10 * time.Second})
	id := c.srv.AddSpace("s")
	memory := c.create(id, "noodle", nil)
	state := func() string {
		page := c.list(http.StatusOK, id)
		require.Len(t, page.Memories, 1)
		state := page.Memories[0].ProcessingStatus
		require.Len(t, c.list(http.StatusOK, id, "statusFilter", state).Memories, 1)
		return state
	}
	for _, step := range []struct {
		after time.Duration
		state string
		found int
	}{{0, Pending, 0}, {4 * time.Second, Pending, 0}, {2 * time.Second, Processing, 0}, {5 * time.Second, Completed, 1}} {
		at.at = at.at.Add(step.after)
		require.Equal(t, step.state, state())
		require.Len(t, texts(c.retrieve(id, "noodle", nil)), step.found)
	}
	c.do(http.StatusNoContent, "DELETE", "/v1/memories/"+memory, nil)
	require.Empty(t, texts(c.retrieve(id, "noodle", nil)))
	c.create(id, "gone before it is indexed", nil)
	c.do(http.StatusNoContent, "DELETE", "/v1/memories/"+c.list(http.StatusOK, id).Memories[0].MemoryID, nil)
	at.at = at.at.Add(time.Minute)
	require.Empty(t, texts(c.retrieve(id, "gone", nil)))
}

func TestIndexingHappensOnDemand(t *testing.T) {
	c := serve(t, Options{IndexDelay: -1})
	id := c.srv.AddSpace("s")
	a, b, d := c.create(id, "noodle a", nil), c.create(id, "noodle b", nil), c.create(id, "noodle d", nil)
	require.Empty(t, texts(c.retrieve(id, "noodle", nil)))
	require.Equal(t, 1, c.srv.CompleteIndexing(a, nobody))
	require.Equal(t, 0, c.srv.CompleteIndexing(a))
	require.Equal(t, 1, c.srv.FailIndexing("no such model", b))
	require.Equal(t, 0, c.srv.CompleteIndexing(b), "what has failed stays so")
	require.Equal(t, []string{"noodle a"}, texts(c.retrieve(id, "noodle", nil)))
	failed := c.list(http.StatusOK, id, "statusFilter", "FAILED", "includeProcessingHistory", "true").Memories
	require.Len(t, failed, 1)
	require.Equal(t, "no such model", failed[0].ProcessingHistory.LatestJob.LastError)
	require.Equal(t, "BACKGROUND_JOB_FAILED", failed[0].ProcessingHistory.LatestJob.Status)
	require.Equal(t, 1, c.srv.CompleteIndexing())
	require.Equal(t, Completed, c.srv.Memories(id)[2].Status)
	require.Equal(t, d, c.srv.Memories(id)[2].ID)
}

func TestIndexingIsDecidedForEachMemory(t *testing.T) {
	c := serve(t, Options{Index: func(m Memory) Indexing {
		switch m.Metadata["do"] {
		case "fail":
			return Indexing{Fail: "cannot embed"}
		case "hold":
			return Indexing{Delay: -1}
		}
		return Indexing{}
	}})
	id := c.srv.AddSpace("s")
	for _, do := range []string{"fail", "hold", "index"} {
		c.create(id, do, object{"do": do})
	}
	var states []string
	for _, m := range c.srv.Memories(id) {
		states = append(states, m.Status)
	}
	require.Equal(t, []string{Failed, Pending, Completed}, states)
}

func TestAMemoryIsCreatedOnce(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	in := object{"memoryId": "11111111-2222-5333-8444-ABCDEFABCDEF", "spaceId": id, "originalContent": "noodle", "contentType": "text/plain", "originalContentRef": "https://x.test/1"}
	made := c.do(http.StatusCreated, "POST", "/v1/memories", in).body
	require.Contains(t, made, `"memoryId":"11111111-2222-5333-8444-abcdefabcdef"`)
	require.Contains(t, made, `"originalContentRef":"https://x.test/1","contentType":"text/plain"`)
	require.NotContains(t, made, `"metadata"`)
	require.Contains(t, c.do(http.StatusConflict, "POST", "/v1/memories", in).body, `"status":409`)
	require.Len(t, c.srv.Memories(id), 1)
	in["spaceId"] = nobody
	require.Contains(t, c.do(http.StatusNotFound, "POST", "/v1/memories", in).body, "Space not found: "+nobody)
	own := c.do(http.StatusCreated, "POST", "/v1/memories", object{"spaceId": id, "originalContent": strings.Repeat("noodle ", 9), "contentType": "text/plain", "chunkingConfig": recursive(10, 0)}).body
	require.Contains(t, own, `"chunkingConfig":{"none":null,"recursive":{"chunkSize":10,`)
	require.Len(t, texts(c.retrieve(id, "noodle", nil)), 10)
}

func TestABatchReportsEachItem(t *testing.T) {
	for _, http4xx := range []bool{false, true} {
		c := serve(t, Options{HTTPItemCodes: http4xx})
		codes := [2]int{5, 6}
		if http4xx {
			codes = [2]int{404, 409}
		}
		id := c.srv.AddSpace("s")
		item := func(memoryID, spaceID string) object {
			return object{"memoryId": memoryID, "spaceId": spaceID, "originalContent": "noodle", "contentType": "text/plain", "metadata": object{"n": 1}}
		}
		const one, two = "11111111-2222-5333-8444-000000000001", "11111111-2222-5333-8444-000000000002"
		got := c.do(http.StatusOK, "POST", "/v1/memories:batchCreate", object{"requests": []object{item(one, id), item(two, nobody), item(one, id), item(two, id)}}).body
		require.Equal(t, fmt.Sprintf(`{"results":[{"success":true,"memory":M},{"success":false,"error":{"code":%d,"message":"Space not found: %s"}},`+
			`{"success":false,"error":{"code":%d,"message":"A memory with this ID already exists"}},{"success":true,"memory":M}]}`, codes[0], nobody, codes[1]), withoutMemories(got))
		require.NotContains(t, got, "originalContentLength")

		got = c.do(http.StatusOK, "POST", "/v1/memories:batchGet", object{"memoryIds": []string{two, nobody, strings.ToUpper(one)}, "includeContent": true}).body
		require.Equal(t, fmt.Sprintf(`{"results":[{"success":true,"memory":M},{"success":false,"memoryId":"%s","error":{"code":%d,"message":"Memory not found: %[1]s"}},`+
			`{"success":true,"memory":M}]}`, nobody, codes[0]), withoutMemories(got))
		require.Contains(t, got, `"originalContent":"`+base64.StdEncoding.EncodeToString([]byte("noodle"))+`"`)

		c.create(id, "other", object{"n": 2})
		got = c.do(http.StatusOK, "POST", "/v1/memories:batchDelete", object{"requests": []object{{"memoryId": one}, {"memoryId": nobody},
			{"filterSelector": object{"spaceId": id, "filter": "CAST(val('$.n') AS NUMERIC) = 1"}}, {"filterSelector": object{"spaceId": nobody}}}}).body
		require.Equal(t, fmt.Sprintf(`{"results":[{"success":true,"memoryId":"%s","requestIndex":0,"deletedCount":1},{"success":false,"memoryId":"%s","error":{"code":%d,"message":"Memory not found: %[2]s"},"requestIndex":1},`+
			`{"success":true,"requestIndex":2,"deletedCount":1},{"success":false,"error":{"code":%[3]d,"message":"Space not found: %[2]s"},"requestIndex":3}],"totalDeleted":2}`, one, nobody, codes[0]), got)
		require.Len(t, c.srv.Memories(id), 1)
		got = c.do(http.StatusOK, "POST", "/v1/memories:batchDelete", object{"requests": []object{{"filterSelector": object{"spaceId": id, "statusFilter": "COMPLETED"}}}}).body
		require.Contains(t, got, `"totalDeleted":1`)
		c.do(http.StatusBadRequest, "POST", "/v1/memories:batchDelete", object{"requests": []object{{"filterSelector": object{"spaceId": id, "filter": "x"}}}})
	}
}

// withoutMemories replaces the memory objects of an answer by M.
func withoutMemories(s string) string {
	for {
		before, rest, found := strings.Cut(s, `{"memoryId":"`)
		at := strings.Index(rest, `"updatedById":"`)
		if !found || at < 0 {
			return s
		}
		s = before + "M" + rest[at+len(`"updatedById":"`)+36+2:]
	}
}

func TestContentIsGivenBackByteForByte(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	binary := string([]byte{0, 1, 2, 0xff, 0xfe, '\n'})
	var out struct{ MemoryID string }
	c.do(http.StatusCreated, "POST", "/v1/memories",
		object{"spaceId": id, "originalContentB64": base64.StdEncoding.EncodeToString([]byte(binary)), "contentType": "image/x-test"}).decode(t, &out)
	path := "/v1/memories/" + out.MemoryID + "/content"
	got := c.do(http.StatusOK, "GET", path, nil)
	require.Equal(t, binary, got.body)
	require.Equal(t, "image/x-test", got.header.Get("Content-Type"))
	require.NotEmpty(t, got.header.Get("ETag"))
	require.Empty(t, c.do(http.StatusOK, "HEAD", path, nil).body)
	require.Empty(t, texts(c.retrieve(id, "x", nil)), "there is no text in it")
	c.do(http.StatusNotFound, "GET", "/v1/memories/"+nobody+"/content", nil)
	c.do(http.StatusBadRequest, "GET", "/v1/memories/x/content", nil)
	c.do(http.StatusCreated, "POST", "/v1/memories", object{"spaceId": id, "originalContentRef": "https://x.test", "contentType": "text/plain"}).decode(t, &out)
	c.do(http.StatusNotFound, "GET", "/v1/memories/"+out.MemoryID+"/content", nil)
	require.NotContains(t, c.do(http.StatusOK, "GET", "/v1/memories/"+out.MemoryID+"?includeContent=true", nil).body, "originalContent\"")
}
