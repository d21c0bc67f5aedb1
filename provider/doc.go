// Package provider is the contract between a search host and whatever holds a
// site's documents: the [Provider] interface, the values that cross it, the
// limits and the errors. It knows no engine, no wire format and no
// configuration, and holds no code beyond what every implementation must do
// alike (checking arguments, cutting an oversized reply).
//
//	res, err := p.Search(ctx, provider.Query{
//		Text:  "noodle soup",
//		Scope: provider.InSites("recipes.example"),
//	})
//
// The rules a backend has to keep are pinned, one named subtest each, by
// package provider/providertest.
package provider
