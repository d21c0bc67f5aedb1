package goodmemtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// modelKind is the path under which a kind of model is found.
type modelKind string

const (
	kindEmbedder modelKind = "embedders"
	kindReranker modelKind = "rerankers"
	kindLLM      modelKind = "llms"
)

// modelShape is what a kind looks like on the wire.
type modelShape struct {
	id, name string   // the property of the id; the word in messages
	required []string // of a create
	order    []string // of what is answered, between the id and the audit fields
	extra    []string // what a create takes besides
}

var modelShapes = map[modelKind]modelShape{
	kindEmbedder: {
		id: "embedderId", name: "Embedder",
		required: []string{"displayName", "providerType", "endpointUrl", "modelIdentifier", "dimensionality", "distributionType"},
		order: []string{"displayName", "description", "providerType", "endpointUrl", "apiPath", "modelIdentifier", "dimensionality", "distributionType",
			"maxSequenceLength", "supportedModalities", "labels", "version", "monitoringEndpoint"},
		extra: []string{"credentials", "ownerId", "dashscopeApiDialect", "geminiEndpointConfig"},
	},
	kindReranker: {
		id: "rerankerId", name: "Reranker",
		required: []string{"displayName", "providerType", "endpointUrl", "modelIdentifier"},
		order: []string{"displayName", "description", "providerType", "endpointUrl", "apiPath", "modelIdentifier", "supportedModalities", "labels", "version",
			"monitoringEndpoint"},
		extra: []string{"credentials", "ownerId", "dashscopeApiDialect"},
	},
	kindLLM: {
		id: "llmId", name: "LLM",
		required: []string{"displayName", "providerType", "endpointUrl", "modelIdentifier"},
		order: []string{"displayName", "description", "providerType", "endpointUrl", "apiPath", "modelIdentifier", "supportedModalities", "labels", "version",
			"monitoringEndpoint", "capabilities", "defaultSamplingParams", "maxContextLength", "clientConfig"},
		extra: []string{"credentials", "ownerId", "dashscopeApiDialect"},
	},
}

// model is an embedder, a reranker or an LLM.
type model struct {
	kind    modelKind
	id      string
	values  map[string]json.RawMessage
	owner   string
	created int64
	updated int64
	actor   string

	embedder Embedder
	reranker Reranker
	llm      LLM
}

// MarshalJSON writes what is set, in the order of the wire. Credentials are
// never among it.
func (m *model) MarshalJSON() ([]byte, error) {
	shape := modelShapes[m.kind]
	out := []member{{shape.id, m.id}}
	for _, name := range shape.order {
		if v, ok := m.values[name]; ok {
			out = append(out, member{name, v})
		}
	}
	out = append(out, member{"ownerId", m.owner}, member{"createdAt", m.created}, member{"updatedAt", m.updated},
		member{"createdById", m.actor}, member{"updatedById", m.actor})
	b := []byte{'{'}
	for i, f := range out {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, f.name), ':'), marshal(f.value)...)
	}
	return append(b, '}'), nil
}

// decodeModel reads a body whose properties are the known ones.
func decodeModel(body []byte, class string, known []string) (map[string]json.RawMessage, *reply) {
	var values map[string]json.RawMessage
	if wrong := decode(body, &values); wrong != nil {
		return nil, wrong
	}
	for name := range values {
		if !slices.Contains(known, name) {
			r := undecodable(fmt.Sprintf("Unrecognized field %q (class com.goodmem.rest.dto.%s), not marked as ignorable (%d known properties: %q)%s "+
				"(through reference chain: com.goodmem.rest.dto.%s[%q])", name, class, len(known), known, location(body, 0), class, name))
			return nil, &r
		}
		if string(values[name]) == "null" {
			delete(values, name)
		}
	}
	return values, nil
}

func (s *Server) createModel(kind modelKind) func(*call) reply {
	shape := modelShapes[kind]
	return func(c *call) reply {
		values, wrong := decodeModel(c.body, shape.name+"CreationRequest", slices.Concat(shape.order, shape.extra, []string{shape.id}))
		if wrong != nil {
			return *wrong
		}
		var bad []fieldError
		for _, name := range shape.required {
			if v := string(values[name]); v == "" || v == `""` {
				bad = append(bad, fieldError{name, name + " is required"})
			}
		}
		var id string
		_ = json.Unmarshal(values[shape.id], &id)
		bad = append(bad, optionalID(&id, shape.id, fmt.Sprintf("Invalid %s ID format", strings.ToLower(shape.name)))...)
		if len(bad) > 0 {
			return invalid(bad...)
		}
		_, shown, conflict := s.addModel(kind, id, values)
		switch {
		case conflict != "":
			return s.fail(http.StatusConflict, "%s", conflict)
		case kind == kindLLM:
			return answer(http.StatusCreated, struct {
				LLM      json.RawMessage `json:"llm"`
				Statuses []Status        `json:"statuses"`
			}{shown, nil})
		}
		return newReply(http.StatusCreated, contentJSON, shown)
	}
}

