package schemaorg

import "strings"

// boilerplateTypes are the types that NLWeb's trim_json leaves out of what it
// ranks, and the parts of a page that its ranking passes over: they describe
// the page and the site around the content. A page's documents are its other
// nodes, as long as it has any.
var boilerplateTypes = typesOf(
	"Brand", "Breadcrumb", "BreadcrumbList", "CollectionPage", "Corporation",
	"ItemList", "ListItem", "MerchantReturnPolicy", "NewsMediaOrganization",
	"Organization", "ReadAction", "ReturnPolicy", "SearchAction",
	"SiteNavigationElement", "WebPage", "WebPageElement", "WebSite",

	"WPFooter", "WPHeader", "WPSideBar",
)

// isBoilerplate reports whether every one of types is a boilerplate type, so
// that a page which is also a recipe stays a recipe.
func isBoilerplate(types []string) bool {
	for _, t := range types {
		if !boilerplateTypes.has(t) {
			return false
		}
	}
	return len(types) > 0
}

// typeSet is a set of type names. Pages also write them as "Website" or
// "product"; two types of schema.org never differ in case alone.
type typeSet map[string]bool

func (s typeSet) has(t string) bool { return s[t] || s[strings.ToLower(t)] }

func typesOf(names ...string) typeSet {
	set := make(typeSet, 2*len(names))
	for _, name := range names {
		set[name] = true
		set[strings.ToLower(name)] = true
	}
	return set
}
