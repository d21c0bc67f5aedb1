package main

import (
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
