package embedded

import "strings"

var umlautsWrittenOut = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// respellGerman returns the other spelling of a German word in lower case:
// brücke for bruecke, and bruecke for brücke, as one writes without the keys for
// umlauts; "" if the word has none. In a language that folds ü to u the two are
// different words. An e behind a vowel that ends the word (blue, Statue) or that
// is no vowel by itself (neue, Bauer, Quelle) is none.
func respellGerman(w string) string {
	if strings.ContainsAny(w, "äöü") {
		return umlautsWrittenOut.Replace(w)
	}
	if !strings.Contains(w, "ae") && !strings.Contains(w, "oe") && !strings.Contains(w, "ue") {
		return ""
	}
	var b strings.Builder
	changed := false
	for i := 0; i < len(w); i++ {
		if i+2 < len(w) && w[i+1] == 'e' && strings.IndexByte("aou", w[i]) >= 0 &&
			(i == 0 || strings.IndexByte("aeoq", w[i-1]) < 0) {
			b.WriteString(map[byte]string{'a': "ä", 'o': "ö", 'u': "ü"}[w[i]])
			changed = true
			i++
			continue
		}
		b.WriteByte(w[i])
	}
	if !changed {
		return ""
	}
	return b.String()
}
