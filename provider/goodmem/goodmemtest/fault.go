package goodmemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"time"
)

// Fault is something that goes wrong. The first fields say with which
// requests, the others what; of those all that are set happen, up to where one
// ends the request.
type Fault struct {
	// Method and Path are those of the request; empty fits all. Path is a
	// pattern of path.Match, as "/v1/spaces/*/memories".
	Method, Path string
	// Match, when set, has to agree. It must not call the server.
	Match func(method, path string, body []byte) bool
	// Skip is how many fitting requests are spared first.
	Skip int
	// Every strikes each nth of those that follow; 0 and 1 strike all.
	Every int
	// Share, between 0 and 1, strikes that part of them, the same ones in
	// every run; 0 strikes all.
	Share float64
	// Times is how often the fault strikes at most; 0 is without end.
	Times int

	// Delay holds the request back before anything else.
	Delay time.Duration
	// Cut closes the connection before the request is handled; CutAfter does
	// so after, so that the client cannot know what happened.
	Cut, CutAfter bool
	// Status answers with this HTTP status instead of handling the request.
	// Body is the body; empty is an error in the server's first shape.
	Status int
	Body   string
	// Header is added to the answer, as Retry-After.
	Header http.Header

	// Item is asked for each item of batchCreate, batchGet and batchDelete,
	// and fails those for which it returns an error. It must not call the
	// server.
	Item func(Item) *ItemError

	// Instead is all that a retrieval streams: statuses without a result set,
	// as when the query cannot be embedded. Before and After are statuses in
	// front of BEGIN and behind END.
	Instead, Before, After []Status

	// Rewrite changes the body of the answer.
	Rewrite func([]byte) []byte
	// Truncate keeps that many bytes of the answer; less than zero cuts that
	// many off its end. TruncateLines keeps that many lines and half of the
	// next one. Then the connection is closed, or, with Clean, the answer ends
	// as if it were whole.
	Truncate, TruncateLines int
	Clean                   bool
	// LinePause waits after each line of the answer, which is sent at once.
	LinePause time.Duration
}

// Item is one item of a batch. Of batchGet and batchDelete only the ids that
// the request names are known.
type Item struct {
	Index    int
	MemoryID string
	SpaceID  string
	Metadata map[string]any
}

// ItemError is the error of a failed item of a batch.
type ItemError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Status is a status event of a retrieval.
type Status struct {
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Details map[string]string `json:"details,omitempty"`
}

// fault is an injected one with its count.
type fault struct {
	Fault
	seen, struck int
}

// Inject makes faults happen from now on; the first one injected that fits a
// request strikes it, and no other. The function that is returned takes them
// back.
func (s *Server) Inject(faults ...Fault) (remove func()) {
	added := make(map[*fault]bool)
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	for _, f := range faults {
		one := &fault{Fault: f}
		added[one] = true
		s.faults = append(s.faults, one)
	}
	return func() {
		s.faultMu.Lock()
		defer s.faultMu.Unlock()
		var kept []*fault
		for _, f := range s.faults {
			if !added[f] {
				kept = append(kept, f)
			}
		}
		s.faults = kept
	}
}

// ClearFaults takes all faults back.
func (s *Server) ClearFaults() {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.faults = nil
}

var noFault = &Fault{}

// strike returns the fault that a request meets.
func (s *Server) strike(method, escapedPath string, body []byte) *Fault {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	for _, f := range s.faults {
		if f.strikes(method, escapedPath, body) {
			return &f.Fault
		}
	}
	return noFault
}

func (f *fault) strikes(method, escapedPath string, body []byte) bool {
	if f.Times > 0 && f.struck >= f.Times || f.Method != "" && f.Method != method {
		return false
	}
	if fits, err := path.Match(f.Path, escapedPath); f.Path != "" && (err != nil || !fits) {
		return false
	}
	if f.Match != nil && !f.Match(method, escapedPath, body) {
		return false
	}
	n := f.seen - f.Skip
	f.seen++
	if n < 0 || f.Every > 1 && (n+1)%f.Every != 0 || f.Share > 0 && spread(uint64(n)) >= f.Share {
		return false
	}
	f.struck++
	return true
}

// spread turns a number into one between 0 and 1 that looks random.
func spread(n uint64) float64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	n ^= n >> 31
	return float64(n>>11) / (1 << 53)
}

// item returns the error that the fault has for an item.
func (f *Fault) item(index int, memoryID, spaceID string, metadata json.RawMessage) *ItemError {
	if f.Item == nil {
		return nil
	}
	it := Item{Index: index, MemoryID: memoryID, SpaceID: spaceID}
	_ = json.Unmarshal(metadata, &it.Metadata) // what is no object is refused elsewhere
	return f.Item(it)
}

// cutOff says what is left of an answer, and whether it ends too soon.
func (f *Fault) cutOff(body []byte) ([]byte, bool) {
	switch {
	case f.TruncateLines > 0:
		n, end := 0, 0
		for line := range bytes.Lines(body) {
			if n++; n > f.TruncateLines {
				end += len(line) / 2
				break
			}
			end += len(line)
		}
		body = body[:end]
	case f.Truncate > 0:
		body = body[:min(f.Truncate, len(body))]
	case f.Truncate < 0:
		body = body[:max(len(body)+f.Truncate, 0)]
	default:
		return body, false
	}
	return body, !f.Clean
}

// send writes the answer as the fault lets it. It panics with
// http.ErrAbortHandler to close the connection in the middle.
func (f *Fault) send(ctx context.Context, w http.ResponseWriter, r reply) {
	if f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	for name, values := range r.header {
		w.Header()[name] = values
	}
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	body := r.body
	if f.Rewrite != nil {
		body = f.Rewrite(body)
	}
	body, aborted := f.cutOff(body)
	control := http.NewResponseController(w)
	w.WriteHeader(r.status)
	if f.LinePause > 0 {
		for line := range bytes.Lines(body) {
			_, _ = w.Write(line)
			_ = control.Flush()
			if !sleep(ctx, f.LinePause) {
				return
			}
		}
	} else {
		// A client that is gone is none of a test server's business.
		_, _ = w.Write(body)
	}
	if aborted {
		_ = control.Flush()
		panic(http.ErrAbortHandler)
	}
}

// sleep waits and reports whether the request is still wanted.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
