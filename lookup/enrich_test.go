package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/lookup"
	"github.com/siteprovider/siteprovider/provider"
	"github.com/siteprovider/siteprovider/provider/providertest"
)

// getterFunc is a Getter.
type getterFunc func(ctx context.Context, l provider.Lookup) ([]provider.Object, error)

func (f getterFunc) Get(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
	return f(ctx, l)
}

func url(site string, n int) string { return fmt.Sprintf("https://%s/%02d", site, n) }

func schema(site string, n int) []byte {
	return fmt.Appendf(nil, `{"@type":"Thing","name":"%d of %s","n":1.50e1}`, n, site)
}

// filled returns a store with n documents on each site.
func filled(t *testing.T, n int, sites ...string) *providertest.Memory {
	t.Helper()
	m := providertest.NewMemory()
	for _, site := range sites {
		for i := range n {
			_, err := m.Put(t.Context(), []provider.Document{{URL: url(site, i), Site: site, Schema: schema(site, i)}})
			require.NoError(t, err)
		}
	}
	return m
}

func TestEnrichFillsEveryHitInItsPlace(t *testing.T) {
	m := filled(t, 25, "a.example")
	var hits []provider.Hit
	for i := range 25 {
		n := (i * 7) % 25 // not in the order of the URLs
		hits = append(hits, provider.Hit{URL: url("a.example", n), Site: "a.example", Name: fmt.Sprint(n), Passage: "p"})
	}
	before := slices.Clone(hits)
	got, failures := lookup.Enrich(t.Context(), m, hits)
	require.Empty(t, failures)
	require.Len(t, got, 25)
	for i, h := range got {
		want := before[i]
		want.Schema = schema("a.example", (i*7)%25)
		require.Equal(t, want, h, "hit %d", i)
	}
	require.Equal(t, before, hits, "the hits that were given must not change")
}

func TestEnrichAsksOnlyForWhatIsMissingOrCutOff(t *testing.T) {
	m := filled(t, 4, "a.example")
	var asked []string
	spy := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
		asked = append(asked, l.URLs...) // one lookup, so no race
		return m.Get(ctx, l)
	})
	whole := []byte(`{"name":"as the search gave it"}`)
	got, failures := lookup.Enrich(t.Context(), spy, []provider.Hit{
		{URL: url("a.example", 0), Site: "a.example", Schema: whole},
		{URL: url("a.example", 1), Site: "a.example", Schema: []byte(`{"name":"as the sea`)},
		{URL: url("a.example", 2), Site: "a.example", Schema: []byte(`[{"name":"1"}]`)},
	})
	require.Empty(t, failures)
	require.Equal(t, []string{url("a.example", 1)}, asked)
	require.Equal(t, string(whole), string(got[0].Schema))
	require.Equal(t, string(schema("a.example", 1)), string(got[1].Schema))
	require.Equal(t, `[{"name":"1"}]`, string(got[2].Schema))
}

func TestEnrichWithNothingToDoMakesNoCall(t *testing.T) {
	never := getterFunc(func(context.Context, provider.Lookup) ([]provider.Object, error) {
		t.Error("Get was called, want no call")
		return nil, nil
	})
	for name, hits := range map[string][]provider.Hit{
		"no hits":  nil,
		"all full": {{URL: "https://a.example/", Site: "a.example", Schema: []byte(`{}`)}},
	} {
		got, failures := lookup.Enrich(t.Context(), never, hits)
		require.Empty(t, failures, name)
		require.Equal(t, hits, got, name)
	}
}

func TestEnrichStaysWithinTheSiteOfEachHit(t *testing.T) {
	m := providertest.NewMemory()
	shared := "https://news.example/story"
	for _, site := range []string{"news.example", "a mirror", "z"} {
		_, err := m.Put(t.Context(), []provider.Document{{URL: shared, Site: site, Schema: fmt.Appendf(nil, `{"name":%q}`, site)}})
		require.NoError(t, err)
	}
	got, failures := lookup.Enrich(t.Context(), m, []provider.Hit{
		{URL: shared, Site: "z"}, {URL: shared, Site: "a mirror"}, {URL: shared, Site: "news.example"},
		{URL: shared, Site: "elsewhere"},
	})
	for i, site := range []string{"z", "a mirror", "news.example"} {
		require.Equal(t, fmt.Sprintf(`{"name":%q}`, site), string(got[i].Schema))
	}
	require.Empty(t, got[3].Schema, "a site that does not hold the URL")
	require.Len(t, failures, 1)
	require.Equal(t, 3, failures[0].Index)
	require.ErrorIs(t, failures[0].Err, lookup.ErrNotFound)
}

