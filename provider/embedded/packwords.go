package embedded

import "strings"

// packProperties and packTypes are names of the Schema.org vocabulary, the rare
// ones first: what is near the end of the dictionary takes a byte less to name.
const (
	packProperties = `accessibilityFeature accessMode actionableFeedbackPolicy additionalProperty additionalType affiliation album albums alumniOf applicationSubCategory articleBody artist assembly associatedMedia audience audio availabilityEnds availableLanguage award awards backstory baseSalary birthDate bookEdition bookFormat byArtist calories
citation clipNumber codeRepository color colleague composer contentLocation contentRating contentSize contributor copyrightHolder copyrightNotice copyrightYear correction countryOfOrigin courseCode creativeWorkStatus creditText currency currenciesAccepted datasetTimeInterval dateline datePosted depth device director directors discussionUrl
distribution doorTime downloadUrl duringMedia editor educationalLevel educationRequirements eligibleRegion employee employmentType encoding encodingFormat endOffset endTime episodeNumber estimatedCost ethicsPolicy eventAttendanceMode eventStatus eventSchedule exampleOfWork experienceRequirements expires familyName faxNumber featureList floorSize followee foundingDate founder founders funder
gender genre geo givenName gtin gtin12 gtin13 gtin14 gtin8 hasCourseInstance hasMenu hasMerchantReturnPolicy hasOfferCatalog hasPart hasVariant hiringOrganization honorificPrefix illustrator includesObject ingredients instructor interactionStatistic interactionType isbn isbn10 isBasedOn isFamilyFriendly isLiveBroadcast isRelatedTo isSimilarTo issn itemCondition itemOffered itemReviewed
jobBenefits jobLocation jobLocationType jobTitle knowsAbout knowsLanguage latitude legalName license locationCreated longitude lowPrice highPrice offerCount manufacturer material maxPrice maxValue measurementTechnique memberOf mentions menu minPrice minValue model mpn musicBy nationality nextItem previousItem numAdults numberOfEmployees numberOfEpisodes numberOfItems numberOfPages numberOfRooms numberOfSeasons
occupationalCategory openingHours openingHoursSpecification dayOfWeek opens closes organizer ownershipFundingInfo pageEnd pageStart pagination parentOrganization participant paymentAccepted performer performers permissions petsAllowed potentialAction preparation priceRange priceSpecification priceValidUntil processorRequirements producer productID productGroupID productionCompany programmingLanguage propertyID provider publication publishingPrinciples
qualifications readonlyValue recordedIn relatedLink releaseDate releaseNotes releasedEvent representativeOfPage requirements responsibilities reviewAspect reviewedBy runtimePlatform salaryCurrency sampleType screenshot seasonNumber seller series shippingDetails size slogan softwareAddOn sourceOrganization spatialCoverage speakable cssSelector xpath sponsor startOffset startTime starRating subjectOf suitableForDiet superEvent supply
targetProduct teaches temporalCoverage termCode inDefinedTermSet tickerSymbol timeRequired title tool totalPaperPages track tracks trailer translator typicalAgeRange unitCode unitText upvoteCount userInteractionCount validFrom validThrough valueReference variesBy vatID version volumeNumber issueNumber warranty weight width workExample worksFor
transFatContent unsaturatedFatContent cholesterolContent saturatedFatContent sodiumContent sugarContent fiberContent servingSize carbohydrateContent proteinContent fatContent recipeCuisine cookTime prepTime totalTime recipeCategory recipeYield recipeIngredient recipeInstructions nutrition
softwareHelp operatingSystem softwareVersion softwareRequirements fileSize applicationCategory isAccessibleForFree wordCount commentCount comment answerCount acceptedAnswer suggestedAnswer mainEntity text abstract alternativeHeadline articleSection wordCount thumbnailUrl embedUrl contentUrl uploadDate duration caption video
contactPoint contactType email telephone addressCountry addressRegion postalCode streetAddress addressLocality address areaServed location startDate endDate priceCurrency price availability sku brand category offers review reviewBody reviewRating worstRating bestRating ratingCount reviewCount ratingValue aggregateRating
about creator identifier value inLanguage primaryImageOfPage breadcrumb itemListElement item position isPartOf logo publisher author dateCreated dateModified datePublished mainEntityOfPage sameAs keywords image headline alternateName description`

	packTypes = `Action AdministrativeArea AggregateOffer Answer Apartment AudioObject Audience AutoDealer BlogPosting Bakery BankOrCreditUnion Book BroadcastEvent CafeOrCoffeeShop Car Certification City ClaimReview Clip CollectionPage CollegeOrUniversity Comment CommentAction CommunicateAction ContactPage Corporation Country Course CourseInstance CreativeWorkSeason CreativeWorkSeries
DataCatalog DataDownload Dataset DefinedRegion DefinedTerm DefinedTermSet Dentist DiscussionForumPosting Distance Drug Duration EducationEvent EducationalOrganization EmployerAggregateRating EntryPoint Episode ExerciseAction Festival Flight FoodEstablishment GovernmentOrganization GovernmentService HealthTopicContent Hotel HotelRoom HowTo HowToDirection HowToSupply HowToTip HowToTool InteractionCounter
Language Legislation LikeAction ListenAction LiveBlogPosting LodgingBusiness MediaObject MedicalBusiness MedicalCondition MedicalWebPage MerchantReturnPolicy MobileApplication MonetaryAmount MusicAlbum MusicComposition MusicEvent MusicGroup MusicPlaylist MusicRecording NewsMediaOrganization Occupation OfferCatalog OfferShippingDetails OpeningHoursSpecification OrganizationRole ParkingFacility Painting Patient Periodical Pharmacy Photograph Physician
PodcastEpisode PodcastSeries PriceSpecification ProductGroup ProfilePage PublicationIssue PublicationVolume QAPage RadioSeries ReadAction RealEstateAgent RealEstateListing Recommendation ReportageNewsArticle Reservation Residence Role Schedule ScholarlyArticle SearchResultsPage SeekToAction Service ShippingDeliveryTime SizeSpecification SocialMediaPosting SoftwareSourceCode SpeakableSpecification SportsEvent SportsOrganization SportsTeam Store TechArticle TheaterEvent Thing
TouristAttraction Trip TVEpisode TVSeason TVSeries UnitPriceSpecification VideoGame ViewAction VirtualLocation VisualArtwork WatchAction WebApplication WebAPI WebContent WebPageElement WPFooter WPHeader WPSideBar JobPosting GeoCoordinates PropertyValue QuantitativeValue ContactPoint Brand Movie Restaurant LocalBusiness Event FAQPage Question SiteNavigationElement HowToSection NutritionInformation VideoObject SoftwareApplication
Article NewsArticle Recipe Product Offer AggregateRating Review Rating ItemList CreativeWork Place PostalAddress`
)

