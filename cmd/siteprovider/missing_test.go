package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// open is a provider that stays open from one command to the next.
type open struct{ provider.Provider }

func (open) Close() error { return nil }

// shelf returns a store that holds a document of each URL.
func shelf(t *testing.T, site string, urls ...string) provider.Provider {
	t.Helper()
	p := providertest.NewMemory()
	var docs []provider.Document
	for _, u := range urls {
		docs = append(docs, provider.Document{Site: site, URL: u, Schema: fmt.Appendf(nil, `{"@type":"Thing","name":"Soup","url":%q}`, u)})
	}
	results, err := p.Put(t.Context(), docs)
	require.NoError(t, err)
	for _, r := range results {
		require.Equal(t, provider.Stored, r.Outcome)
	}
	return open{p}
}

func TestAMissingURLNamesTheDocumentThatWasMeant(t *testing.T) {
	const host = "https://a.example"
	p := shelf(t, "a.example", host+"/soup#recipe", host+"/soup/cold", host+"/two#x", host+"/two#y", host+"/plain",
		host+"/slash/", "https://www.a.example/home", host+"/")
	for asked, want := range map[string]string{
		host + "/soup":              host + "/soup#recipe",
		host + "/soup#article":      host + "/soup#recipe",
		host + "/soup/":             host + "/soup#recipe",
		"http://www.a.example/soup": host + "/soup#recipe",
		host + "/two":               host + "/two#x or " + host + "/two#y",
		host + "/plain/":            host + "/plain",
		host + "/plain#top":         host + "/plain",
		"http://a.example/plain":    host + "/plain",
		"a.example/plain":           host + "/plain",
		"//a.example/plain":         host + "/plain",
		host + "/slash":             host + "/slash/",
		host + "/home":              "https://www.a.example/home",
		"a.example":                 host + "/",
		host + "/soup/col":          "",
		host + "/sou":               "",
		"soup":                      "",
		"https://b.example/soup":    "",
		"mailto:a@a.example":        "",
	} {
		t.Run(asked, func(t *testing.T) {
			o := within(t, p, "get", asked)
			require.Equal(t, exitPart, o.status)
			require.Empty(t, o.stdout)
			if want != "" {
				want = "; did you mean " + want + "?"
			}
			require.Equal(t, "not found: "+asked+want+"\n", o.stderr)
		})
	}
}

func TestNearURLsStayWithinTheScope(t *testing.T) {
	p := shelf(t, "shelf", "https://a.example/soup#recipe")
	o := within(t, p, "get", "--site", "shelf", "https://a.example/soup")
	require.Equal(t, "not found: https://a.example/soup; did you mean https://a.example/soup#recipe?\n", o.stderr)
	o = within(t, p, "get", "--site", "other", "https://a.example/soup")
	require.Equal(t, "not found: https://a.example/soup\n", o.stderr)
}

// The calls that a hint takes are bounded, however much is missing.
func TestHintsCostFewCalls(t *testing.T) {
	gets, lists := 0, 0
	p := stub{
		get: func(l provider.Lookup) ([]provider.Object, error) {
			gets++
			objects := make([]provider.Object, len(l.URLs))
			for i, u := range l.URLs {
				objects[i].URL = u
			}
			return objects, nil
		},
		list: func(q provider.ListQuery) ([]provider.Entry, error) {
			lists++
			require.LessOrEqual(t, q.Limit, maxNear)
			return nil, nil
		},
	}
	args := []string{"get"}
	for i := range 50 {
		args = append(args, fmt.Sprintf("https://a.example/%d", i))
	}
	o := within(t, p, args...)
	require.Equal(t, exitPart, o.status)
	require.Equal(t, 50, strings.Count(o.stderr, "not found: "))
	require.LessOrEqual(t, gets, 1+maxGuesses)
	require.LessOrEqual(t, lists, 8*maxGuesses)
}

func TestDeleteNamesWhatIsNotThere(t *testing.T) {
	p := shelf(t, "a.example", "https://a.example/soup", "https://a.example/cake")
	o := within(t, p, "delete", "--site", "a.example", "https://a.example/soup", "https://a.example/soup/", "https://A.example/cake")
	require.Equal(t, exitPart, o.status)
	require.Equal(t, "1 deleted\n", o.stdout)
	require.Equal(t, "not found: https://A.example/cake; did you mean https://a.example/cake?\nnot found: https://a.example/soup/\n", o.stderr)
}

func TestASiteThatHoldsNothingIsNamed(t *testing.T) {
	p := shelf(t, "a.example", "https://a.example/soup")
	for _, args := range [][]string{{"search", "--site", "b.example", "soup"}, {"list", "--site", "b.example"}, {"delete", "--site", "b.example"}} {
		o := within(t, p, args...)
		require.Equal(t, exitDone, o.status, args)
		require.Contains(t, o.stderr, "note: nothing is stored for the site b.example\n", args)
		require.NotContains(t, o.stderr, provider.StatusSiteUnknown, args)
		require.NotContains(t, o.stderr, "comma", args)
	}
	for _, args := range [][]string{{"search", "--site", "a.example,b.example", "soup"}, {"list", "--site", "a,b"}, {"delete", "--site", "a,b"}} {
		require.Contains(t, within(t, p, args...).stderr, "note: a comma is part of a site's name; repeat --site for several sites\n", args)
	}
}

func TestMessagesAreInTheWordsOfTheCommandLine(t *testing.T) {
	p := shelf(t, "a.example", "https://a.example/soup")
	for want, args := range map[string][]string{
		"siteprovider: unknown command \"serch\" for \"siteprovider\"\n  Did you mean this?\n  search\nTry: siteprovider --help\n": {"serch", "x"},
		"siteprovider: a URL is missing\nTry: siteprovider get --help\n":                                                           {"get"},
		"siteprovider: the query is missing\nTry: siteprovider search --help\n":                                                    {"search"},
		"siteprovider: sites takes no argument, but there is \"x\"\nTry: siteprovider sites --help\n":                              {"sites", "x"},
		"siteprovider: --filter: \"name<abc\": \"abc\" has no order: it is neither a number nor a date\n":                          {"search", "--filter", "name<abc", "x"},
		fmt.Sprintf("siteprovider: search: invalid argument: the query: %d bytes are more than %d\n",
			provider.MaxQueryBytes+1, provider.MaxQueryBytes): {"search", strings.Repeat("a", provider.MaxQueryBytes+1)},
	} {
		require.Equal(t, want, within(t, p, args...).stderr, args)
	}
}
