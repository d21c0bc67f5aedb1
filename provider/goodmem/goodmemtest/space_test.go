package goodmemtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// names lists spaces page by page.
func (c *client) names(query string) []string {
	c.t.Helper()
	var out []string
	token := ""
	for {
		var page struct {
			Spaces    []struct{ Name string }
			NextToken *string
		}
		c.do(http.StatusOK, "GET", "/v1/spaces?"+query+token, nil).decode(c.t, &page)
		for _, s := range page.Spaces {
			out = append(out, s.Name)
		}
		if page.NextToken == nil {
			return out
		}
		require.NotEmpty(c.t, page.Spaces)
		token = "&nextToken=" + *page.NextToken
	}
}

func TestSpacesAreListedPageByPage(t *testing.T) {
	c := serve(t, Options{})
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf("space-%02d", i))
		c.srv.AddSpace(all[i])
	}
	newest := slices.Clone(all)
	slices.Reverse(newest)
	for _, size := range []string{"1", "2", "24", "25", "26", "0", "-5", "100000"} {
		require.Equal(t, newest, c.names("maxResults="+size), size)
	}
	require.Equal(t, newest, c.names("sortBy=created_time"))
	require.Equal(t, all, c.names("sortBy=name&sortOrder=ASCENDING&maxResults=7"))
	require.Equal(t, newest, c.names("sort_by=name&sort_order=DESCENDING&max_results=7"))
	for _, bad := range []string{"sortBy=size", "sortOrder=UP", "nextToken=%3F", "nextToken=bnVsbA", "maxResults=many"} {
		c.do(http.StatusBadRequest, "GET", "/v1/spaces?"+bad, nil)
	}
	require.JSONEq(t, `{"spaces":[],"nextToken":null}`, c.do(http.StatusOK, "GET", "/v1/spaces?nameFilter=none", nil).body)
}

func TestNamesAreFilteredAsTheOptionSays(t *testing.T) {
	all := []string{"abc", "abcd", "xabc", "a*c", "ABC"}
	for kind, cases := range map[NameFilter]map[string][]string{
		NameGlob:      {"abc": {"abc"}, "abc*": {"abc", "abcd"}, "*abc": {"abc", "xabc"}, "a?c": {"a*c", "abc"}, "*": all, "": all, "*b*d": {"abcd"}, "b": nil},
		NameSubstring: {"abc": {"abc", "abcd", "xabc"}, "*": {"a*c"}, "abc*": nil},
		NameExact:     {"abc": {"abc"}, "a*c": {"a*c"}, "ab": nil},
	} {
		c := serve(t, Options{NameFilter: kind})
		for _, name := range all {
			c.srv.AddSpace(name)
		}
		for pattern, want := range cases {
			for _, parameter := range []string{"nameFilter", "name_filter"} {
				require.ElementsMatch(t, want, c.names(parameter+"="+url.QueryEscape(pattern)), "%d %q", kind, pattern)
			}
		}
	}
}