// packPhrases are how objects usually put frequent things.
const packPhrases = `"itemCondition":"https://schema.org/NewCondition","http://schema.org/","@context":"http://schema.org","@vocab":"https:\/\/schema.org\/","@context":"https:\/\/schema.org","@type": "ListItem","position": 1,"name": "","item": "https://www.","@type": "ImageObject","url": "https://","@type": "Person","name": ""},"@type": "Organization","logo": {"@type": "` +
	`"@context": "https://schema.org","@type": "","name": "","url": "","description": "","image": "","datePublished": "20","dateModified": "20","author": {"publisher": {"offers": {"@type": "Offer","price": "","priceCurrency": "USD","aggregateRating": {"@type": "AggregateRating","ratingValue": "","reviewCount": "","mainEntityOfPage": {"@type": "WebPage","@id": "` +
	`"availability":"https://schema.org/OutOfStock","availability":"http://schema.org/InStock","availability":"https://schema.org/InStock","priceCurrency":"EUR","priceCurrency":"USD","price":"0","bestRating":"5","worstRating":"1","ratingCount":","bestRating":5,"worstRating":1},"inLanguage":"en-US","isAccessibleForFree":true,"contentUrl":"https://` +
	`","prepTime":"PT10M","cookTime":"PT20M","totalTime":"PT30M","recipeIngredient":["1 cup ","1/2 teaspoon ","recipeInstructions":[{"@type":"HowToStep","text":"","name":"","url":"https://www.#"},{"@type":"HowToStep","text":"` +
	`"mainEntity":[{"@type":"Question","name":"","acceptedAnswer":{"@type":"Answer","text":"<p>","<br />\n</p>\n<p>&nbsp;&amp;&#39;&quot; \u0026 \u003cp\u003e\u003c/p\u003e\u2019s \u201c\u201d\u2013 \u00a0\u00e9"}},` +
	`"sameAs":["https://www.facebook.com/","https://twitter.com/","https://www.instagram.com/","https://www.youtube.com/","https://www.linkedin.com/company/","https://www.pinterest.com/","https://en.wikipedia.org/wiki/"]` +
	`,"potentialAction":[{"@type":"SearchAction","target":{"@type":"EntryPoint","urlTemplate":"https://www.?s={search_term_string}"},"query-input":"required name=search_term_string"}],"query-input":{"@type":"PropertyValueSpecification","valueRequired":true,"valueName":"search_term_string"}` +
	`,"breadcrumb":{"@id":"/#breadcrumb"},"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":1,"name":"Home","item":"https://www."},{"@type":"ListItem","position":2,"name":"","item":{"@id":"https://","name":"` +
	`.html","isPartOf":{"@id":"https://www./#website"},"@type":"WebSite","url":"https://www./","publisher":{"@id":"https://www./#organization"},"author":{"@id":"/#/schema/person/"},"mainEntityOfPage":{"@id":"https://www./#webpage"},"primaryImageOfPage":{"@id":"#primaryimage"},"thumbnailUrl":"https://www./wp-content/uploads/2023/0.jpg","image":["https://www.` +
	`"image":{"@type":"ImageObject","url":"https://www.","contentUrl":"https://","caption":"","width":1200,"height":630},"logo":{"@type":"ImageObject","@id":"https://","url":"https://","width":600,"height":60}},"author":[{"@type":"Person","name":"","url":"https://www."}],"publisher":{"@type":"Organization","name":"","url":"https://www.","logo":{"@type":"ImageObject","url":"https://` +
	`"mainEntityOfPage":{"@type":"WebPage","@id":"https://www."},"datePublished":"2024-01-01T00:00:00+00:00","dateModified":"2025-01-01T00:00:00.000Z","headline":"","articleSection":["","keywords":["","wordCount":,"aggregateRating":{"@type":"AggregateRating","ratingValue":"4.5","reviewCount":"","offers":{"@type":"Offer","price":"","priceCurrency":"","url":"https://www."}` +
	`{"@context":"https://schema.org/","@type":["` +
	`{"@context":"https://schema.org","@graph":[{"@type":"` +
	`{"@context":"https://schema.org","@type":"Article","@id":"https://www.","url":"https://www.","name":"","description":"","image":"https://`

// packWords returns the dictionary that packed objects are relative to. What is
// stored can only be read with the very same bytes: for other words, a new mark
// beside packedMark is needed.
func packWords() []byte {
	var b strings.Builder
	for _, name := range strings.Fields(packTypes) {
		b.WriteString(`{"@type":"` + name + `","`)
	}
	for _, name := range strings.Fields(packProperties) {
		b.WriteString(`","` + name + `":"`)
	}
	b.WriteString(packPhrases)
	return []byte(b.String())
}
