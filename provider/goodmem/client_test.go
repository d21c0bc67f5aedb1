package goodmem

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// newTestClient returns a client that notes its pauses and does not wait.
func newTestClient(t *testing.T, h http.HandlerFunc) (*Client, *[]time.Duration) {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	s := goodSettings()
	s.BaseURL = web.URL + "/"
	c, err := NewClient(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var pauses []time.Duration
	c.pause = func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return ctx.Err()
	}
	return c, &pauses
}

var ping = call{op: "ask", method: http.MethodPost, path: []string{"v1", "a/../b c"}, body: map[string]any{"a": "<1>"}}

func TestARequestCarriesTheKeyInAHeaderAndItsPathEscaped(t *testing.T) {
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"got":%q}`, strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), r.Header.Get("Accept"), string(body)}, " "))
	})
	var out struct{ Got string }
	if err := c.do(t.Context(), ping, &out); err != nil {
		t.Fatal(err)
	}
	want := `POST /v1/a%2F..%2Fb%20c ` + testKey + ` application/json application/json {"a":"\u003c1\u003e"}`
	if out.Got != want {
		t.Errorf("got  %s\nwant %s", out.Got, want)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(text, testKey) {
		t.Errorf("the client shows the key: %s", text)
	}
}

func TestAnErrorHasItsClassAndTheServersWords(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   error
		words  string
	}{
		{400, `{"errors":[{"field":"spaceKeys[0].spaceId","message":"Invalid space ID format"},{"field":"b","message":"m"}]}`, provider.ErrInvalid, "spaceKeys[0].spaceId: Invalid space ID format; b: m"},
		{400, `{"error":"Invalid JSON request body"}`, provider.ErrInvalid, "Invalid JSON request body"},
		{401, ``, provider.ErrUnauthenticated, "Unauthorized"},
		{403, `{"message":"no"}`, provider.ErrPermission, "no"},
		{404, `{"error":"Space not found: x","status":404,"timestamp":1}`, provider.ErrInvalid, "Space not found: x"},
		{409, `{"error":"A space with this name already exists"}`, provider.ErrConflict, "already exists"},
		{422, `<b>odd</b>`, provider.ErrInvalid, "<b>odd</b>"},
		{500, `{"error":"the key ` + testKey + ` is odd"}`, provider.ErrInternal, "the key [secret] is odd"},
		{501, "", provider.ErrUnsupported, "Not Implemented"},
		{502, "\xff", provider.ErrUnavailable, "\uFFFD"},
		{504, strings.Repeat("x", 100_000), provider.ErrUnavailable, "xxx…"},
	} {
		requests := 0
		client, pauses := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		err := client.do(t.Context(), ping, nil)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) || !hasStatus(err, c.status) {
			t.Errorf("%d: %v, want %v with %q", c.status, err, c.kind, c.words)
		}
		if strings.Contains(err.Error(), testKey) || len(err.Error()) > maxWords+200 {
			t.Errorf("%d: the error is %v", c.status, err)
		}
		if requests != 1 || len(*pauses) != 0 {
			t.Errorf("%d was asked %d times", c.status, requests)
		}
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	for _, status := range []int{429, 503} {
		requests := 0
		c, pauses := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			if body, _ := io.ReadAll(r.Body); !bytes.Contains(body, []byte("a")) {
				t.Errorf("request %d came without its body", requests)
			}
			if requests < 3 {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				return
			}
			_, _ = io.WriteString(w, `{}`)
		})
		if err := c.do(t.Context(), ping, &struct{}{}); err != nil || requests != 3 {
			t.Errorf("%d: %v after %d requests", status, err, requests)
		}
		for i, p := range *pauses {
			if least := 7*time.Second + firstBackoff<<i/2; p < least || p > 2*least {
				t.Errorf("%d: pause %d is %v, want %v and some more", status, i, p, least)
			}
		}
	}
}

func TestAskingAgainEnds(t *testing.T) {
	requests, after := 0, ""
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Header().Set("Retry-After", after)
		w.WriteHeader(429)
		_, _ = io.WriteString(w, `{"error":"slow down"}`)
	})
	wants := func(what string, ctx context.Context, n int) {
		t.Helper()
		requests = 0
		if err := c.do(ctx, ping, nil); !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "slow down") || requests != n {
			t.Errorf("%s: %v after %d requests, want %d", what, err, requests, n)
		}
	}
	wants("always busy", t.Context(), maxAttempts)
	after = "3600"
	wants("busy for an hour", t.Context(), 1)
	after = "30"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	wants("busy past the deadline", ctx, 1)
	after = ""
	given, giveUp := context.WithCancel(t.Context())
	c.pause = func(ctx context.Context, d time.Duration) error { giveUp(); return sleep(ctx, time.Hour) }
	if err := c.do(given, ping, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestABrokenConnectionIsTriedAgain(t *testing.T) {
	var requests atomic.Int32
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"half":`)
		default:
			_, _ = io.WriteString(w, `{}`)
		}
	})
	if err := c.do(t.Context(), ping, &struct{}{}); err != nil || requests.Load() != 3 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
}