func TestEnrichKeepsAndReportsWhatFails(t *testing.T) {
	m := filled(t, 6, "a.example")
	boom := provider.Errorf(provider.ErrUnavailable, "the disk is asleep")
	faulty := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
		switch l.URLs[0] {
		case url("a.example", 1):
			return nil, boom
		case url("a.example", 2):
			return nil, nil // fewer objects than URLs
		case url("a.example", 3):
			return []provider.Object{{URL: l.URLs[0], Site: "b.example", Found: true, Schema: []byte(`{}`)}}, nil
		case url("a.example", 4):
			return []provider.Object{{URL: l.URLs[0], Site: "a.example", Found: true}}, nil
		}
		return m.Get(ctx, l)
	})
	var hits []provider.Hit
	for i := range 6 {
		hits = append(hits, provider.Hit{URL: url("a.example", i), Site: "a.example", Schema: []byte(`{"cut`)})
	}
	hits = append(hits, provider.Hit{URL: url("a.example", 1), Site: "a.example"}) // the same once more
	got, failures := lookup.Enrich(t.Context(), faulty, hits)
	for _, i := range []int{0, 5} {
		require.Equal(t, string(schema("a.example", i)), string(got[i].Schema))
	}
	for _, i := range []int{1, 2, 3, 4, 6} {
		require.Equal(t, hits[i], got[i], "hit %d", i)
	}
	wantKind := map[int]error{
		1: provider.ErrUnavailable, 2: provider.ErrInternal, 3: provider.ErrInternal, 4: provider.ErrInternal, 6: provider.ErrUnavailable,
	}
	var order []int
	for _, f := range failures {
		order = append(order, f.Index)
		require.ErrorIs(t, f.Err, wantKind[f.Index], "hit %d", f.Index)
		require.Equal(t, hits[f.Index].URL, f.URL)
		require.Equal(t, "a.example", f.Site)
	}
	require.Equal(t, []int{1, 2, 3, 4, 6}, order)
}

func TestEnrichHasAtMostTwentyLookupsGoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var going, most, calls atomic.Int32
		slow := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
			calls.Add(1)
			now := going.Add(1)
			defer going.Add(-1)
			for {
				old := most.Load()
				if now <= old || most.CompareAndSwap(old, now) {
					break
				}
			}
			time.Sleep(time.Second)
			return []provider.Object{{URL: l.URLs[0], Site: l.Scope.Sites()[0], Found: true, Schema: []byte(`{}`)}}, nil
		})
		var hits []provider.Hit
		for i := range 90 {
			hits = append(hits, provider.Hit{URL: url("a.example", i), Site: fmt.Sprintf("s%d", i%7)})
		}
		start := time.Now()
		_, failures := lookup.Enrich(t.Context(), slow, hits)
		require.Empty(t, failures)
		require.EqualValues(t, 90, calls.Load())
		require.EqualValues(t, lookup.MaxInFlight, most.Load())
		require.Equal(t, 5*time.Second, time.Since(start), "90 lookups of a second, 20 at a time")
	})
}

func TestEnrichEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var calls atomic.Int32
		stuck := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
			calls.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		hits := make([]provider.Hit, 50)
		for i := range hits {
			hits[i] = provider.Hit{URL: url("a.example", i), Site: "a.example"}
		}
		start := time.Now()
		got, failures := lookup.Enrich(ctx, stuck, hits)
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, hits, got)
		require.Len(t, failures, 50)
		for _, f := range failures {
			require.ErrorIs(t, f.Err, context.DeadlineExceeded)
		}
		require.EqualValues(t, lookup.MaxInFlight, calls.Load(), "no lookup begins once the context has ended")
	})
}

func TestGetTakesAnyNumberOfURLs(t *testing.T) {
	m := filled(t, 30, "a.example")
	var sizes []int
	spy := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
		sizes = append(sizes, len(l.URLs))
		return m.Get(ctx, l)
	})
	urls := make([]string, 2*provider.MaxURLs+1)
	for i := range urls {
		urls[i] = url("a.example", i%60)
	}
	got, err := lookup.Get(t.Context(), spy, urls, provider.AllSites())
	require.NoError(t, err)
	require.Equal(t, []int{provider.MaxURLs, provider.MaxURLs, 1}, sizes)
	require.Len(t, got, len(urls))
	for i, o := range got {
		require.Equal(t, urls[i], o.URL)
		require.Equal(t, i%60 < 30, o.Found, "URL %d", i)
	}
}

func TestGetReturnsWhatItHadWhenALookupFails(t *testing.T) {
	calls := 0
	failing := getterFunc(func(ctx context.Context, l provider.Lookup) ([]provider.Object, error) {
		if calls++; calls == 2 {
			return nil, provider.Errorf(provider.ErrUnavailable, "gone")
		}
		return make([]provider.Object, len(l.URLs)), nil
	})
	got, err := lookup.Get(t.Context(), failing, make([]string, provider.MaxURLs+1), provider.AllSites())
	require.ErrorIs(t, err, provider.ErrUnavailable)
	require.Len(t, got, provider.MaxURLs)
}

func TestGetOfNoURLIsNoLookup(t *testing.T) {
	got, err := lookup.Get(t.Context(), getterFunc(func(context.Context, provider.Lookup) ([]provider.Object, error) {
		return nil, errors.New("called")
	}), nil, provider.AllSites())
	require.NoError(t, err)
	require.Empty(t, got)
}
