package goodmemtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest"
)

// A search against a server that holds two memories, and one after that while
// the server answers that there were too many.
func Example() {
	srv := goodmemtest.New(goodmemtest.Options{})
	web := httptest.NewServer(srv)
	defer web.Close()

	space := srv.AddSpace("recipes")
	srv.AddMemory(space, "A coconut curry noodle soup.", map[string]any{"site": "example.com"})
	srv.AddMemory(space, "Rice with beans.", map[string]any{"site": "example.org"})

	search := func() {
		body := fmt.Sprintf(`{"message":"noodle soup","spaceKeys":[{"spaceId":%q,"filter":"CAST(val('$.site') AS TEXT) = 'example.com'"}]}`, space)
		req, _ := http.NewRequest("POST", web.URL+"/v1/memories:retrieve", strings.NewReader(body))
		req.Header.Set("x-api-key", "gm_any")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			fmt.Println(res.Status, "retry after", res.Header.Get("Retry-After"))
			return
		}
		for events := json.NewDecoder(res.Body); events.More(); {
			var e struct {
				RetrievedItem *struct {
					Chunk struct{ Chunk struct{ ChunkText string } }
				}
			}
			if err := events.Decode(&e); err != nil {
				fmt.Println(err)
				return
			}
			if e.RetrievedItem != nil {
				fmt.Printf("%q\n", e.RetrievedItem.Chunk.Chunk.ChunkText)
			}
		}
	}
	search()
	srv.Inject(goodmemtest.Fault{
		Path: "/v1/memories:retrieve", Times: 1,
		Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}},
	})
	search()
	fmt.Println(len(srv.RequestsTo("POST", "/v1/memories:retrieve")), "searches received")
	// Output:
	// "A coconut curry noodle soup.\n"
	// 429 Too Many Requests retry after 1
	// 2 searches received
}
