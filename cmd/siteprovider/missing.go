package main

import (
	"context"
	"strings"
	"time"

	"github.com/siteprovider/siteprovider/provider"
)

// So much is worth doing to find what may have been meant.
const (
	maxGuesses    = 5 // missing URLs of one command
	maxGuessSites = 3 // sites of its scope
	maxNear       = 3 // URLs to propose for one
	hintTimeout   = 10 * time.Second
)

// tellMissing says that documents were not found, and which ones of nearly the
// same URL are there.
func (a *app) tellMissing(ctx context.Context, p provider.Provider, urls []string, scope provider.Scope) {
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	for i, u := range urls {
		var near []string
		if i < maxGuesses {
			near = nearURLs(ctx, p, u, scope)
		}
		if len(near) == 0 {
			a.tell("not found: %s", u)
		} else {
			a.tell("not found: %s; did you mean %s?", u, strings.Join(near, " or "))
		}
	}
}

// nearURLs returns URLs of documents that differ from u in the scheme, www., a
// slash at the end or the fragment only. It is for a hint: where the provider
// cannot tell, there is none.
func nearURLs(ctx context.Context, p provider.Provider, u string, scope provider.Scope) []string {
	spellings := spellingsOf(u)
	if len(spellings) == 0 {
		return nil
	}
	objects, err := p.Get(ctx, provider.Lookup{URLs: spellings, Scope: scope})
	if err != nil {
		return nil
	}
	for _, o := range objects {
		if o.Found {
			return []string{o.URL}
		}
	}
	for _, site := range guessSites(spellings[0], scope) {
		for _, s := range spellings {
			page, err := p.List(ctx, provider.ListQuery{Site: site, After: s + "#", Limit: maxNear})
			if err != nil {
				return nil
			}
			var near []string
			for _, e := range page {
				if strings.HasPrefix(e.URL, s+"#") {
					near = append(near, e.URL)
				}
			}
			if len(near) > 0 {
				return near
			}
		}
	}
	return nil
}

// spellingsOf returns how else a person might write u, the likeliest first,
// and u without its fragment among them. All are without a fragment.
func spellingsOf(u string) []string {
	u, _, _ = strings.Cut(strings.TrimSpace(u), "#")
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok {
		scheme, rest = "https", strings.TrimPrefix(u, "//")
	}
	schemes := []string{scheme, "http"}
	if !strings.EqualFold(scheme, "https") {
		schemes[1] = "https"
	}
	host, path, _ := strings.Cut(rest, "/")
	hosts := []string{host, "www." + host}
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		hosts[1] = bare
	}
	paths := []string{"/" + path, "/" + path + "/"}
	if bare, ok := strings.CutSuffix(path, "/"); ok {
		paths[1] = "/" + bare
	} else if path == "" {
		paths[1] = ""
	}
	var out []string
	for _, s := range schemes {
		for _, h := range hosts {
			for _, p := range paths {
				if spelling := s + "://" + h + p; provider.CheckURL("", spelling) == nil {
					out = append(out, spelling)
				}
			}
		}
	}
	return out
}

// guessSites returns the sites that may hold a URL.
func guessSites(u string, scope provider.Scope) []string {
	if sites := scope.Sites(); len(sites) > 0 {
		return sites[:min(len(sites), maxGuessSites)]
	}
	if site := provider.HostSite(u); site != "" {
		return []string{site}
	}
	return nil
}

// tellUnknownSite says that a site holds nothing, and which one may have been
// meant, in the words in which the provider answers a search there.
func (a *app) tellUnknownSite(ctx context.Context, p provider.Provider, site string) {
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	res, err := p.Search(ctx, provider.Query{Text: site, Scope: provider.InSites(site), Limit: 1})
	if err == nil {
		for _, st := range res.Statuses {
			if st.Code == provider.StatusSiteUnknown {
				a.tellStatus(st)
				a.tellCommas(site)
				return
			}
		}
	}
	a.tell("note: no documents on %s", site)
}

// tellStatus shows a problem with its code, by which it can be looked up.
func (a *app) tellStatus(st provider.Status) {
	if st.Kind == provider.StatusNotice {
		a.tell("note: %s", st.Message)
		return
	}
	a.tell("warning: %s: %s", st.Code, st.Message)
}

// tellCommas explains the likeliest reason why a site of such a name is unknown.
func (a *app) tellCommas(site string) {
	if strings.Contains(site, ",") {
		a.tell("note: a comma is part of a site's name; repeat --site for several sites")
	}
}
