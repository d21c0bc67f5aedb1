package goodmemtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
)

// cursor is where a page ended: the sort key of its last entry and its id.
type cursor struct {
	Text   string `json:"t,omitempty"`
	Number int64  `json:"n,omitempty"`
	ID     string `json:"i"`
}

// token is the opaque form, URL-safe base64 without padding.
func (c cursor) token() string { return base64.RawURLEncoding.EncodeToString(marshal(c)) }

// page is what a listing was asked for.
type page struct {
	size       int
	after      *cursor
	sort       string
	descending bool
}

// parameter returns a query parameter by its documented name or, as the Python
// SDK spells them, with underscores.
func (c *call) parameter(name, underscored string) string {
	if c.query.Has(name) {
		return c.query.Get(name)
	}
	return c.query.Get(underscored)
}

func (c *call) flag(name, underscored string) bool {
	on, err := strconv.ParseBool(c.parameter(name, underscored))
	return err == nil && on
}

// page reads the parameters of a listing. largest is what maxResults is
// clamped to; the first of sorts is the default.
func (s *Server) page(c *call, largest int, sorts ...string) (page, *reply) {
	p := page{size: 50, sort: sorts[0], descending: true}
	bad := func(format string, args ...any) (page, *reply) {
		r := s.fail(http.StatusBadRequest, format, args...)
		return p, &r
	}
	if text := c.parameter("maxResults", "max_results"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return bad("Invalid maxResults: %s", text)
		}
		p.size = min(max(n, 1), largest)
	}
	if text := c.parameter("nextToken", "next_token"); text != "" {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err == nil {
			err = json.Unmarshal(raw, &p.after)
		}
		if err != nil || p.after == nil {
			return bad("Invalid nextToken")
		}
	}
	if text := c.parameter("sortBy", "sort_by"); text != "" {
		p.sort = ""
		for _, known := range sorts {
			if text == known {
				p.sort = known
			}
		}
		if p.sort == "" {
			return bad("Invalid sortBy: %s", text)
		}
	}
	switch text := c.parameter("sortOrder", "sort_order"); text {
	case "", "DESCENDING", "SORT_ORDER_UNSPECIFIED":
	case "ASCENDING":
		p.descending = false
	default:
		return bad("Invalid sortOrder: %s", text)
	}
	return p, nil
}
