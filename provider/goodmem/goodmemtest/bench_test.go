package goodmemtest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill stores documents of about 60 words on 100 sites, in batches, straight
// through the handler.
func fill(b testing.TB, srv *Server, documents int) string {
	b.Helper()
	space := srv.AddSpace("many")
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < documents; from += 100 {
		var requests []object
		for i := from; i < min(from+100, documents); i++ {
			var text strings.Builder
			for range 60 {
				fmt.Fprintf(&text, "word%d ", int(random.ExpFloat64()*200))
			}
			requests = append(requests, object{"spaceId": space, "originalContent": text.String(), "contentType": "text/plain",
				"metadata": object{"url": fmt.Sprintf("https://site%d.test/%d", i%100, i), "site": fmt.Sprintf("site%d.test", i%100), "n": i}})
		}
		direct(b, srv, "POST", "/v1/memories:batchCreate", object{"requests": requests})
	}
	return space
}

func direct(b testing.TB, srv *Server, method, path string, body any) *httptest.ResponseRecorder {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(string(marshal(body))))
	r.Header.Set("x-api-key", "gm_bench")
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	require.Equal(b, http.StatusOK, w.Code, w.Body.String())
	return w
}

func Benchmark(b *testing.B) {
	const documents = 10_000
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			fill(b, New(Options{Discard: true}), 1000)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/document")
	})
	srv := New(Options{Discard: true})
	space := fill(b, srv, documents)
	for name, expression := range map[string]string{
		"retrieve/all": "", "retrieve/site": `CAST(val('$.site') AS TEXT) = 'site7.test'`,
		"retrieve/scan": `CAST(val('$.n') AS NUMERIC) < 100`, "retrieve/none": `CAST(val('$.site') AS TEXT) LIKE 'none'`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				direct(b, srv, "POST", "/v1/memories:retrieve", object{"message": "word1 word20 word400", "requestedSize": 50,
					"spaceKeys": []object{{"spaceId": space, "filter": expression}}})
			}
		})
	}
	b.Run("list/page", func(b *testing.B) {
		for b.Loop() {
			direct(b, srv, "GET", "/v1/spaces/"+space+"/memories?maxResults=500", nil)
		}
	})
	b.Run("list/100urls", func(b *testing.B) {
		var urls []string
		for i := range 100 {
			urls = append(urls, fmt.Sprintf("'https://site%d.test/%d'", i%100, i*100+i))
		}
		query := strings.ReplaceAll("?filter=CAST(val('$.url') AS TEXT) IN ("+strings.Join(urls, ", ")+")", " ", "+")
		for b.Loop() {
			direct(b, srv, "GET", "/v1/spaces/"+space+"/memories"+query, nil)
		}
	})
}
