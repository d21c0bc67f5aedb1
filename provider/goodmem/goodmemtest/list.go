package goodmemtest

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// parseFilter reads a filter in the server's dialect; nil for an empty one.
func (s *Server) parseFilter(expression string) (*filter.Expr, *reply) {
	if expression == "" {
		return nil, nil
	}
	f, err := filter.Parse(expression, s.options.Dialect)
	if err == nil {
		return f, nil
	}
	var wrong *filter.Error
	if errors.As(err, &wrong) && wrong.Internal {
		r := s.fail(http.StatusInternalServerError, "Internal server error: %s", wrong.Reason)
		return nil, &r
	}
	r := s.fail(http.StatusBadRequest, "Invalid filter expression: %v", err)
	return nil, &r
}

// matcher decides on memories, on each once.
type matcher struct {
	filter *filter.Expr
	status string
	now    time.Time
	seen   map[*memory]bool
	err    error
}

func (s *Server) matcher(f *filter.Expr, status string) *matcher {
	return &matcher{filter: f, status: status, now: s.now(), seen: make(map[*memory]bool)}
}

// accept reports whether a memory is there, in the state and in the filter. The
// caller holds the lock.
func (x *matcher) accept(m *memory) bool {
	if m.gone || x.status != "" && m.state != x.status {
		return false
	}
	if x.filter == nil || x.err != nil {
		return x.err == nil
	}
	ok, known := x.seen[m]
	if !known {
		var err error
		if ok, err = x.filter.Match(m.fields(), x.now); err != nil {
			x.err = err
			return false
		}
		x.seen[m] = ok
	}
	return ok
}

func (s *Server) listMemories(c *call, spaceID string) reply {
	p, bad := s.page(c, 500, "created_at", "updated_at", "content_type", "processing_status")
	if bad != nil {
		return *bad
	}
	status := c.parameter("statusFilter", "status_filter")
	if !isStatus(status) {
		return s.fail(http.StatusBadRequest, "Invalid statusFilter: %s", status)
	}
	f, wrong := s.parseFilter(c.query.Get("filter"))
	if wrong != nil {
		return *wrong
	}
	match := s.matcher(f, status)
	s.mu.RLock()
	defer s.mu.RUnlock()
	sp, missing := s.findSpace(spaceID)
	if missing != nil {
		return *missing
	}
	candidates, _ := sp.corpus.candidates(f)
	var found []*memory
	var next *string
	if p.sort == "created_at" {
		found, next = p.walk(candidates, match)
	} else {
		at := memoryCursor(p.sort)
		for _, m := range candidates {
			if match.accept(m) {
				found = append(found, m)
			}
		}
		slices.SortFunc(found, func(a, b *memory) int { return p.compare(at(a), at(b)) })
		found, next = cutPage(p, found, at)
	}
	if match.err != nil {
		return s.fail(http.StatusInternalServerError, "Internal server error: %v", match.err)
	}
	b := []byte(`{"memories":[`)
	for i, m := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMemory(b, m, c.view())
	}
	return newReply(http.StatusOK, contentJSON, append(append(append(b, `],"nextToken":`...), marshal(next)...), '}'))
}

func memoryCursor(sort string) func(*memory) cursor {
	return func(m *memory) cursor {
		switch sort {
		case "updated_at":
			return cursor{Number: m.updated, ID: m.id}
		case "content_type":
			return cursor{Text: m.contentType, ID: m.id}
		case "processing_status":
			return cursor{Text: m.state, ID: m.id}
		}
		return cursor{Number: m.created, ID: m.id}
	}
}

// walk takes a page from memories that are in the order of their creation,
// without looking at those before or behind it.
func (p page) walk(all []*memory, match *matcher) ([]*memory, *string) {
	at := memoryCursor("created_at")
	i, by := 0, 1
	if p.descending {
		i, by = len(all)-1, -1
	}
	if p.after != nil {
		ascending := page{}
		first, found := slices.BinarySearchFunc(all, *p.after, func(m *memory, c cursor) int { return ascending.compare(at(m), c) })
		switch {
		case p.descending:
			i = first - 1
		case found:
			i = first + 1
		default:
			i = first
		}
	}
	var out []*memory
	for ; i >= 0 && i < len(all); i += by {
		if !match.accept(all[i]) {
			continue
		}
		if len(out) == p.size {
			next := at(out[p.size-1]).token()
			return out, &next
		}
		out = append(out, all[i])
	}
	return out, nil
}
