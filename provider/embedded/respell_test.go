package embedded

import (
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

func TestGermanIsSpeltWithUmlautsOrWithout(t *testing.T) {
	for w, want := range map[string]string{
		"bruecke": "brücke", "kraehe": "krähe", "oel": "öl", "uebergroesse": "übergrösse", "aehre": "ähre",
		"brücke": "bruecke", "häuser": "haeuser",
		"neue": "", "bauer": "", "quelle": "", "feuer": "", "blue": "", "statue": "", "aloe": "", "treue": "", "haus": "",
	} {
		if got := respellGerman(w); got != want {
			t.Errorf("respellGerman(%q) = %q, want %q", w, got, want)
		}
	}
}

func TestAGermanDocumentIsFoundByEitherSpelling(t *testing.T) {
	s := open(t, Options{})
	putTitles(t, s, map[string]string{
		"kraehe":  "de: Eine Krähe auf dem Dach",
		"bruecke": "de: Alte Brücken der Stadt",
		"tuer":    "de: Tuer und Tor",
		"news":    "de: Neue Quelle, aktuelle Werte",
		"english": "en: The pot is hot",
	})
	for query, want := range map[string]string{
		"kraehe":   "kraehe",
		"KRAEHEN":  "kraehe",
		"krahe":    "kraehe",
		"Bruecke":  "bruecke",
		"Tür":      "tuer",
		"neue":     "news",
		"Quellen":  "news",
		"aktuell":  "news",
		"Poet":     "", // an English pot is no German poet
		"Goethe":   "",
		"Bruecken": "bruecke",
	} {
		if got := foundKeys(t, s, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

func TestAGermanFemininePluralIsFoundByItsSingular(t *testing.T) {
	for _, c := range []struct{ plural, singular string }{
		{"Gärtnerinnen", "Gärtnerin"}, {"Freundinnen", "freundin"}, {"Köchinnen", "kochin"}, {"Jüdinnen", "Jüdin"}, {"Bürgerinnen", "Bürgerin"},
	} {
		if !finds("Die "+c.plural, "de", c.singular, german) || !finds("Die "+c.singular, "de", c.plural, german) {
			t.Errorf("%s and %s do not find each other", c.plural, c.singular)
		}
	}
	for _, c := range []struct{ text, query string }{
		{"beginnen", "Beginn"}, {"gewinnen", "Gewinn"}, {"spinnen", "Spinne"}, {"Dachrinnen", "Dachrinne"}, {"besinnen", "besinne"},
	} {
		if !finds(c.text, "de", c.query, german) {
			t.Errorf("%q does not find %s", c.query, c.text)
		}
	}
	if finds("Der Gärtner", "de", "Gärtnerin", german) {
		t.Error("Gärtnerin finds Gärtner, want them apart")
	}
}

func TestARespeltWordCountsOnce(t *testing.T) {
	s := open(t, Options{})
	put(t, s,
		provider.Document{URL: "https://a.example/1", Site: "a.example", Name: "x", Text: "die Brücke ist hier", Language: "de", Schema: []byte(`{"@type":"Thing"}`)},
		provider.Document{URL: "https://a.example/2", Site: "a.example", Name: "x", Text: "die Bruecke ist hier", Language: "de", Schema: []byte(`{"@type":"Thing"}`)},
	)
	if got := foundKeys(t, s, "Bruecke"); got != "2 1" {
		t.Errorf("found %q, want the word as it is typed first", got)
	}
	if got := foundKeys(t, s, "Brücke"); got != "1 2" {
		t.Errorf("found %q, want the word as it is typed first", got)
	}
}