func TestAnUnreachableServerIsUnavailable(t *testing.T) {
	c, pauses := newTestClient(t, nil)
	web := httptest.NewServer(nil)
	c.settings.BaseURL = web.URL
	web.Close()
	r := ping
	r.query = map[string][]string{"filter": {"private words"}}
	err := c.do(t.Context(), r, nil)
	if !errors.Is(err, provider.ErrUnavailable) || len(*pauses) != maxAttempts-1 || strings.Contains(err.Error(), "private") {
		t.Errorf("%v after %d pauses", err, len(*pauses))
	}
}

func TestATimeoutAndACancelAreToldApart(t *testing.T) {
	release := make(chan struct{})
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	c.settings.Timeout = time.Millisecond
	if err := c.do(t.Context(), ping, nil); !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("slow server: %v", err)
	}
	c.settings.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.do(ctx, ping, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestTheKeyIsNotCarriedElsewhere(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/x", status)
		})
		if err := c.do(t.Context(), ping, nil); !errors.Is(err, provider.ErrInvalid) || !strings.Contains(err.Error(), "base_url") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the other server had %d requests", n)
	}
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2" {
			http.Redirect(w, r, "/v2", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, `{"key":"`+r.Method+`"}`)
	})
	var out struct{ Key string }
	if err := c.do(t.Context(), ping, &out); err != nil || out.Key != "POST" {
		t.Errorf("on the same server: %+v, %v", out, err)
	}
}

func TestCertificatesAreCheckedUnlessSwitchedOff(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{}`) }))
	web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	web.StartTLS()
	defer web.Close()
	dir := t.TempDir()
	ca, junk := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "junk.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	for path, data := range map[string][]byte{ca: block, junk: []byte("junk")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(change func(*Settings)) (string, error) {
		var log strings.Builder
		s := goodSettings()
		s.BaseURL, s.Log = web.URL, slog.New(slog.NewTextHandler(&log, nil))
		change(&s)
		c, err := NewClient(s, nil)
		if err == nil {
			err = errors.Join(c.do(t.Context(), ping, nil), c.Close())
		}
		return log.String(), err
	}
	if _, err := ask(func(*Settings) {}); !errors.Is(err, provider.ErrUnavailable) || !strings.Contains(err.Error(), "ca_file") {
		t.Errorf("unknown authority: %v", err)
	}
	if log, err := ask(func(s *Settings) { s.CAFile = ca }); err != nil || log != "" {
		t.Errorf("ca_file: %v, log %s", err, log)
	}
	if log, err := ask(func(s *Settings) { s.InsecureSkipVerify = true }); err != nil || !strings.Contains(log, "insecure_skip_verify") {
		t.Errorf("insecure_skip_verify: %v, log %q, want a warning", err, log)
	}
	for _, path := range []string{junk, filepath.Join(dir, "missing.pem")} {
		if _, err := ask(func(s *Settings) { s.CAFile = path }); !errors.Is(err, provider.ErrInvalid) || !strings.Contains(err.Error(), "ca_file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// idleCloser is a transport that notes whether it was closed.
type idleCloser struct {
	http.RoundTripper
	closed bool
}

func (c *idleCloser) CloseIdleConnections() { c.closed = true }

func TestAGivenClientIsNeitherClosedNorChanged(t *testing.T) {
	given := &http.Client{Transport: &idleCloser{RoundTripper: http.DefaultTransport}}
	c, err := NewClient(goodSettings(), given)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil || given.Transport.(*idleCloser).closed || given.CheckRedirect != nil {
		t.Errorf("given client: %+v, %v", given, err)
	}
	if err := c.do(t.Context(), ping, nil); !errors.Is(err, provider.ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
	s := goodSettings()
	s.InsecureSkipVerify = true
	if _, err := NewClient(s, given); !errors.Is(err, provider.ErrInvalid) {
		t.Errorf("insecure_skip_verify beside a given client: %v", err)
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "soon": 0,
		"Tue, 01 Sep 2026 12:00:09 GMT": 9 * time.Second, "Tue, 01 Sep 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", header, got, want)
		}
	}
}
