package schemaorg

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/siteprovider/siteprovider/provider"
)

// addressLine says the parts of a postal address on one line.
func (p *prose) addressLine(f *fields) {
	if !f.isAddress {
		return
	}
	var parts []string
	for _, v := range f.address {
		if s := oneLine(v); s != "" && !isNoise(s) {
			parts = append(parts, s)
		}
	}
	p.say(strings.Join(parts, ", "))
}

// priceLine says a price or a range of prices with its currency.
func (p *prose) priceLine(f *fields) {
	price := scalar(f.price)
	if low := scalar(f.lowPrice); price == "" && low != "" {
		price = low
		if high := scalar(f.highPrice); high != "" && high != low {
			price += "–" + high
		}
	}
	if price == "" {
		return
	}
	if currency := scalar(f.currency); currency != "" && !isNoise(currency) {
		price += " " + currency
	}
	p.put(price, false)
}

// scalar returns a short string or number.
func scalar(v gjson.Result) string {
	const short = 40
	switch {
	case v.Type == gjson.Number && len(v.Raw) <= short:
		return v.Raw
	case v.Type == gjson.String && len(v.Str) <= short && !isNothing(v.Str):
		return cleanText(v.Str)
	}
	return ""
}

// shortDate returns a date as a reader would write it down: the day, and the
// time of day to the minute where it is not midnight; "" where s is no date.
func shortDate(s string) string {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' || len(s) > 40 {
		return ""
	}
	from, until, ok := provider.ParseDate(s)
	switch {
	case !ok:
		return ""
	case from.Before(until) || s[11:16] == "00:00":
		return s[:10]
	}
	return s[:10] + " " + s[11:16]
}

// choiceName returns the words of a choice of schema.org, such as "Vegan Diet"
// for https://schema.org/VeganDiet; other texts as they are.
func choiceName(s string) string {
	name := withoutPrefix(s)
	if name == s {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if i > 0 && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
