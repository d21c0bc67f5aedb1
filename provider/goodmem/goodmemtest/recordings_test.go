package goodmemtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recording returns a recorded answer of a real server, compact where its
// authors had printed it prettily, and skips the test where there is none.
func recording(t *testing.T, name string) string {
	t.Helper()
	dirs := []string{"../../../../shared/goodmem/fixtures"}
	if data := os.Getenv("SITEPROVIDER_DATA"); data != "" {
		dirs = []string{filepath.Join(data, "goodmem", "fixtures"), filepath.Join(data, "..", "goodmem", "fixtures")}
	}
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		if strings.HasSuffix(name, ".ndjson") {
			return string(raw)
		}
		var b bytes.Buffer
		require.NoError(t, json.Compact(&b, raw))
		return b.String()
	}
	t.Skipf("no recordings of GoodMem; put the directory that holds goodmem/fixtures, or is beside it, into SITEPROVIDER_DATA")
	return ""
}

var (
	anyUUID  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime  = regexp.MustCompile(`"(createdAt|updatedAt|timestamp)":\d{13}\b`)
	anyScore = regexp.MustCompile(`"relevanceScore":(-?)\d+\.\d+`)
	anyToken = regexp.MustCompile(`"nextToken":"[A-Za-z0-9_-]+"`)
)

// settled replaces what differs from run to run: ids by their order of
// appearance, so that the same id stays the same, times, the digits of scores,
// tokens. All other bytes stay.
func settled(s string) string {
	seen := make(map[string]string)
	s = anyUUID.ReplaceAllStringFunc(s, func(id string) string {
		if _, ok := seen[id]; !ok {
			seen[id] = fmt.Sprintf("id-%d", len(seen)+1)
		}
		return seen[id]
	})
	s = anyTime.ReplaceAllString(s, `"$1":TIME`)
	s = anyScore.ReplaceAllString(s, `"relevanceScore":${1}SCORE`)
	return anyToken.ReplaceAllString(s, `"nextToken":"TOKEN"`)
}

func requireAs(t *testing.T, recorded, got string) {
	t.Helper()
	require.Equal(t, strings.Split(settled(recorded), "\n"), strings.Split(settled(got), "\n"))
}

// nobody is an id that no server has.
const (
	nobody   = "00000000-0000-7000-8000-000000000000"
	nilUUID  = "00000000-0000-0000-0000-000000000000"
	laksa    = `{"@type": "Recipe", "url": "https://ex.com/r/laksa", "name": "Singapore Laksa", "description": "A coconut curry noodle soup with prawns and tofu puffs."}`
	pho      = `{"@type": "Recipe", "url": "https://ex.com/r/pho", "name": "Beef Pho", "description": "Vietnamese rice noodle soup simmered with charred ginger."}`
	dune     = `{"@type": "Movie", "url": "https://films.org/m/dune", "name": "Dune", "description": "A noble family becomes embroiled in a war over Arrakis."}`
	recipes  = `CAST(val('$.site') AS TEXT) = 'recipes.example.com'`
	question = "coconut curry noodle soup"
)

// webPage is the memory that the NLWeb package makes of a page.
func webPage(spaceID, text, url, site, name, schema string) object {
	return object{"spaceId": spaceID, "originalContent": text, "contentType": "text/plain",
		"metadata": object{"url": url, "site": site, "name": name, "schema_json": schema}}
}

// nlweb is the space of the recordings in nlweb/.
func nlweb(t *testing.T) (c *client, spaceID string) {
	t.Helper()
	at := &clock{at: New(Options{}).now()}
	c = serve(t, Options{Now: at.now})
	spaceID = c.srv.AddSpace("nlweb-fixtures")
	c.do(http.StatusOK, "POST", "/v1/memories:batchCreate", object{"requests": []object{
		webPage(spaceID, "Singapore Laksa\n\nA coconut curry noodle soup with prawns and tofu puffs.", "https://ex.com/r/laksa", "recipes.example.com", "Singapore Laksa", laksa),
		webPage(spaceID, "Beef Pho\n\nVietnamese rice noodle soup simmered with charred ginger.", "https://ex.com/r/pho", "recipes.example.com", "Beef Pho", pho),
	}})
	at.at = at.at.Add(4e9)
	c.do(http.StatusOK, "POST", "/v1/memories:batchCreate", object{"requests": []object{
		webPage(spaceID, "Dune\n\nA noble family becomes embroiled in a war over Arrakis.", "https://films.org/m/dune", "films.org", "Dune", dune),
	}})
	return c, spaceID
}

