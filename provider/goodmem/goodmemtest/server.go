package goodmemtest

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	keyHeader = "X-Api-Key"
	// maxBody is what a request body may hold.
	maxBody = 64 << 20
)

// Server is a GoodMem server in memory. It is safe for concurrent use.
type Server struct {
	options Options
	ids     ids
	owner   string // the principal that owns what is created
	actor   string // the API key's audit actor

	// mu guards what follows and what hangs off it.
	mu       sync.RWMutex
	spaces   map[string]*space
	memories map[string]*memory
	models   map[modelKind]map[string]*model
	pending  pendingQueue

	faultMu sync.Mutex
	faults  []*fault

	recordMu sync.Mutex
	recorded []*Request
}

// New returns a server that holds nothing.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Version = cmp.Or(o.Version, "server-v1.0.323")
	s := &Server{
		options:  o,
		spaces:   make(map[string]*space),
		memories: make(map[string]*memory),
		models:   map[modelKind]map[string]*model{kindEmbedder: {}, kindReranker: {}, kindLLM: {}},
	}
	s.owner, s.actor = s.newID(), s.newID()
	return s
}

func (s *Server) now() time.Time { return s.options.Now() }

func (s *Server) millis() int64 { return s.now().UnixMilli() }

func (s *Server) newID() string { return s.ids.next(s.millis()) }

// call is a request on its way through the server.
type call struct {
	*http.Request
	body  []byte
	fault *Fault
	query url.Values
}

// ServeHTTP answers a request. Where a fault cuts the connection it panics with
// http.ErrAbortHandler, as net/http wants it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	answered := s.record(r, body)
	f := s.strike(r.Method, r.URL.EscapedPath(), body)
	if !sleep(r.Context(), f.Delay) || f.Cut {
		panic(http.ErrAbortHandler)
	}
	var out reply
	var tooLarge *http.MaxBytesError
	switch {
	case f.Status != 0 && f.Body != "":
		out = newReply(f.Status, contentJSON, []byte(f.Body))
	case f.Status != 0:
		out = s.fail(f.Status, "%s", cmp.Or(http.StatusText(f.Status), "injected"))
	case s.options.MaxURI > 0 && len(r.URL.RequestURI()) > s.options.MaxURI:
		out = s.fail(http.StatusRequestURITooLong, "URI is longer than %d bytes", s.options.MaxURI)
	case errors.As(err, &tooLarge):
		out = s.fail(http.StatusRequestEntityTooLarge, "request body is larger than %d bytes", tooLarge.Limit)
	case err != nil:
		panic(http.ErrAbortHandler)
	default:
		out = s.route(&call{Request: r, body: body, fault: f, query: r.URL.Query()})
	}
	if !f.CutAfter {
		answered(out.status)
	}
	f.send(r.Context(), w, out)
}

// route finds who answers. Paths are matched as they come: a server that
// cleaned them would hide what a client did not escape.
func (s *Server) route(c *call) reply {
	segments := strings.Split(strings.TrimPrefix(c.URL.EscapedPath(), "/"), "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return s.fail(http.StatusBadRequest, "Invalid path")
		}
		segments[i] = decoded
	}
	if segments[0] != "v1" || len(segments) < 2 {
		return s.fail(http.StatusNotFound, "Not found: %s", c.URL.Path)
	}
	if c.URL.Path == "/v1/system/info" {
		return s.systemInfo(c)
	}
	key := c.Header.Get(keyHeader)
	if key == "" || s.options.APIKey != "" && key != s.options.APIKey {
		return s.fail(http.StatusUnauthorized, "Missing or invalid API key")
	}
	s.settle()
	type methods = map[string]func(*call) reply
	with := func(answer func(*call, string) reply) func(*call) reply {
		return func(c *call) reply { return answer(c, segments[2]) }
	}
	var known methods
	what := strings.Join(segments[1:], "/")
	if len(segments) > 2 {
		what = segments[1] + "/*" + strings.Join(append([]string{""}, segments[3:]...), "/")
	}
	switch what {
	case "spaces":
		known = methods{http.MethodGet: s.listSpaces, http.MethodPost: s.createSpace}
	case "spaces/*":
		known = methods{http.MethodGet: with(s.getSpace), http.MethodPut: with(s.updateSpace), http.MethodDelete: with(s.deleteSpace)}
	case "spaces/*/memories":
		known = methods{http.MethodGet: with(s.listMemories)}
	case "memories":
		known = methods{http.MethodPost: s.createMemory}
	case "memories:batchCreate":
		known = methods{http.MethodPost: s.batchCreate}
	case "memories:batchGet":
		known = methods{http.MethodPost: s.batchGet}
	case "memories:batchDelete":
		known = methods{http.MethodPost: s.batchDelete}
	case "memories:retrieve":
		known = methods{http.MethodPost: s.retrieve, http.MethodGet: s.retrieveByQuery}
	case "memories/*":
		known = methods{http.MethodGet: with(s.getMemory), http.MethodDelete: with(s.deleteMemory)}
	case "memories/*/content":
		known = methods{http.MethodGet: with(s.getContent), http.MethodHead: with(s.getContent)}
	default:
		kind, item, _ := strings.Cut(what, "/")
		if _, ok := s.models[modelKind(kind)]; ok && item == "" {
			known = methods{http.MethodGet: s.listModels(modelKind(kind)), http.MethodPost: s.createModel(modelKind(kind))}
		} else if ok && item == "*" {
			known = methods{
				http.MethodGet:    with(s.getModel(modelKind(kind))),
				http.MethodPut:    with(s.updateModel(modelKind(kind))),
				http.MethodDelete: with(s.deleteModel(modelKind(kind))),
			}
		}
	}
	if known == nil {
		return s.fail(http.StatusNotFound, "Not found: %s", c.URL.Path)
	}
	handle := known[c.Method]
	if handle == nil {
		return s.fail(http.StatusMethodNotAllowed, "Method not allowed: %s", c.Method)
	}
	return handle(c)
}

// systemInfo tells the version, without a key.
func (s *Server) systemInfo(*call) reply {
	var numbers [3]int
	first := max(strings.IndexAny(s.options.Version, "0123456789"), 0)
	for i, part := range strings.SplitN(s.options.Version[first:], ".", 3) {
		for _, digit := range part {
			if digit < '0' || digit > '9' {
				break
			}
			numbers[i] = numbers[i]*10 + int(digit-'0')
		}
	}
	return answer(http.StatusOK, struct {
		Version string `json:"version"`
		Major   int    `json:"major"`
		Minor   int    `json:"minor"`
		Patch   int    `json:"patch"`
		Dirty   bool   `json:"dirty"`
	}{s.options.Version, numbers[0], numbers[1], numbers[2], false})
}
