package provider

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scope says which sites a search or a lookup may draw on: all of them, or
// those of a list. The zero Scope says neither and is refused, so that a
// forgotten scope never widens a search.
type Scope struct {
	all   bool
	sites []string
}

// AllSites is the scope of every site.
func AllSites() Scope { return Scope{all: true} }

// InSites is the scope of the documents whose site is one of sites, compared
// exactly.
func InSites(sites ...string) Scope { return Scope{sites: slices.Clone(sites)} }

// All reports whether s is the scope of every site.
func (s Scope) All() bool { return s.all }

// Sites returns the sites of s; nil for AllSites.
func (s Scope) Sites() []string { return slices.Clone(s.sites) }

// Check returns s with blanks around its sites trimmed and with blank sites
// and repetitions left out. arg names the scope in an error.
func (s Scope) Check(arg string) (Scope, error) {
	if s.all {
		return AllSites(), nil
	}
	if len(s.sites) == 0 {
		return Scope{}, Invalidf(arg, "names no site; say AllSites to search them all")
	}
	if len(s.sites) > MaxSites {
		return Scope{}, Invalidf(arg, "%d sites are more than %d", len(s.sites), MaxSites)
	}
	var kept []string
	seen := make(map[string]bool, len(s.sites))
	for i, raw := range s.sites {
		site, err := checkSiteText(arg+".Sites["+strconv.Itoa(i)+"]", raw)
		if err != nil {
			return Scope{}, err
		}
		if site != "" && !seen[site] {
			seen[site] = true
			kept = append(kept, site)
		}
	}
	if len(kept) == 0 {
		return Scope{}, Invalidf(arg, "names only blank sites; say AllSites to search them all")
	}
	return Scope{sites: kept}, nil
}

// CheckSite returns the name under which a document of site is kept: site
// without surrounding blanks. A blank name, and the words that mean "every
// site" at the edges of the system ("all" in any case, "*"), are refused.
func CheckSite(arg, site string) (string, error) {
	name, err := checkSiteText(arg, site)
	if err != nil {
		return "", err
	}
	if name == "" {
		return "", Invalidf(arg, "is blank")
	}
	if MeansAllSites(name) {
		return "", Invalidf(arg, "%q stands for every site and cannot be the name of one", name)
	}
	return name, nil
}

// MeansAllSites reports whether name, given where a person or an HTTP client
// names a site, stands for every site.
func MeansAllSites(name string) bool {
	name = strings.TrimSpace(name)
	return name == "*" || strings.EqualFold(name, "all")
}

// checkSiteText trims site and checks its characters and length. Control
// characters are refused before trimming: one at the end of a name is a line
// break that some script forgot to cut, and guessing is not our business.
func checkSiteText(arg, site string) (string, error) {
	if !utf8.ValidString(site) {
		return "", Invalidf(arg, "is not valid UTF-8")
	}
	if i := strings.IndexFunc(site, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(site[i:])
		return "", Invalidf(arg, "has the control character %U at byte %d", r, i)
	}
	name := strings.TrimSpace(site)
	if len(name) > MaxSiteBytes {
		return "", Invalidf(arg, "%d bytes are more than MaxSiteBytes = %d", len(name), MaxSiteBytes)
	}
	return name, nil
}