// search posts a retrieval and returns the raw stream.
func (c *client) search(spaceID, message, filter string, more object) string {
	c.t.Helper()
	key := object{"spaceId": spaceID}
	if filter != "" {
		key["filter"] = filter
	}
	in := object{"message": message, "spaceKeys": []object{key}, "requestedSize": 50, "fetchMemory": true}
	for k, v := range more {
		in[k] = v
	}
	a := c.do(http.StatusOK, "POST", "/v1/memories:retrieve", in)
	require.Equal(c.t, "application/x-ndjson; charset=utf-8", a.header.Get("Content-Type"))
	return a.body
}

func TestRecordingsOfNLWebAreReproduced(t *testing.T) {
	for name, get := range map[string]func(c *client, spaceID string) string{
		"retrieve_all.ndjson":  func(c *client, id string) string { return c.search(id, question, "", nil) },
		"retrieve_site.ndjson": func(c *client, id string) string { return c.search(id, question, recipes, nil) },
		"retrieve_empty.ndjson": func(c *client, id string) string {
			return c.search(id, question, `CAST(val('$.site') AS TEXT) = 'nobody'`, nil)
		},
		"retrieve_broken_reranker.ndjson": func(c *client, id string) string {
			return c.search(id, question, recipes, post(object{"reranker_id": nilUUID, "max_results": 5}))
		},
		"memories_list.json": func(c *client, id string) string {
			return c.do(http.StatusOK, "GET", "/v1/spaces/"+id+"/memories", nil).body
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := recording(t, "nlweb/"+name)
			c, spaceID := nlweb(t)
			requireAs(t, recorded, get(c, spaceID))
		})
	}
	t.Run("space.json", func(t *testing.T) {
		var recorded, got object
		require.NoError(t, json.Unmarshal([]byte(recording(t, "nlweb/space.json")), &recorded))
		c, spaceID := nlweb(t)
		c.do(http.StatusOK, "GET", "/v1/spaces/"+spaceID, nil).decode(t, &got)
		for key := range recorded { // its author kept only some
			require.IsType(t, recorded[key], got[key], key)
		}
	})
}

// seeded is a space of its own with texts, each in a millisecond of its own.
func seeded(t *testing.T, texts []string, metadata []object) (*client, string) {
	t.Helper()
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now})
	spaceID := c.srv.AddSpace("fixtures")
	for i, text := range texts {
		at.at = at.at.Add(8e6)
		c.create(spaceID, text, metadata[i])
	}
	return c, spaceID
}

func TestRecordingsOfDeepEvalAreReproduced(t *testing.T) {
	seed := func(t *testing.T) (*client, string) {
		return seeded(t, []string{
			"The DeepEval fixture canary is OTTER-52-BEACON.", "DeepEval reads LLMTestCase.retrieval_context for its RAG metrics.", "A GoodMem vector score is a negative inner product.",
		}, []object{{"category": "canary"}, {"category": "deepeval"}, {"category": "scores"}})
	}
	const message = "Which fixture canary is the vector score?"
	for name, get := range map[string]func(c *client, spaceID string) string{
		"retrieve_vector.ndjson": func(c *client, id string) string { return c.search(id, message, "", nil) },
		"retrieve_empty.ndjson": func(c *client, id string) string {
			return c.search(id, message, `CAST(val('$.category') AS TEXT) = 'none'`, nil)
		},
		"retrieve_broken_reranker.ndjson": func(c *client, id string) string {
			return c.search(id, message, "", post(object{"reranker_id": nilUUID}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := recording(t, "deepeval/"+name)
			c, spaceID := seed(t)
			requireAs(t, recorded, get(c, spaceID))
		})
	}
}

func TestRecordingsOfSpacesAreReproduced(t *testing.T) {
	separators := []string{"\n\n", "\n", ". ", " ", ""}
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now})
	add := func(name string, chunking object) answered {
		at.at = at.at.Add(1e9)
		return c.do(http.StatusCreated, "POST", "/v1/spaces",
			object{"name": name, "spaceEmbedders": []object{{"embedderId": c.srv.AddEmbedder(Embedder{})}}, "defaultChunkingConfig": chunking})
	}
	requireAs(t, strings.ReplaceAll(recording(t, "ai-sdk/space_create.json"), "aisdk-fxmuo3yc3t", "first-b"), add("first-b", recursive(512, 64)).body)
	last := add("first-a", recursive(512, 64))
	page := c.do(http.StatusOK, "GET", "/v1/spaces?nameFilter=first*&maxResults=1", nil)
	var token struct{ NextToken string }
	page.decode(t, &token)
	require.Contains(t, page.body, `"name":"first-a"`)
	page = c.do(http.StatusOK, "GET", "/v1/spaces?nameFilter=first*&maxResults=1&nextToken="+token.NextToken, nil)
	requireAs(t, strings.ReplaceAll(recording(t, "ai-sdk/spaces_page2.json"), "aisdk-fxmuo3yc3t", "first-b"), page.body)
	require.Contains(t, last.header.Get("Content-Type"), "application/json")

	add("active pieces test", recursive(256, 25, separators...))
	made := add("deepeval-goodmem-fixtures", recursive(256, 25, separators...))
	requireAs(t, recording(t, "deepeval/space.json"), made.body)
	requireAs(t, recording(t, "deepeval/spaces_list.json"), c.do(http.StatusOK, "GET", "/v1/spaces?maxResults=2", nil).body)
}

