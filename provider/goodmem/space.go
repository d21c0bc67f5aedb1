package goodmem

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/siteprovider/siteprovider/provider"
)

// spaceIDs returns the spaces that the settings name, at least one. A name is
// resolved once, and again behind forgetSpaces.
func (c *Client) spaceIDs(ctx context.Context) ([]string, error) {
	switch s := c.settings; {
	case s.SpaceID != "":
		return []string{s.SpaceID}, nil
	case len(s.SpaceIDs) > 0:
		return slices.Clone(s.SpaceIDs), nil
	}
	id, err := c.space.get(ctx, c.resolveSpace)
	if err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// forgetSpaces is called when the server does not know the space id any more,
// and reports whether there is a name to resolve again.
func (c *Client) forgetSpaces(id string) bool {
	c.space.forget(func(known string) bool { return known == id })
	return c.settings.SpaceName != ""
}

// space is one that a server described.
type space struct {
	SpaceID        string `json:"spaceId"`
	Name           string `json:"name"`
	SpaceEmbedders []struct {
		EmbedderID string `json:"embedderId"`
	} `json:"spaceEmbedders"`
}

func (c *Client) resolveSpace(ctx context.Context) (string, error) {
	found, err := c.findSpace(ctx)
	if err != nil || found != "" {
		return found, err
	}
	name := c.settings.SpaceName
	if !c.settings.CreateSpace {
		return "", provider.Invalidf("space_name", "the server has no space %q; create_space would create it", name)
	}
	created, err := c.createSpace(ctx, name)
	if !hasStatus(err, http.StatusConflict) {
		return created, err
	}
	if found, again := c.findSpace(ctx); again != nil || found != "" {
		return found, again // somebody else was quicker
	}
	return "", err // taken by a space that this key does not see
}

// findSpace returns the id of the one space with the configured name, or "".
// Servers differ in what their nameFilter matches, so each name is compared here.
func (c *Client) findSpace(ctx context.Context) (string, error) {
	name := c.settings.SpaceName
	var same []space
	tokens := map[string]bool{}
	for token := ""; ; {
		q := url.Values{"maxResults": {"1000"}}
		if !strings.ContainsAny(name, `*?[]{}\`) { // which a filter may read as a pattern
			q.Set("nameFilter", name)
		}
		if token != "" {
			q.Set("nextToken", token)
		}
		var page struct {
			Spaces    []space `json:"spaces"`
			NextToken string  `json:"nextToken"`
		}
		if err := c.do(ctx, call{op: "list spaces", method: http.MethodGet, path: []string{"v1", "spaces"}, query: q}, &page); err != nil {
			return "", err
		}
		for _, s := range page.Spaces {
			if s.Name == name && !slices.ContainsFunc(same, func(o space) bool { return o.SpaceID == s.SpaceID }) {
				same = append(same, s)
			}
		}
		if token = page.NextToken; token == "" {
			break
		}
		if tokens[token] {
			return "", provider.Errorf(provider.ErrInternal, "list spaces: the server repeats a page without end")
		}
		tokens[token] = true
	}
	if len(same) == 0 {
		return "", nil
	}
	return c.oneSpace(same)
}

// oneSpace checks that there is one space of the name, and that it has the
// embedder that was asked for: with another it would answer with nonsense.
func (c *Client) oneSpace(same []space) (string, error) {
	for i := range same {
		id, err := checkID("spaceId", same[i].SpaceID)
		if err != nil {
			return "", provider.Errorf(provider.ErrInternal, "list spaces: the server sent a space whose id is no UUID")
		}
		same[i].SpaceID = id
	}
	name, want := c.settings.SpaceName, c.settings.EmbedderID
	if len(same) > 1 {
		var ids []string
		for _, s := range same {
			ids = append(ids, s.SpaceID)
		}
		return "", provider.Invalidf("space_name", "%d spaces are called %q: %s; set space_id to the one that is meant", len(same), name, strings.Join(ids, " and "))
	}
	if want == "" {
		return same[0].SpaceID, nil
	}
	var has []string
	for _, e := range same[0].SpaceEmbedders {
		has = append(has, strings.ToLower(e.EmbedderID))
	}
	if !slices.Contains(has, want) {
		return "", provider.Invalidf("embedder_id", "the space %q has the embedder %s, not %s", name, c.words(strings.Join(has, " and ")), want)
	}
	return same[0].SpaceID, nil
}

func (c *Client) createSpace(ctx context.Context, name string) (string, error) {
	body := map[string]any{
		"name":           name,
		"spaceEmbedders": []any{map[string]any{"embedderId": c.settings.EmbedderID}},
		"defaultChunkingConfig": map[string]any{"recursive": map[string]any{
			"chunkSize": 512, "chunkOverlap": 64, "separators": []string{"\n\n", "\n", ". ", " ", ""},
			"keepStrategy": "KEEP_END", "separatorIsRegex": false, "lengthMeasurement": "CHARACTER_COUNT",
		}},
	}
	var s space
	if err := c.do(ctx, call{op: "create a space", method: http.MethodPost, path: []string{"v1", "spaces"}, body: body}, &s); err != nil {
		return "", err
	}
	id, err := checkID("spaceId", s.SpaceID)
	if err != nil {
		return "", provider.Errorf(provider.ErrInternal, "create a space: the server sent an id that is no UUID")
	}
	return id, nil
}
