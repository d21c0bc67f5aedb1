package main

import (
	"fmt"
	"strconv"

	"github.com/siteprovider/siteprovider/provider"
)

// siteHelp says what repeated --site flags mean.
const siteHelp = "only documents of this `SITE`; repeat for several (a comma is part of a name). None, all or * means every site"

// scopeOf returns the scope that repeated --site flags ask for. None at all
// means every site, and so does "all" or "*" among them; but a flag that names
// nothing is a mistake in a script, and never widens a search.
func scopeOf(sites []string) (provider.Scope, error) {
	if len(sites) == 0 {
		return provider.AllSites(), nil
	}
	all := false
	for i, s := range sites {
		arg := "--site"
		if len(sites) > 1 {
			arg += " (number " + strconv.Itoa(i+1) + ")"
		}
		if provider.MeansAllSites(s) {
			all = true
			continue
		}
		if _, err := provider.CheckSite(arg, s); err != nil {
			return provider.Scope{}, err
		}
	}
	if all {
		return provider.AllSites(), nil
	}
	return provider.InSites(sites...).Check("--site")
}

// siteFlag is the value of a --site flag that may be given once. Given twice,
// one of the two would be forgotten without a word.
type siteFlag struct {
	site  string
	given bool
}

func (f *siteFlag) String() string { return f.site }

func (f *siteFlag) Type() string { return "string" }

func (f *siteFlag) Set(site string) error {
	if f.given {
		return fmt.Errorf("%q was given before, and this command works on one site", f.site)
	}
	f.site, f.given = site, true
	return nil
}
