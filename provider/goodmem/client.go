package goodmem

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// Client speaks to one GoodMem server. It is safe for concurrent use.
//
// It tries again, with growing pauses, what the server was too busy for (429,
// 503) and what a broken connection lost, and nothing else; every request that
// it makes can be made twice. The key goes into a header of requests to the
// server of base_url, and nowhere else.
type Client struct {
	settings Settings
	http     *http.Client
	own      *http.Transport // nil: the http.Client was given
	closed   atomic.Bool
	dialect  flight[Dialect]
	space    flight[string]
	pause    func(ctx context.Context, d time.Duration) error
}

// NewClient returns a client for the server of s, which it checks. With an http
// client of the caller's, ca_file, insecure_skip_verify and max_connections
// belong to that client, and setting the first two is an error; it is never closed.
func NewClient(s Settings, given *http.Client) (*Client, error) {
	s, err := s.Check()
	if err != nil {
		return nil, err
	}
	c := &Client{settings: s, http: &http.Client{}, pause: sleep}
	if given != nil {
		if s.CAFile != "" || s.InsecureSkipVerify {
			return nil, provider.Invalidf("ca_file", "ca_file and insecure_skip_verify mean nothing beside an http client that is given")
		}
		own := *given // the caller's keeps its way with redirects
		c.http = &own
	} else {
		if c.own, err = newTransport(s); err != nil {
			return nil, err
		}
		c.http.Transport = c.own
	}
	c.http.CheckRedirect = sameServer
	if s.InsecureSkipVerify {
		s.Log.Warn("insecure_skip_verify is on: whoever is between here and the server can read the API key", "base_url", s.BaseURL)
	}
	return c, nil
}

// Close lets go of idle connections, unless they are the caller's. Requests
// made afterwards fail with an error that matches provider.ErrUnavailable.
func (c *Client) Close() error {
	if !c.closed.Swap(true) && c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// String names the server.
func (c *Client) String() string { return "GoodMem at " + c.settings.BaseURL }

// GoString names the server.
func (c *Client) GoString() string { return c.String() }

func newTransport(s Settings) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxConnsPerHost = s.MaxConnections
	t.MaxIdleConns = s.MaxConnections
	t.MaxIdleConnsPerHost = s.MaxConnections
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.InsecureSkipVerify}
	if s.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		return nil, provider.Invalidf("ca_file", "%v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, provider.Invalidf("ca_file", "%s holds no certificate in PEM", s.CAFile)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// sameServer follows a redirect to the same server with the same method. Any
// other would carry the key elsewhere, or become another request.
func sameServer(to *http.Request, via []*http.Request) error {
	first := via[0]
	if to.URL.Scheme != first.URL.Scheme || to.URL.Host != first.URL.Host || to.Method != first.Method || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// call is one request: its method, its path below base_url as segments, which
// are escaped, its query, and what becomes its body as JSON (nil: none).
type call struct {
	op     string // for errors, such as "list spaces"
	method string
	path   []string
	query  url.Values
	body   any
	accept string
}

// maxBodyBytes bounds an answer that is read whole.
const maxBodyBytes = 128 << 20

// do makes a call and decodes the answer into out, unless it is nil.
func (c *Client) do(ctx context.Context, r call, out any) error {
	r.accept = "application/json"
	return c.send(ctx, r, func(body io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(body, maxBodyBytes+1))
		if err != nil {
			return err
		}
		if len(data) > maxBodyBytes {
			return provider.Errorf(provider.ErrInternal, "%s: the answer is longer than %d bytes", r.op, maxBodyBytes)
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(data, out); err != nil {
			return provider.Errorf(provider.ErrInternal, "%s: the answer of the server cannot be read: %v", r.op, err)
		}
		return nil
	})
}

// send makes a call, again and again where that may help, and has read read the
// body of the answer.
func (c *Client) send(ctx context.Context, r call, read func(io.Reader) error) error {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return provider.Errorf(provider.ErrInternal, "%s: %v", r.op, err)
		}
	}
	for attempt := 0; ; attempt++ {
		if c.closed.Load() {
			return provider.Errorf(provider.ErrUnavailable, "%s: the client is closed", r.op)
		}
		err := c.attempt(ctx, r, body, read)
		var again *retryable
		if !errors.As(err, &again) {
			return err
		}
		wait, ok := backoff(ctx, attempt, again.after)
		if !ok {
			return again.err
		}
		if err := c.pause(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", r.op, err)
		}
	}
}

func (c *Client) attempt(ctx context.Context, r call, body []byte, read func(io.Reader) error) error {
	limited, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	target := c.settings.BaseURL
	for _, segment := range r.path {
		target += "/" + url.PathEscape(segment)
	}
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(limited, r.method, target, bytes.NewReader(body))
	if err != nil {
		return provider.Errorf(provider.ErrInternal, "%s: the request cannot be made", r.op)
	}
	req.Header.Set("x-api-key", string(c.settings.APIKey))
	req.Header.Set("Accept", r.accept)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.transportError(ctx, limited, r.op, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.statusError(r.op, resp)
	}
	if err := read(resp.Body); err != nil {
		var known *provider.Error
		if errors.As(err, &known) {
			return err
		}
		return c.transportError(ctx, limited, r.op, err)
	}
	return nil
}

// words is what a server said, without the key, should it have repeated it.
func (c *Client) words(s string) string {
	return strings.ReplaceAll(s, string(c.settings.APIKey), hidden)
}
