package goodmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// spaceServer lists spaces page by page, one to a page, and creates them.
type spaceServer struct {
	mu       sync.Mutex
	spaces   []string // "id name embedder"
	taken    string   // appears, and answers 409, when a space is created
	listings int
	created  []string // bodies
}

func (s *spaceServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		s.created = append(s.created, string(body))
		if s.taken != "" {
			s.spaces = append(s.spaces, s.taken)
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"A space with this name already exists","status":409}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"spaceId":%q}`, strings.ToUpper(idA))
		return
	}
	at := 0
	if token := r.URL.Query().Get("nextToken"); token != "" {
		at = len(token)
	} else {
		s.listings++
	}
	if at >= len(s.spaces) {
		_, _ = io.WriteString(w, `{"spaces":[],"nextToken":null}`)
		return
	}
	f := strings.Split(s.spaces[at], " ")
	next, _ := json.Marshal(strings.Repeat("t", at+1))
	fmt.Fprintf(w, `{"spaces":[{"spaceId":%q,"name":%q,"spaceEmbedders":[{"embedderId":%q}]}],"nextToken":%s}`, f[0], f[1], f[2], next)
}

func newSpaceClient(t *testing.T, s *spaceServer, change func(*Settings)) *Client {
	t.Helper()
	c, _ := newTestClient(t, s.serve)
	c.settings.SpaceID, c.settings.SpaceName = "", "web"
	change(&c.settings)
	return c
}

func keep(*Settings) {}

func TestASpaceIsFoundByItsExactName(t *testing.T) {
	s := &spaceServer{spaces: []string{idB + " web2 " + idC, idB + " Web " + idC, strings.ToUpper(idA) + " web " + strings.ToUpper(idC)}}
	c := newSpaceClient(t, s, func(s *Settings) { s.EmbedderID = idC })
	for range 3 {
		if ids, err := c.spaceIDs(t.Context()); err != nil || len(ids) != 1 || ids[0] != idA {
			t.Fatalf("got %q, %v, want %s", ids, err, idA)
		}
	}
	if s.listings != 1 {
		t.Errorf("resolved %d times", s.listings)
	}
	if again := c.forgetSpaces(idB); !again {
		t.Error("a name cannot be resolved again")
	}
	if _, err := c.spaceIDs(t.Context()); err != nil || s.listings != 1 {
		t.Errorf("forgetting another space: %v, resolved %d times", err, s.listings)
	}
	c.forgetSpaces(idA)
	s.spaces = []string{idB + " web " + idC}
	if ids, err := c.spaceIDs(t.Context()); err != nil || ids[0] != idB || s.listings != 2 {
		t.Errorf("behind forgetSpaces: %q, %v, resolved %d times", ids, err, s.listings)
	}
}

func TestASpaceInDoubtIsAnErrorThatNamesBoth(t *testing.T) {
	for name, c := range map[string]struct {
		spaces []string
		embed  string
		words  []string
	}{
		"two of the name":  {[]string{idA + " web " + idC, idB + " web " + idC}, "", []string{idA, idB, "space_id"}},
		"another embedder": {[]string{idA + " web " + idB}, idC, []string{idB, idC, "web"}},
		"none":             {[]string{idA + " other " + idC}, "", []string{"web", "create_space"}},
	} {
		s := &spaceServer{spaces: c.spaces}
		client := newSpaceClient(t, s, func(s *Settings) { s.EmbedderID = c.embed })
		_, err := client.spaceIDs(t.Context())
		if !errors.Is(err, provider.ErrInvalid) || len(s.created) != 0 {
			t.Errorf("%s: %v, created %q", name, err, s.created)
		}
		for _, w := range c.words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not name %s", name, err, w)
			}
		}
	}
	s := &spaceServer{spaces: []string{"../x web " + idC}}
	if _, err := newSpaceClient(t, s, keep).spaceIDs(t.Context()); !errors.Is(err, provider.ErrInternal) {
		t.Errorf("an id of the server's that is none: %v", err)
	}
}

func TestASpaceIsCreatedOnlyWhenAsked(t *testing.T) {
	create := func(s *Settings) { s.CreateSpace, s.EmbedderID = true, idC }
	s := &spaceServer{}
	if ids, err := newSpaceClient(t, s, create).spaceIDs(t.Context()); err != nil || ids[0] != idA || len(s.created) != 1 {
		t.Fatalf("got %q, %v, %d created", ids, err, len(s.created))
	}
	for _, w := range []string{`"name":"web"`, `"embedderId":"` + idC + `"`, `"defaultChunkingConfig":{"recursive":{`} {
		if !strings.Contains(s.created[0], w) {
			t.Errorf("the request %s lacks %s", s.created[0], w)
		}
	}
	s = &spaceServer{taken: idB + " web " + idC}
	if ids, err := newSpaceClient(t, s, create).spaceIDs(t.Context()); err != nil || ids[0] != idB {
		t.Errorf("created by another at the same time: %q, %v", ids, err)
	}
	s = &spaceServer{taken: idB + " hidden " + idC}
	if _, err := newSpaceClient(t, s, create).spaceIDs(t.Context()); !errors.Is(err, provider.ErrConflict) || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("taken by a space out of sight: %v", err)
	}
}

func TestAListingThatRepeatsItselfEnds(t *testing.T) {
	c, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"spaces":[],"nextToken":"again"}`)
	})
	c.settings.SpaceID, c.settings.SpaceName = "", "web"
	if _, err := c.spaceIDs(t.Context()); !errors.Is(err, provider.ErrInternal) {
		t.Errorf("got %v", err)
	}
}

func TestConfiguredSpacesNeedNoRequest(t *testing.T) {
	s := &spaceServer{}
	c := newSpaceClient(t, s, func(s *Settings) { s.SpaceName, s.SpaceIDs = "", []string{idA, idB} })
	if ids, err := c.spaceIDs(t.Context()); err != nil || len(ids) != 2 || s.listings != 0 || c.forgetSpaces(idA) {
		t.Errorf("got %q, %v, %d listings", ids, err, s.listings)
	}
}

func TestAFlightIsSharedAndOutlivesWhoGivesUp(t *testing.T) {
	var f flight[int]
	entered, release := make(chan struct{}), make(chan struct{})
	ctx, giveUp := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := f.get(ctx, func(ctx context.Context) (int, error) {
			close(entered)
			<-ctx.Done()
			<-release
			return 0, ctx.Err()
		})
		first <- err
	}()
	<-entered
	var finds sync.Map
	var others sync.WaitGroup
	for i := range 8 {
		others.Go(func() {
			v, err := f.get(t.Context(), func(context.Context) (int, error) { finds.Store(i, true); return 7, nil })
			if v != 7 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	giveUp()
	close(release)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	others.Wait()
	n := 0
	finds.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("found out %d times", n)
	}
}
