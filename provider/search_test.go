package provider_test

import (
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestFitKeepsLaterHitsThatStillFit(t *testing.T) {
	res := &provider.Result{Hits: []provider.Hit{
		{URL: "1", Schema: make([]byte, provider.MaxReplyBytes-100)},
		{URL: "2", Schema: make([]byte, 1000)},
		{URL: "3", Schema: make([]byte, 50)},
	}}
	res.Fit()
	if len(res.Hits[0].Schema) == 0 || len(res.Hits[1].Schema) != 0 || len(res.Hits[2].Schema) == 0 {
		t.Errorf("schemas of %d, %d, %d bytes are left, want the second alone taken", len(res.Hits[0].Schema), len(res.Hits[1].Schema), len(res.Hits[2].Schema))
	}
	if !res.Degraded || len(res.Statuses) != 1 || res.Statuses[0].Code != provider.StatusResultTruncated {
		t.Errorf("degraded %v, statuses %+v; want one %s", res.Degraded, res.Statuses, provider.StatusResultTruncated)
	}
	small := &provider.Result{Hits: []provider.Hit{{URL: "1", Schema: []byte("{}")}}}
	small.Fit()
	if small.Degraded || len(small.Statuses) != 0 {
		t.Errorf("a small result became %+v", small)
	}
}

func TestFitBoundsNamesAndTypesToo(t *testing.T) {
	res := &provider.Result{}
	for range provider.MaxLimit {
		res.Hits = append(res.Hits, provider.Hit{
			URL: strings.Repeat("u", 8<<10), Site: "s", Schema: []byte("{}"),
			Name: strings.Repeat("n", provider.MaxNameBytes), Types: []string{strings.Repeat("t", provider.MaxTypeBytes)},
		})
	}
	res.Fit()
	total, named := 0, 0
	for _, h := range res.Hits {
		total += len(h.URL) + len(h.Site) + len(h.Name) + len(h.Passage) + len(h.Schema)
		for _, kind := range h.Types {
			total += len(kind)
		}
		if h.Name != "" {
			named++
		}
	}
	if total > provider.MaxReplyBytes || named == 0 || named == len(res.Hits) {
		t.Errorf("%d bytes with %d of %d names, want at most %d bytes with some names", total, named, len(res.Hits), provider.MaxReplyBytes)
	}
	if len(res.Statuses) != 1 {
		t.Errorf("statuses %+v, want one", res.Statuses)
	}
}

func TestFitLeavesAResultThatFits(t *testing.T) {
	res := &provider.Result{Hits: []provider.Hit{
		{URL: "1", Schema: make([]byte, provider.MaxReplyBytes-10)}, {URL: "2", Schema: make([]byte, 100)}, {URL: "3"},
	}}
	res.Fit()
	res.Fit()
	if len(res.Statuses) != 1 || len(res.Hits[0].Schema) == 0 {
		t.Errorf("after fitting twice: statuses %+v, want one", res.Statuses)
	}
}
