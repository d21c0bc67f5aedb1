package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider"
)

func TestSitesOfTheCommandLineBecomeAScope(t *testing.T) {
	for name, tc := range map[string]struct {
		sites []string
		want  provider.Scope
	}{
		"none means all":             {nil, provider.AllSites()},
		"all means all":              {[]string{"all"}, provider.AllSites()},
		"all in any case":            {[]string{" ALL "}, provider.AllSites()},
		"a star means all":           {[]string{"*"}, provider.AllSites()},
		"all wins in a list":         {[]string{"a.example", "All", "b.example"}, provider.AllSites()},
		"one site":                   {[]string{"a.example"}, provider.InSites("a.example")},
		"several sites":              {[]string{"a.example", "b.example"}, provider.InSites("a.example", "b.example")},
		"blanks around it":           {[]string{" a.example "}, provider.InSites("a.example")},
		"a comma is part of a name":  {[]string{"a.example,b.example"}, provider.InSites("a.example,b.example")},
		"no character has a meaning": {[]string{`site:*' OR "`}, provider.InSites(`site:*' OR "`)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scopeOf(tc.sites)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestASiteThatNamesNothingNeverWidens(t *testing.T) {
	for name, sites := range map[string][]string{
		"empty":             {""},
		"blank":             {" "},
		"empty in a list":   {"a.example", ""},
		"empty beside all":  {"all", ""},
		"a line break":      {"a.example\n"},
		"a line break only": {"\n"},
		"not UTF-8":         {"\xff"},
		"too long":          {strings.Repeat("x", provider.MaxSiteBytes+1)},
		"too many":          strings.Split(strings.Repeat("a.example ", provider.MaxSites+1)+"b", " "),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scopeOf(sites)
			require.ErrorIs(t, err, provider.ErrInvalid)
			require.ErrorContains(t, err, "--site")
		})
	}
}
