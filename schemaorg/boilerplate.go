package schemaorg

// boilerplateTypes are the types that NLWeb's trim_json leaves out of what it
// ranks: they describe the page and the site around the content. A page's
// documents are its other nodes, as long as it has any.
var boilerplateTypes = setOf(
	"Brand", "Breadcrumb", "BreadcrumbList", "CollectionPage", "Corporation",
	"ItemList", "ListItem", "MerchantReturnPolicy", "NewsMediaOrganization",
	"Organization", "ReadAction", "ReturnPolicy", "SearchAction",
	"SiteNavigationElement", "WebPage", "WebPageElement", "WebSite",
)

// isBoilerplate reports whether every one of types is a boilerplate type, so
// that a page which is also a recipe stays a recipe.
func isBoilerplate(types []string) bool { return allIn(types, boilerplateTypes) }

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func allIn(types []string, set map[string]bool) bool {
	for _, t := range types {
		if !set[t] {
			return false
		}
	}
	return len(types) > 0
}