// addModel stores a model, and returns it and how it is shown, unless its id, or
// one of the same provider, model and credentials, is there.
func (s *Server) addModel(kind modelKind, id string, values map[string]json.RawMessage) (m *model, shown []byte, conflict string) {
	shape := modelShapes[kind]
	now := s.millis()
	if id == "" {
		id = s.newID()
	}
	m = &model{kind: kind, id: id, values: values, owner: s.owner, actor: s.actor, created: now, updated: now}
	var owner string
	if json.Unmarshal(values["ownerId"], &owner) == nil && owner != "" {
		m.owner = owner
	}
	for name, standard := range map[string]string{"supportedModalities": `["TEXT"]`, "labels": `{}`} {
		if values[name] == nil {
			values[name] = json.RawMessage(standard)
		}
	}
	if kind == kindLLM && values["capabilities"] == nil {
		values["capabilities"] = json.RawMessage(`{"supportsChat":true,"supportsCompletion":false,"supportsFunctionCalling":false,` +
			`"supportsSystemMessages":true,"supportsStreaming":true,"supportsSamplingParameters":true}`)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models[kind][id] != nil {
		return nil, nil, fmt.Sprintf("A %s with this ID already exists", strings.ToLower(shape.name))
	}
	for _, other := range s.models[kind] {
		if other.identity() == m.identity() && other.owner == m.owner {
			return nil, nil, fmt.Sprintf("A %s of this provider, model and credentials already exists", strings.ToLower(shape.name))
		}
	}
	s.models[kind][id] = m
	return m, marshal(m), ""
}

func (m *model) identity() string {
	var b strings.Builder
	for _, name := range []string{"providerType", "endpointUrl", "apiPath", "modelIdentifier", "credentials"} {
		fmt.Fprintf(&b, "%s\n", m.values[name])
	}
	return b.String()
}

func (s *Server) listModels(kind modelKind) func(*call) reply {
	return func(c *call) reply {
		owner, provider, wanted := c.parameter("ownerId", "owner_id"), c.parameter("providerType", "provider_type"), labelFilter(c.query)
		s.mu.RLock()
		defer s.mu.RUnlock()
		found := []*model{}
		for _, m := range s.models[kind] {
			var labels map[string]string
			var is string
			_ = json.Unmarshal(m.values["labels"], &labels)
			_ = json.Unmarshal(m.values["providerType"], &is)
			if (owner == "" || owner == m.owner) && (provider == "" || provider == is) && wanted(labels) {
				found = append(found, m)
			}
		}
		newest := page{descending: true}
		slices.SortFunc(found, func(a, b *model) int {
			return newest.compare(cursor{Number: a.created, ID: a.id}, cursor{Number: b.created, ID: b.id})
		})
		return answer(http.StatusOK, map[string][]*model{string(kind): found})
	}
}

// findModel returns a model; the caller holds the lock.
func (s *Server) findModel(kind modelKind, id string) (*model, *reply) {
	shape := modelShapes[kind]
	canonical, ok := parseUUID(id)
	if !ok {
		r := invalid(fieldError{shape.id, fmt.Sprintf("Invalid %s ID format", strings.ToLower(shape.name))})
		return nil, &r
	}
	m := s.models[kind][canonical]
	if m == nil {
		r := s.fail(http.StatusNotFound, "%s not found: %s", shape.name, canonical)
		return nil, &r
	}
	return m, nil
}

func (s *Server) getModel(kind modelKind) func(*call, string) reply {
	return func(_ *call, id string) reply {
		s.mu.RLock()
		defer s.mu.RUnlock()
		m, missing := s.findModel(kind, id)
		if missing != nil {
			return *missing
		}
		return answer(http.StatusOK, m)
	}
}

func (s *Server) updateModel(kind modelKind) func(*call, string) reply {
	shape := modelShapes[kind]
	known := slices.DeleteFunc(slices.Concat(shape.order, shape.extra, []string{"replaceLabels", "mergeLabels"}),
		func(name string) bool { return name == "providerType" || name == "ownerId" || name == "labels" })
	return func(c *call, id string) reply {
		values, wrong := decodeModel(c.body, "Update"+shape.name+"Request", known)
		if wrong != nil {
			return *wrong
		}
		var merge, replace, labels map[string]string
		_ = json.Unmarshal(values["mergeLabels"], &merge)
		_ = json.Unmarshal(values["replaceLabels"], &replace)
		if merge != nil && replace != nil {
			return s.fail(http.StatusBadRequest, "Only one of mergeLabels and replaceLabels can be set")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		m, missing := s.findModel(kind, id)
		if missing != nil {
			return *missing
		}
		_ = json.Unmarshal(m.values["labels"], &labels)
		for name, v := range values {
			if name != "mergeLabels" && name != "replaceLabels" {
				m.values[name] = v
			}
		}
		m.values["labels"] = marshal(mergeLabels(labels, merge, replace))
		m.updated = s.millis()
		return answer(http.StatusOK, m)
	}
}

func (s *Server) deleteModel(kind modelKind) func(*call, string) reply {
	return func(_ *call, id string) reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		m, missing := s.findModel(kind, id)
		if missing != nil {
			return *missing
		}
		delete(s.models[kind], m.id)
		return noContent()
	}
}
