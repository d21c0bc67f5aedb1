package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"
)

// leadProperties are said first, in this order; the first titleCount of them
// are titles, the others bodies.
var leadProperties = [...]string{
	"name", "headline", "title", "alternateName",
	"description", "abstract", "text", "articleBody",
}

const titleCount = 4

// addressProperties make one line, in this order.
var addressProperties = [...]string{
	"streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry",
}

// fields is one object taken apart.
type fields struct {
	lead    [len(leadProperties)]gjson.Result
	address [len(addressProperties)]gjson.Result

	price, lowPrice, highPrice, currency gjson.Result
	givenName, familyName, legalName     gjson.Result

	types, inLanguage, context, value, valueLanguage gjson.Result

	isAddress bool
}

// property is a member of an object that is neither lead nor special.
type property struct {
	class propertyClass
	value gjson.Result
}

// read takes an object apart in one pass and appends its other members to rest.
// Of equal names the last counts, as it does for most parsers.
func (f *fields) read(object gjson.Result, rest []property) []property {
	object.ForEach(func(key, v gjson.Result) bool {
		name := propertyName(key.Str)
		switch name {
		case "name", "headline", "title", "alternateName", "description", "abstract", "text", "articleBody":
			f.lead[indexOf(leadProperties[:], name)] = v
		case "streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry":
			f.address[indexOf(addressProperties[:], name)] = v
			f.isAddress = true
		case "price":
			f.price = v
		case "lowPrice":
			f.lowPrice = v
		case "highPrice":
			f.highPrice = v
		case "priceCurrency":
			f.currency = v
		case "givenName":
			f.givenName = v
		case "familyName":
			f.familyName = v
		case "legalName":
			f.legalName = v
		case "inLanguage":
			f.inLanguage = v
		case "@type":
			f.types = v
		case "@context":
			f.context = v
		case "@value":
			f.value = v
		case "@language":
			f.valueLanguage = v
		default:
			if class := classOf(name); class != unread {
				rest = append(rest, property{class, v})
			}
		}
		return true
	})
	return rest
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// name returns name, else headline, title, given and family name, legalName or
// alternateName.
func (f *fields) name() string {
	for _, v := range f.lead[:titleCount-1] {
		if s := oneLine(v); s != "" {
			return s
		}
	}
	if s := f.personName(); s != "" {
		return s
	}
	if s := oneLine(f.legalName); s != "" {
		return s
	}
	return oneLine(f.lead[titleCount-1])
}

func (f *fields) personName() string {
	return strings.TrimSpace(oneLine(f.givenName) + " " + oneLine(f.familyName))
}