func TestASpaceIsChangedAndDeleted(t *testing.T) {
	c := serve(t, Options{})
	e := c.srv.AddEmbedder(Embedder{})
	make := func(want int, name string, more object) answered {
		in := object{"name": name, "spaceEmbedders": []object{{"embedderId": e, "defaultRetrievalWeight": 2}}, "defaultChunkingConfig": object{"none": object{}}}
		for k, v := range more {
			in[k] = v
		}
		return c.do(want, "POST", "/v1/spaces", in)
	}
	const id = "11111111-2222-4333-8444-ABCDEFABCDEF"
	made := make(http.StatusCreated, "one", object{"spaceId": id, "labels": object{"env": "test"}})
	require.Contains(t, made.body, `"spaceId":"`+strings.ToLower(id)+`"`)
	require.Contains(t, made.body, `"defaultRetrievalWeight":2.0`)
	require.Contains(t, made.body, `"defaultChunkingConfig":{"none":{},"recursive":null,"sentence":null}`)
	make(http.StatusConflict, "other", object{"spaceId": id})
	require.Contains(t, make(http.StatusConflict, "one", nil).body, `"error":"A space with this name already exists","status":409,"timestamp":`)
	make(http.StatusCreated, "One", nil)
	make(http.StatusCreated, "one", object{"ownerId": nobody})
	require.Contains(t, make(http.StatusNotFound, "two", object{"spaceEmbedders": []object{{"embedderId": nobody}}}).body, "Embedder not found")

	path := "/v1/spaces/" + id
	require.Contains(t, c.do(http.StatusOK, "PUT", path, object{"mergeLabels": object{"a": "1"}}).body, `"labels":{"a":"1","env":"test"}`)
	require.Contains(t, c.do(http.StatusOK, "PUT", path, object{"replaceLabels": object{"b": "2"}}).body, `"labels":{"b":"2"}`)
	require.Equal(t, []string{"one"}, c.names("label.b=2"))
	require.Equal(t, []string{"one"}, c.names("label%5Bb%5D=2"))
	require.Empty(t, c.names("label.b=3"))
	c.do(http.StatusBadRequest, "PUT", path, object{"mergeLabels": object{}, "replaceLabels": object{}})
	c.do(http.StatusBadRequest, "PUT", path, object{"name": " "})
	c.do(http.StatusBadRequest, "PUT", path, object{"defaultChunkingConfig": object{"none": object{}}})
	c.do(http.StatusConflict, "PUT", path, object{"name": "One"})
	require.Contains(t, c.do(http.StatusOK, "PUT", path, object{"name": "renamed"}).body, `"name":"renamed"`)
	c.do(http.StatusNotFound, "PUT", "/v1/spaces/"+nobody, object{"name": "x"})
	c.do(http.StatusBadRequest, "GET", "/v1/spaces/x", nil)

	memory := c.create(id, "something", nil)
	require.Empty(t, c.do(http.StatusNoContent, "DELETE", path, nil).body)
	c.do(http.StatusNotFound, "DELETE", path, nil)
	c.do(http.StatusNotFound, "GET", "/v1/memories/"+memory, nil)
	c.do(http.StatusNotFound, "GET", path+"/memories", nil)
	c.do(http.StatusNotFound, "POST", "/v1/memories", object{"spaceId": id, "originalContent": "x", "contentType": "text/plain"})
}

func TestModelsAreKept(t *testing.T) {
	c := serve(t, Options{})
	for kind, id := range map[string]string{"embedders": "embedderId", "rerankers": "rerankerId", "llms": "llmId"} {
		in := object{"displayName": "m", "providerType": "TEI", "endpointUrl": "http://x.test", "modelIdentifier": "m-1", "labels": object{"a": "1"},
			"credentials": object{"kind": "CREDENTIAL_KIND_API_KEY", "apiKey": object{"inlineSecret": "hush"}}}
		if kind == "embedders" {
			in["dimensionality"], in["distributionType"] = 1024, "DENSE"
		}
		made := c.do(http.StatusCreated, "POST", "/v1/"+kind, in).body
		require.NotContains(t, made, "hush")
		if kind == "llms" {
			var wrapped struct {
				LLM      json.RawMessage
				Statuses []Status
			}
			require.True(t, strings.HasPrefix(made, `{"llm":{"llmId":`) && strings.HasSuffix(made, `,"statuses":null}`), made)
			require.NoError(t, json.Unmarshal([]byte(made), &wrapped))
			made = string(wrapped.LLM)
		}
		require.True(t, strings.HasPrefix(made, `{"`+id+`":"`), made)
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(made), &m))
		path := "/v1/" + kind + "/" + m[id].(string)
		require.Equal(t, made, c.do(http.StatusOK, "GET", path, nil).body)
		c.do(http.StatusConflict, "POST", "/v1/"+kind, in)
		in[id] = m[id]
		c.do(http.StatusConflict, "POST", "/v1/"+kind, in)
		in[id], in["modelIdentifier"] = nobody, "m-2"
		c.do(http.StatusCreated, "POST", "/v1/"+kind, in)
		list := c.do(http.StatusOK, "GET", "/v1/"+kind+"?providerType=TEI&label.a=1", nil).body
		require.True(t, strings.HasPrefix(list, `{"`+kind+`":[{`) && strings.Contains(list, made), list)
		require.Equal(t, `{"`+kind+`":[]}`, c.do(http.StatusOK, "GET", "/v1/"+kind+"?providerType=OPENAI", nil).body)
		require.Contains(t, c.do(http.StatusOK, "PUT", path, object{"displayName": "n", "mergeLabels": object{"b": "2"}}).body, `"labels":{"a":"1","b":"2"}`)
		c.do(http.StatusBadRequest, "PUT", path, object{"providerType": "OPENAI"})
		c.do(http.StatusBadRequest, "PUT", path, object{"mergeLabels": object{}, "replaceLabels": object{}})
		c.do(http.StatusNoContent, "DELETE", path, nil)
		c.do(http.StatusNotFound, "DELETE", path, nil)
		c.do(http.StatusNotFound, "GET", path, nil)
		c.do(http.StatusNotFound, "PUT", path, object{})
		c.do(http.StatusBadRequest, "GET", "/v1/"+kind+"/x", nil)
	}
}
