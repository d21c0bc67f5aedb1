package goodmem

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// How often and how soon a request is made again.
const (
	maxAttempts  = 5
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 10 * time.Second
	maxAfter     = 60 * time.Second // that a Retry-After is waited for
)

// statusError is the answer of a server that did not do what it was asked to.
type statusError struct {
	status int
	err    *provider.Error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// hasStatus reports whether err is the answer of a server with that status.
func hasStatus(err error, status int) bool {
	var e *statusError
	return errors.As(err, &e) && e.status == status
}

// retryable is a failure that another attempt may mend, after the pause that
// the server asked for.
type retryable struct {
	err   error
	after time.Duration
}

func (e *retryable) Error() string { return e.err.Error() }
func (e *retryable) Unwrap() error { return e.err }

// backoff returns how long to wait after a failed attempt, 0 being the first,
// and whether to try again at all. The pause is random between half and the
// whole of what doubles each time, so that clients that failed together do not
// come back together; it is never shorter than the server asked for.
func backoff(ctx context.Context, attempt int, after time.Duration) (time.Duration, bool) {
	if attempt+1 >= maxAttempts || after > maxAfter {
		return 0, false
	}
	longest := min(firstBackoff<<attempt, maxBackoff)
	wait := after + longest/2 + rand.N(longest/2)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return 0, false
	}
	return wait, true
}

// transportError is what went wrong on the way: ctx is the caller's, limited
// that of the attempt. The URL is left out of it: a filter can be in it.
func (c *Client) transportError(ctx, limited context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	if limited.Err() != nil {
		return provider.Errorf(provider.ErrUnavailable, "%s: no whole answer within the timeout of %v", op, c.settings.Timeout)
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	words := c.words(err.Error())
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return provider.Errorf(provider.ErrUnavailable, "%s: %s; ca_file names the authorities to trust", op, words)
	}
	return &retryable{err: provider.Errorf(provider.ErrUnavailable, "%s: %s", op, words)}
}

func (c *Client) statusError(op string, resp *http.Response) error {
	status := resp.StatusCode
	reason := fmt.Sprintf("%s: HTTP %d: %s", op, status, c.serverWords(resp))
	if status >= 300 && status < 400 {
		reason = fmt.Sprintf("%s: HTTP %d: the server sends requests elsewhere, and they are not followed there with the key; set base_url", op, status)
		if to, err := resp.Location(); err == nil {
			reason += fmt.Sprintf(" (it names %s://%s)", to.Scheme, to.Host)
		}
	}
	err := &statusError{status, &provider.Error{Kind: kindOfStatus(status), Reason: reason}}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return &retryable{err: err, after: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	}
	return err
}

func kindOfStatus(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return provider.ErrUnauthenticated
	case http.StatusForbidden:
		return provider.ErrPermission
	case http.StatusConflict:
		return provider.ErrConflict
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return provider.ErrUnavailable
	case http.StatusNotImplemented:
		return provider.ErrUnsupported
	}
	if status >= 300 && status < 500 {
		return provider.ErrInvalid
	}
	return provider.ErrInternal
}

// maxErrorBytes is how much of the body of an error is read, and maxWords how
// much of it is repeated.
const (
	maxErrorBytes = 64 << 10
	maxWords      = 2 << 10
)

// serverWords returns what the body of an error says, in any of the shapes
// that servers give it, and the text of the status where it says nothing.
func (c *Client) serverWords(resp *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	words := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	if !provider.ExceedsJSONDepth(body) && gjson.Valid(words) {
		v := gjson.Parse(words)
		var fields []string
		v.Get("errors").ForEach(func(_, e gjson.Result) bool {
			fields = append(fields, strings.TrimPrefix(e.Get("field").String()+": "+e.Get("message").String(), ": "))
			return true
		})
		switch {
		case v.Get("error").Type == gjson.String:
			words = v.Get("error").Str
		case len(fields) > 0:
			words = strings.Join(fields, "; ")
		case v.Get("message").Type == gjson.String:
			words = v.Get("message").Str
		}
	}
	if words == "" {
		words = http.StatusText(resp.StatusCode)
	}
	words = c.words(words)
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords], "") + "…"
	}
	return words
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(header); err == nil {
		return time.Duration(max(0, min(n, 1<<20))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
