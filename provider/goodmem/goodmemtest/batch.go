package goodmemtest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

// batchCreate answers 200 whatever became of the items. An id that is no UUID
// refuses the whole request; a space that is missing fails its item.
func (s *Server) batchCreate(c *call) reply {
	var in jsonBatchMemoryCreationRequest
	if isMultipart(c.Request) {
		return s.fail(http.StatusUnsupportedMediaType, "goodmemtest does not read multipart batches")
	}
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	var bad []fieldError
	if len(in.Requests) == 0 {
		bad = append(bad, fieldError{"requests", "At least one request is required"})
	}
	memories := make([]*memory, len(in.Requests))
	for i := range in.Requests {
		m, wrong := s.newMemory(&in.Requests[i], nil, fmt.Sprintf("requests[%d].", i))
		memories[i], bad = m, append(bad, wrong...)
	}
	if len(bad) > 0 {
		return invalid(bad...)
	}
	b := []byte(`{"results":[`)
	for i, m := range memories {
		if i > 0 {
			b = append(b, ',')
		}
		if e := c.fault.item(i, m.id, m.spaceID, in.Requests[i].Metadata); e != nil {
			b = appendItemError(b, "", e)
			continue
		}
		stored, failed := s.store(m)
		if failed != nil {
			b = appendItemError(b, "", s.itemError(failed))
			continue
		}
		b = append(append(append(b, `{"success":true,"memory":`...), stored...), '}')
	}
	return newReply(http.StatusOK, contentJSON, append(b, "]}"...))
}

// appendItemError writes a failed item; the id only where a response has one.
func appendItemError(b []byte, memoryID string, e *ItemError) []byte {
	b = append(b, `{"success":false`...)
	if memoryID != "" {
		b = append(b, `,"memoryId":"`+memoryID+`"`...)
	}
	return append(append(append(b, `,"error":`...), marshal(e)...), '}')
}

type batchMemoryRetrievalRequest struct {
	IDs            []string `json:"memoryIds"`
	IncludeContent bool     `json:"includeContent"`
	IncludeHistory bool     `json:"includeProcessingHistory"`
}

func (s *Server) batchGet(c *call) reply {
	var in batchMemoryRetrievalRequest
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	var bad []fieldError
	if len(in.IDs) == 0 {
		bad = append(bad, fieldError{"memoryIds", "At least one memory ID is required"})
	}
	for i, id := range in.IDs {
		canonical, ok := parseUUID(id)
		if !ok {
			bad = append(bad, fieldError{fmt.Sprintf("memoryIds[%d]", i), "Invalid memory ID format"})
		}
		in.IDs[i] = canonical
	}
	if len(bad) > 0 {
		return invalid(bad...)
	}
	v := view{content: in.IncludeContent, history: in.IncludeHistory}
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := []byte(`{"results":[`)
	for i, id := range in.IDs {
		if i > 0 {
			b = append(b, ',')
		}
		m := s.memories[id]
		e := c.fault.item(i, id, "", nil)
		if e == nil && m == nil {
			e = s.itemError(&failure{http.StatusNotFound, 5, "Memory not found: " + id})
		}
		if e != nil {
			b = appendItemError(b, id, e)
			continue
		}
		b = append(appendMemory(append(b, `{"success":true,"memory":`...), m, v), '}')
	}
	return newReply(http.StatusOK, contentJSON, append(b, "]}"...))
}

type batchMemoryDeletionRequest struct {
	Requests []batchDeleteMemorySelectorRequest `json:"requests"`
}

type batchDeleteMemorySelectorRequest struct {
	MemoryID string                               `json:"memoryId"`
	Filter   *filteredDeleteMemorySelectorRequest `json:"filterSelector"`
}

type filteredDeleteMemorySelectorRequest struct {
	SpaceID string `json:"spaceId"`
	Status  string `json:"statusFilter"`
	Filter  string `json:"filter"`
}

func (s *Server) batchDelete(c *call) reply {
	var in batchMemoryDeletionRequest
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	var bad []fieldError
	if len(in.Requests) == 0 {
		bad = append(bad, fieldError{"requests", "At least one request is required"})
	}
	filters := make([]*filter.Expr, len(in.Requests))
	for i := range in.Requests {
		r, prefix := &in.Requests[i], fmt.Sprintf("requests[%d].", i)
		switch {
		case (r.MemoryID == "") == (r.Filter == nil):
			bad = append(bad, fieldError{prefix + "memoryId", "Exactly one of memoryId, filterSelector must be set"})
		case r.Filter == nil:
			bad = append(bad, optionalID(&r.MemoryID, prefix+"memoryId", "Invalid memory ID format")...)
		default:
			var ok bool
			if r.Filter.SpaceID, ok = parseUUID(r.Filter.SpaceID); !ok {
				bad = append(bad, fieldError{prefix + "filterSelector.spaceId", "Invalid space ID format"})
			}
			if !isStatus(r.Filter.Status) {
				bad = append(bad, fieldError{prefix + "filterSelector.statusFilter", "Invalid status"})
			}
			var wrong *reply
			if filters[i], wrong = s.parseFilter(r.Filter.Filter); wrong != nil {
				return *wrong
			}
		}
	}
	if len(bad) > 0 {
		return invalid(bad...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, total := []byte(`{"results":[`), 0
	for i, r := range in.Requests {
		if i > 0 {
			b = append(b, ',')
		}
		deleted, e := 0, c.fault.item(i, r.MemoryID, "", nil)
		if e == nil {
			deleted, e = s.deleteSelected(r, filters[i])
		}
		if e != nil {
			b = appendItemError(b, r.MemoryID, e)
			b = append(b[:len(b)-1], `,"requestIndex":`+strconv.Itoa(i)+`}`...)
			continue
		}
		total += deleted
		b = append(b, `{"success":true`...)
		if r.MemoryID != "" {
			b = append(b, `,"memoryId":"`+r.MemoryID+`"`...)
		}
		b = append(b, fmt.Sprintf(`,"requestIndex":%d,"deletedCount":%d}`, i, deleted)...)
	}
	return newReply(http.StatusOK, contentJSON, append(b, fmt.Sprintf(`],"totalDeleted":%d}`, total)...))
}

// deleteSelected deletes what one selector names; the caller holds the lock.
func (s *Server) deleteSelected(r batchDeleteMemorySelectorRequest, f *filter.Expr) (int, *ItemError) {
	if r.Filter == nil {
		m := s.memories[r.MemoryID]
		if m == nil {
			return 0, s.itemError(&failure{http.StatusNotFound, 5, "Memory not found: " + r.MemoryID})
		}
		s.drop(m)
		return 1, nil
	}
	sp := s.spaces[r.Filter.SpaceID]
	if sp == nil {
		return 0, s.itemError(&failure{http.StatusNotFound, 5, "Space not found: " + r.Filter.SpaceID})
	}
	match := s.matcher(f, r.Filter.Status)
	candidates, _ := sp.corpus.candidates(f)
	var doomed []*memory
	for _, m := range candidates {
		if match.accept(m) {
			doomed = append(doomed, m)
		}
	}
	if match.err != nil {
		return 0, s.itemError(&failure{http.StatusInternalServerError, 13, match.err.Error()})
	}
	for _, m := range doomed {
		s.drop(m)
	}
	return len(doomed), nil
}

func isStatus(s string) bool {
	switch s {
	case "", Pending, Processing, Completed, Failed:
		return true
	}
	return false
}
