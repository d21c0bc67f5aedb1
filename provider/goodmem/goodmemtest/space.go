package goodmemtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// space is a space with all that is in it.
type space struct {
	ID        string            `json:"spaceId"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Embedders []spaceEmbedder   `json:"spaceEmbedders"`
	Created   int64             `json:"createdAt"`
	Updated   int64             `json:"updatedAt"`
	OwnerID   string            `json:"ownerId"`
	CreatedBy string            `json:"createdById"`
	UpdatedBy string            `json:"updatedById"`
	Chunking  chunking          `json:"defaultChunkingConfig"`

	corpus corpus
}

type spaceEmbedder struct {
	SpaceID    string `json:"spaceId"`
	EmbedderID string `json:"embedderId"`
	Weight     double `json:"defaultRetrievalWeight"`
	Created    int64  `json:"createdAt"`
	Updated    int64  `json:"updatedAt"`
	CreatedBy  string `json:"createdById"`
	UpdatedBy  string `json:"updatedById"`
}

type spaceCreationRequest struct {
	Name      string                `json:"name"`
	Labels    map[string]string     `json:"labels"`
	Embedders []spaceEmbedderConfig `json:"spaceEmbedders"`
	OwnerID   string                `json:"ownerId"`
	Chunking  *chunking             `json:"defaultChunkingConfig"`
	SpaceID   string                `json:"spaceId"`
}

type spaceEmbedderConfig struct {
	EmbedderID string   `json:"embedderId"`
	Weight     *float64 `json:"defaultRetrievalWeight"`
}

func (s *Server) createSpace(c *call) reply {
	var in spaceCreationRequest
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	var bad []fieldError
	if strings.TrimSpace(in.Name) == "" {
		bad = append(bad, fieldError{"name", "Space name is required"})
	}
	if len(in.Embedders) == 0 {
		bad = append(bad, fieldError{"spaceEmbedders", "At least one embedder is required"})
	}
	for i, e := range in.Embedders {
		var ok bool
		if in.Embedders[i].EmbedderID, ok = parseUUID(e.EmbedderID); !ok {
			bad = append(bad, fieldError{fmt.Sprintf("spaceEmbedders[%d].embedderId", i), "Invalid embedder ID format"})
		}
	}
	if in.Chunking == nil {
		bad = append(bad, fieldError{"defaultChunkingConfig", "Default chunking configuration is required"})
	} else if message := in.Chunking.complete(); message != "" {
		bad = append(bad, fieldError{"defaultChunkingConfig", message})
	}
	bad = append(bad, optionalID(&in.SpaceID, "spaceId", "Invalid space ID format")...)
	bad = append(bad, optionalID(&in.OwnerID, "ownerId", "Invalid owner ID format")...)
	if len(bad) > 0 {
		return invalid(bad...)
	}
	now := s.millis()
	sp := &space{
		ID: in.SpaceID, Name: in.Name, Labels: in.Labels, Created: now, Updated: now,
		OwnerID: cmp.Or(in.OwnerID, s.owner), CreatedBy: s.actor, UpdatedBy: s.actor, Chunking: *in.Chunking,
	}
	if sp.ID == "" {
		sp.ID = s.newID()
	}
	if sp.Labels == nil {
		sp.Labels = map[string]string{}
	}
	for _, e := range in.Embedders {
		weight := 1.0
		if e.Weight != nil {
			weight = *e.Weight
		}
		sp.Embedders = append(sp.Embedders, spaceEmbedder{sp.ID, e.EmbedderID, double(weight), now, now, s.actor, s.actor})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range sp.Embedders {
		if s.models[kindEmbedder][e.EmbedderID] == nil {
			return s.fail(http.StatusNotFound, "Embedder not found: %s", e.EmbedderID)
		}
	}
	if s.spaces[sp.ID] != nil {
		return s.fail(http.StatusConflict, "A space with this ID already exists")
	}
	if s.nameTaken(sp) {
		return s.fail(http.StatusConflict, "A space with this name already exists")
	}
	s.spaces[sp.ID] = sp
	return answer(http.StatusCreated, sp)
}

// optionalID checks an id that may be missing and puts its canonical form in
// its place.
func optionalID(id *string, field, message string) []fieldError {
	if *id == "" {
		return nil
	}
	canonical, ok := parseUUID(*id)
	if !ok {
		return []fieldError{{field, message}}
	}
	*id = canonical
	return nil
}

// nameTaken reports whether the owner has another space of that name.
func (s *Server) nameTaken(sp *space) bool {
	for _, other := range s.spaces {
		if other != sp && other.Name == sp.Name && other.OwnerID == sp.OwnerID {
			return true
		}
	}
	return false
}

// findSpace returns a space; the caller holds the lock.
func (s *Server) findSpace(id string) (*space, *reply) {
	canonical, ok := parseUUID(id)
	if !ok {
		r := invalid(fieldError{"spaceId", "Invalid space ID format"})
		return nil, &r
	}
	sp := s.spaces[canonical]
	if sp == nil {
		r := s.fail(http.StatusNotFound, "Space not found: %s", canonical)
		return nil, &r
	}
	return sp, nil
}

func (s *Server) getSpace(_ *call, id string) reply {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sp, missing := s.findSpace(id)
	if missing != nil {
		return *missing
	}
	return answer(http.StatusOK, sp)
}

// updateSpaceRequest lists what the server's decoder knows, in its order.
type updateSpaceRequest struct {
	Chunking      *chunking         `json:"defaultChunkingConfig"`
	Name          *string           `json:"name"`
	MergeLabels   map[string]string `json:"mergeLabels"`
	ReplaceLabels map[string]string `json:"replaceLabels"`
}

func (s *Server) updateSpace(c *call, id string) reply {
	var in updateSpaceRequest
	if wrong := decode(c.body, &in); wrong != nil {
		return *wrong
	}
	switch {
	case in.MergeLabels != nil && in.ReplaceLabels != nil:
		return s.fail(http.StatusBadRequest, "Only one of mergeLabels and replaceLabels can be set")
	case in.Chunking != nil:
		return s.fail(http.StatusBadRequest, "defaultChunkingConfig cannot be changed")
	case in.Name != nil && strings.TrimSpace(*in.Name) == "":
		return invalid(fieldError{"name", "Space name is required"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, missing := s.findSpace(id)
	if missing != nil {
		return *missing
	}
	if in.Name != nil {
		renamed := *in.Name
		for _, other := range s.spaces {
			if other != sp && other.Name == renamed && other.OwnerID == sp.OwnerID {
				return s.fail(http.StatusConflict, "A space with this name already exists")
			}
		}
		sp.Name = renamed
	}
	sp.Labels = mergeLabels(sp.Labels, in.MergeLabels, in.ReplaceLabels)
	sp.Updated = s.millis()
	return answer(http.StatusOK, sp)
}

func mergeLabels(labels, merge, replace map[string]string) map[string]string {
	if replace != nil {
		return replace
	}
	out := maps.Clone(labels)
	maps.Copy(out, merge)
	return out
}

func (s *Server) deleteSpace(_ *call, id string) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, missing := s.findSpace(id)
	if missing != nil {
		return *missing
	}
	for _, m := range sp.corpus.live() {
		m.gone = true
		delete(s.memories, m.id)
	}
	delete(s.spaces, sp.ID)
	return noContent()
}

func (s *Server) listSpaces(c *call) reply {
	p, bad := s.page(c, 1000, "created_time", "updated_time", "name")
	if bad != nil {
		return *bad
	}
	owner := c.parameter("ownerId", "owner_id")
	named := s.options.NameFilter.match(c.parameter("nameFilter", "name_filter"))
	wanted := labelFilter(c.query)
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*space
	for _, sp := range s.spaces {
		if (owner == "" || strings.EqualFold(owner, sp.OwnerID)) && named(sp.Name) && wanted(sp.Labels) {
			found = append(found, sp)
		}
	}
	at := func(sp *space) cursor {
		switch p.sort {
		case "name":
			return cursor{Text: sp.Name, ID: sp.ID}
		case "updated_time":
			return cursor{Number: sp.Updated, ID: sp.ID}
		}
		return cursor{Number: sp.Created, ID: sp.ID}
	}
	slices.SortFunc(found, func(a, b *space) int { return p.compare(at(a), at(b)) })
	found, next := cutPage(p, found, at)
	return answer(http.StatusOK, struct {
		Spaces    []*space `json:"spaces"`
		NextToken *string  `json:"nextToken"`
	}{found, next})
}

// compare orders two entries as the page wants them.
func (p page) compare(a, b cursor) int {
	n := cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Text, b.Text), strings.Compare(a.ID, b.ID))
	if p.descending {
		return -n
	}
	return n
}

// cutPage cuts a page out of sorted entries, and returns the token of the next
// one if there is more.
func cutPage[T any](p page, all []T, at func(T) cursor) ([]T, *string) {
	if p.after != nil {
		first, found := slices.BinarySearchFunc(all, *p.after, func(e T, c cursor) int { return p.compare(at(e), c) })
		if found {
			first++
		}
		all = all[first:]
	}
	if len(all) <= p.size {
		return append([]T{}, all...), nil
	}
	next := at(all[p.size-1]).token()
	return all[:p.size], &next
}

// AddSpace makes a space of the name with one embedder, a new one when none is
// given, and returns its id. A name that is taken panics.
func (s *Server) AddSpace(name string, embedderIDs ...string) string {
	if len(embedderIDs) == 0 {
		embedderIDs = []string{s.AddEmbedder(Embedder{})}
	}
	in := map[string]any{"name": name, "defaultChunkingConfig": map[string]any{"recursive": map[string]any{"chunkSize": 512, "chunkOverlap": 64}}}
	var embedders []map[string]string
	for _, id := range embedderIDs {
		embedders = append(embedders, map[string]string{"embedderId": id})
	}
	in["spaceEmbedders"] = embedders
	var out space
	s.mustCreate(s.createSpace(&call{body: marshal(in), fault: noFault}), &out)
	return out.ID
}
