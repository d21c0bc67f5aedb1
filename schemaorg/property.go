package schemaorg

import "strings"

// propertyClass says how a property contributes to the text.
type propertyClass uint8

const (
	told   propertyClass = iota // its words, and those of the objects in it
	inline                      // its words or names, on one line
	named                       // of objects the name alone: they are things in their own right
	code                        // printed on the thing and typed by people, or a date; needs no letter
	choice                      // words, or the IRI of a choice of schema.org, whose name is words
	late                        // like told, after everything else: long, and by others
	unread                      // no words for a reader
)

// classOf returns the class of a property. What is not listed is told, so that
// the words of properties nobody thought of are found too.
func classOf(name string) propertyClass {
	if class, ok := propertyClasses[name]; ok {
		return class
	}
	switch {
	case strings.HasPrefix(name, "@"):
		return unread
	case strings.HasSuffix(name, "Url"), strings.HasSuffix(name, "URL"), strings.HasSuffix(name, "Uri"),
		strings.HasSuffix(name, "Id"), strings.HasSuffix(name, "ID"), strings.HasSuffix(name, "_id"):
		return unread
	case strings.HasPrefix(name, "date") && name != "dateline", strings.HasSuffix(name, "Date"), strings.HasSuffix(name, "Year"):
		return code // "1818" means something here
	}
	return told
}

var propertyClasses = classes(map[propertyClass][]string{
	told: {"@graph", "@list", "@set", "@included"},
	inline: {
		"applicationCategory", "articleSection", "category", "cookingMethod", "educationalLevel", "genre",
		"industry", "keywords", "knowsAbout", "occupationalCategory", "operatingSystem", "programmingLanguage", "recipeCategory",
		"recipeCuisine", "skills",
	},
	choice: {"bookFormat", "suitableForDiet"},
	named: {
		"about", "actor", "actors", "affiliation", "alumniOf", "areaServed", "artist", "attendee", "author", "brand",
		"byArtist", "character", "colleague", "competitor", "composer", "containedInPlace", "containsPlace", "contributor",
		"countryOfOrigin", "creator", "department", "director", "directors", "editor", "employee",
		"exampleOfWork", "founder", "foundingLocation", "funder", "hasPart", "hiringOrganization", "illustrator", "inAlbum",
		"inPlaylist", "isBasedOn", "isPartOf", "isRelatedTo", "isSimilarTo", "isVariantOf", "itemReviewed", "knows",
		"legislationPassedBy", "locationCreated", "lyricist", "maintainer", "manufacturer", "member", "memberOf", "members", "mentions",
		"musicBy", "nationality", "offeredBy", "organizer", "parentOrganization", "partOfSeason", "partOfSeries", "performer",
		"performers", "producer", "productionCompany", "provider", "publication", "publisher", "readBy", "recordLabel",
		"reviewedBy", "seller", "sourceOrganization", "spatialCoverage", "sponsor", "spouse", "subjectOf", "subOrganization",
		"superEvent", "translator", "workLocation", "worksFor",
	},
	code: {
		"gtin", "gtin12", "gtin13", "gtin14", "gtin8", "isbn", "issn", "model", "mpn", "sku", "temporal",
		"temporalCoverage", "tickerSymbol",
	},
	late: {
		"associatedMedia", "audio", "comment", "comments", "hasVariant", "review", "reviews", "subEvent", "trailer", "video",
	},
	unread: {
		// addresses and files
		"codeRepository", "discussionUrl", "encodingFormat", "fileFormat", "hasMap", "image", "images", "installUrl", "license", "logo",
		"mainEntityOfPage", "photo", "photos", "primaryImageOfPage", "relatedLink", "sameAs", "screenshot", "significantLink",
		"target", "thumbnail", "url", "urlTemplate", "usageInfo",
		// rights, which are on every picture and page
		"copyrightHolder", "copyrightNotice", "creditText",
		// ids and marks for machines
		"cssSelector", "identifier", "query-input", "speakable", "termCode", "unitCode", "unitText", "uuid", "valueName",
		"valueRequired", "xpath", "httpMethod", "contentType", "signature", "color_code", "currenciesAccepted", "currency", "salaryCurrency",
		// enumerations
		"actionStatus", "availability", "availableDeliveryMethod", "businessFunction", "dayOfWeek", "eventAttendanceMode",
		"eventStatus", "gender", "isAccessibleForFree", "isFamilyFriendly", "itemCondition", "itemListOrder", "jobLocationType",
		"orderStatus", "playMode", "returnPolicyCategory", "returnFees", "returnMethod", "returnPolicyCountry",
		// measures and counts
		"aggregateRating", "geo", "height", "interactionCount", "interactionStatistic", "openingHoursSpecification", "position",
		"reviewRating", "starRating", "width",
		// what can be done with the page
		"breadcrumb", "hasMerchantReturnPolicy", "potentialAction", "shippingDetails",
	},
})

func classes(byClass map[propertyClass][]string) map[string]propertyClass {
	all := make(map[string]propertyClass)
	for class, names := range byClass {
		for _, name := range names {
			all[name] = class
		}
	}
	return all
}