func TestRecordingsOfCAMELAreReproduced(t *testing.T) {
	seed := func(t *testing.T) (*client, string) {
		return seeded(t, []string{"The fixture canary is ORYX-2290. CAMEL toolkit audit."}, []object{{"tenant": "acme"}})
	}
	t.Run("retrieve_llm_ok.ndjson", func(t *testing.T) {
		recorded := recording(t, "camel/retrieve_llm_ok.ndjson")
		var said string
		for line := range strings.Lines(recorded) {
			var e event
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			if e.AbstractReply != nil {
				said = e.AbstractReply.Text
			}
		}
		require.NotEmpty(t, said)
		c, spaceID := seed(t)
		llm := c.srv.AddLLM(LLM{Answer: func(string, []string) string { return said }})
		requireAs(t, recorded, c.search(spaceID, "fixture canary", "", post(object{"llm_id": llm})))
	})
	t.Run("retrieve_llm_not_found.ndjson", func(t *testing.T) {
		recorded := recording(t, "camel/retrieve_llm_not_found.ndjson")
		c, spaceID := seed(t)
		requireAs(t, recorded, c.search(spaceID, "fixture canary", "", post(object{"llm_id": nobody})))
	})
}

func TestRecordingsOfTheAISDKAreReproduced(t *testing.T) {
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now, IndexDelay: 2e9})
	spaceID := c.srv.AddSpace("aisdk")
	// Not a map: the create answers in the order of the request.
	made := c.do(http.StatusCreated, "POST", "/v1/memories", `{"spaceId":"`+spaceID+`","originalContent":"The fixture canary is ORYX-4471. O'Brien filed it.",`+
		`"contentType":"text/plain","metadata":{"tenant":"acme","year":2026,"active":true}}`)
	requireAs(t, recording(t, "ai-sdk/memory_create.json"), made.body)
	var memory struct{ MemoryID string }
	made.decode(t, &memory)
	requireAs(t, recording(t, "ai-sdk/memory_get_pending.json"), c.do(http.StatusOK, "GET", "/v1/memories/"+memory.MemoryID, nil).body)
	at.at = at.at.Add(5e6)
	c.create(spaceID, "An unrelated note about the weather in Amman.", object{"tenant": "globex", "year": 2025, "active": false})
	at.at = at.at.Add(3e9)

	t.Run("retrieve_reranked.ndjson", func(t *testing.T) {
		reranker := c.srv.AddReranker(Reranker{})
		requireAs(t, recording(t, "ai-sdk/retrieve_reranked.ndjson"), c.search(spaceID, "What is the fixture canary about?", "", post(object{"reranker_id": reranker})))
	})
	t.Run("retrieve_with_content.ndjson", func(t *testing.T) {
		recorded := recording(t, "ai-sdk/retrieve_with_content.ndjson")
		c.uploadRecordedPDF(spaceID, recorded)
		at.at = at.at.Add(3e9)
		requireAs(t, recorded, c.search(spaceID, "the fixture canary that was filed", "", object{"fetchMemoryContent": true}))
	})
	t.Run("error_retrieve_missing_space.json", func(t *testing.T) {
		requireAs(t, recording(t, "ai-sdk/error_retrieve_missing_space.json"), c.do(http.StatusNotFound, "POST", "/v1/memories:retrieve",
			object{"message": "x", "spaceKeys": []object{{"spaceId": nobody}}}).body)
	})
	t.Run("error_space_create_400.json", func(t *testing.T) {
		requireAs(t, recording(t, "ai-sdk/error_space_create_400.json"), c.do(http.StatusBadRequest, "POST", "/v1/spaces",
			object{"name": "x", "spaceEmbedders": []object{{"embedderId": "not-a-uuid"}}, "defaultChunkingConfig": recursive(512, 64)}).body)
	})
	t.Run("error_space_publicread_400.json", func(t *testing.T) {
		requireAs(t, recording(t, "ai-sdk/error_space_publicread_400.json"), c.do(http.StatusBadRequest, "PUT", "/v1/spaces/"+spaceID, `{"publicRead":false}`).body)
	})
}

