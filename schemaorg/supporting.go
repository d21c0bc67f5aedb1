package schemaorg

// supportingTypes are the types of what is said about something else: who made
// it, where it is, what it costs, how it looks. A node of such a type is a
// document only where no document holds it and it has words of its own.
var supportingTypes = typesOf(
	// who
	"Audience", "ContactPoint", "EducationalAudience", "PeopleAudience", "Patient", "PerformanceRole", "Person", "Role",
	// where
	"AdministrativeArea", "City", "Country", "DefinedRegion", "GeoCoordinates", "GeoShape", "Place", "PostalAddress", "State",
	"VirtualLocation",
	// pictures and files
	"AudioObject", "DataDownload", "ImageObject", "MediaObject", "VideoObject", "Clip",
	// trade
	"AggregateOffer", "DeliveryTimeSettings", "MonetaryAmount", "MonetaryAmountDistribution", "Offer", "OfferShippingDetails",
	"PriceSpecification", "ShippingDeliveryTime", "ShippingRateSettings", "UnitPriceSpecification", "WarrantyPromise",
	// ratings, replies and counts
	"AggregateRating", "Answer", "Comment", "EndorsementRating", "InteractionCounter", "Rating",
	// values
	"DefinedTerm", "Distance", "Duration", "Energy", "Language", "Mass", "NutritionInformation", "OpeningHoursSpecification",
	"PropertyValue", "PropertyValueSpecification", "QuantitativeValue", "Schedule", "SizeSpecification", "SpeakableSpecification",
	// parts of instructions
	"HowToDirection", "HowToItem", "HowToSection", "HowToStep", "HowToSupply", "HowToTip", "HowToTool",
	// what can be done with a page
	"Action", "BuyAction", "CommentAction", "DownloadAction", "EntryPoint", "LikeAction", "ListenAction", "OrderAction",
	"ReserveAction", "SeekToAction", "ShareAction", "SubscribeAction", "ViewAction", "WatchAction",
)

// isSupporting reports whether every one of types is a supporting or a
// boilerplate type.
func isSupporting(types []string) bool {
	for _, t := range types {
		if !supportingTypes.has(t) && !boilerplateTypes.has(t) {
			return false
		}
	}
	return len(types) > 0
}
