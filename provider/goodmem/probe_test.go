package goodmem

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// dialectServer takes only filters that r reads as one equality.
func dialectServer(r reading, probes *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		probes.Add(1)
		q := req.URL.Query()
		if req.URL.Path != "/v1/spaces/"+idA+"/memories" || q.Get("maxResults") != "1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if _, _, err := r.equality(q.Get("filter")); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"memories":[],"nextToken":null}`))
	}
}

func TestTheDialectIsFoundOutOnce(t *testing.T) {
	for d, rs := range readings {
		for _, r := range rs {
			var probes atomic.Int32
			c, _ := newTestClient(t, dialectServer(r, &probes))
			e := Compare("site", provider.Equal, `O'Brien\n`)
			want, err := e.render(d)
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if got, err := c.filterText(t.Context(), strings.ToUpper(idA), e); err != nil || got != want {
						t.Errorf("%s: got %s, %v, want %s", r.name, got, err, want)
					}
				})
			}
			all.Wait()
			if n := probes.Load(); n != int32(d) { // the second dialect takes two
				t.Errorf("%s: %d probes, want %d", r.name, n, d)
			}
		}
	}
}

func TestAFilterThatReadsTheSameNeedsNoProbe(t *testing.T) {
	var probes atomic.Int32
	c, _ := newTestClient(t, dialectServer(reading{}, &probes))
	if got, err := c.filterText(t.Context(), idA, Compare("site", provider.Equal, "a.example")); err != nil || got == "" || probes.Load() != 0 {
		t.Errorf("got %q, %v after %d probes", got, err, probes.Load())
	}
	if _, err := c.filterText(t.Context(), idA, Compare("site", provider.Equal, "'\n")); !errors.Is(err, provider.ErrInvalid) || probes.Load() != 0 {
		t.Errorf("got %v after %d probes", err, probes.Load())
	}
}

func TestWithoutADialectNoSuchFilterIsSent(t *testing.T) {
	e := Compare("site", provider.Equal, "O'Brien")
	status := http.StatusBadRequest
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	if got, err := c.filterText(t.Context(), idA, e); !errors.Is(err, provider.ErrUnsupported) || got != "" {
		t.Errorf("a server of neither dialect: %q, %v", got, err)
	}
	status = http.StatusForbidden
	if got, err := c.filterText(t.Context(), idA, e); !errors.Is(err, provider.ErrPermission) || got != "" {
		t.Errorf("a server that refuses: %q, %v", got, err)
	}
	if got, err := c.filterText(t.Context(), "../x", e); !errors.Is(err, provider.ErrInvalid) || got != "" {
		t.Errorf("a space that is none: %q, %v", got, err)
	}
}
