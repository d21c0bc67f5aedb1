package provider

import (
	"slices"
	"strconv"
)

// Lookup asks for the objects of URLs.
type Lookup struct {
	URLs  []string // 1 to MaxURLs
	Scope Scope
}

// Check returns l with its scope in canonical form.
func (l Lookup) Check() (Lookup, error) {
	var err error
	if l.Scope, err = l.Scope.Check("Lookup.Scope"); err != nil {
		return Lookup{}, err
	}
	if err := checkURLs("Lookup.URLs", l.URLs); err != nil {
		return Lookup{}, err
	}
	return l, nil
}

// Object is what a lookup found for one URL.
//
// A URL is looked for exactly as it was given first, then by [NormalURL]. When
// several allowed sites hold it, the site that equals the URL's host wins (see
// [HostSite]), else the first by name; Ambiguous says that there were several.
type Object struct {
	URL       string // as stored, when Found; otherwise as it was asked for
	Site      string
	Found     bool
	Ambiguous bool
	Schema    []byte // as it was ingested, byte for byte
}

// ListQuery asks for a page of a site's documents.
type ListQuery struct {
	Site  string
	After string // only URLs greater than this, in byte order; empty: from the start
	Limit int    // 0 to MaxLimit; 0 means MaxLimit
}

// Check returns q with its site in canonical form and its limit filled in.
func (q ListQuery) Check() (ListQuery, error) {
	var err error
	if q.Site, err = CheckSite("ListQuery.Site", q.Site); err != nil {
		return ListQuery{}, err
	}
	if err := checkText("ListQuery.After", q.After, MaxURLBytes); err != nil {
		return ListQuery{}, err
	}
	if q.Limit, err = checkLimit("ListQuery.Limit", q.Limit, MaxLimit); err != nil {
		return ListQuery{}, err
	}
	return q, nil
}

// Entry is a document as List shows it.
type Entry struct {
	URL  string
	Hash string // Document.Hash of what was put
	// Indexed reports that a search finds the document under the current
	// text and analysis versions. Where it is false, put it again.
	Indexed bool
}

// Selector names what to delete: documents of a site by their URLs, or the
// whole site. Exactly one of URLs and WholeSite is given, so that an empty
// list of URLs never deletes a site.
type Selector struct {
	Site      string
	URLs      []string // compared exactly; at most MaxURLs
	WholeSite bool
}

// Check returns s with its site in canonical form.
func (s Selector) Check() (Selector, error) {
	var err error
	if s.Site, err = CheckSite("Selector.Site", s.Site); err != nil {
		return Selector{}, err
	}
	if s.WholeSite {
		if len(s.URLs) > 0 {
			return Selector{}, Invalidf("Selector.URLs", "are given together with WholeSite")
		}
		return s, nil
	}
	if err := checkURLs("Selector.URLs", s.URLs); err != nil {
		return Selector{}, err
	}
	s.URLs = slices.Clone(s.URLs)
	return s, nil
}

func checkURLs(arg string, urls []string) error {
	if len(urls) == 0 {
		return Invalidf(arg, "is empty")
	}
	if len(urls) > MaxURLs {
		return Invalidf(arg, "%d URLs are more than MaxURLs = %d", len(urls), MaxURLs)
	}
	for i, u := range urls {
		if err := CheckURL(arg+"["+strconv.Itoa(i)+"]", u); err != nil {
			return err
		}
	}
	return nil
}