// uploadRecordedPDF uploads the PDF whose content a recording holds.
func (c *client) uploadRecordedPDF(spaceID, recorded string) {
	c.t.Helper()
	encoded := regexp.MustCompile(`"originalContent":"(JVBERi[^"]*)"`).FindStringSubmatch(recorded)
	require.NotNil(c.t, encoded)
	pdf, err := base64.StdEncoding.DecodeString(encoded[1])
	require.NoError(c.t, err)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	require.NoError(c.t, w.WriteField("request", `{"spaceId":"`+spaceID+`","contentType":"application/pdf","metadata":{"tenant":"acme","kind":"pdf"}}`))
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="canary.pdf"`}, "Content-Type": {"application/pdf"}})
	require.NoError(c.t, err)
	_, err = part.Write(pdf)
	require.NoError(c.t, err)
	require.NoError(c.t, w.Close())
	req, err := http.NewRequestWithContext(c.t.Context(), "POST", c.url+"/v1/memories", &b)
	require.NoError(c.t, err)
	req.Header.Set("x-api-key", "gm_test")
	req.Header.Set("Content-Type", w.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	require.NoError(c.t, res.Body.Close())
	require.Equal(c.t, http.StatusCreated, res.StatusCode)
}

// The manifest of the recordings says with which status and type each was
// answered; those that have no file are reproduced here.
func TestTheManifestOfTheRecordingsHolds(t *testing.T) {
	var manifest struct {
		ServerVersion string
		Files         map[string]struct {
			Method, Path, ContentType string
			Status                    int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(recording(t, "ai-sdk/manifest.json")), &manifest))
	c := serve(t, Options{})
	spaceID := c.srv.AddSpace("taken")
	memoryID := c.srv.AddMemory(spaceID, "a canary", nil)
	broken := c.srv.AddSpace("broken", c.srv.AddEmbedder(Embedder{Broken: true}))
	query := func(spaceID string, more object) object {
		in := object{"message": "x", "spaceKeys": []object{{"spaceId": spaceID}}}
		for k, v := range more {
			in[k] = v
		}
		return in
	}
	embedders := []object{{"embedderId": c.srv.AddEmbedder(Embedder{})}}
	bodies := map[string]any{
		"space_create.json":                 object{"name": "new", "spaceEmbedders": embedders, "defaultChunkingConfig": recursive(512, 64)},
		"error_space_create_409.json":       object{"name": "taken", "spaceEmbedders": embedders, "defaultChunkingConfig": recursive(512, 64)},
		"error_space_create_400.json":       object{"name": "new", "spaceEmbedders": []object{{"embedderId": "x"}}, "defaultChunkingConfig": recursive(512, 64)},
		"memory_create.json":                object{"spaceId": spaceID, "originalContent": "x", "contentType": "text/plain"},
		"retrieve_ok.ndjson":                query(spaceID, nil),
		"retrieve_empty.ndjson":             query(spaceID, nil),
		"retrieve_reranked.ndjson":          query(spaceID, post(object{"reranker_id": c.srv.AddReranker(Reranker{})})),
		"retrieve_rerank_failed.ndjson":     query(spaceID, post(object{"reranker_id": nobody})),
		"retrieve_with_content.ndjson":      query(spaceID, object{"fetchMemoryContent": true}),
		"retrieve_embedder_failed.ndjson":   query(broken, nil),
		"error_retrieve_missing_space.json": query(nobody, nil),
		"error_space_publicread_400.json":   object{"publicRead": true},
	}
	require.NotEmpty(t, manifest.Files)
	for name, want := range manifest.Files {
		path := strings.Replace(want.Path, "{id}", memoryID, 1)
		if strings.HasPrefix(path, "/v1/spaces/") {
			path = strings.Replace(want.Path, "{id}", spaceID, 1)
		}
		// A token is the recording server's own.
		path = regexp.MustCompile(`&nextToken=.*`).ReplaceAllString(path, "")
		got := c.do(want.Status, want.Method, path, bodies[name])
		require.Equal(t, want.ContentType, got.header.Get("Content-Type"), name)
	}
	require.Contains(t, c.do(http.StatusOK, "GET", "/v1/system/info", nil).body, `"version":"`+manifest.ServerVersion+`"`)
}
