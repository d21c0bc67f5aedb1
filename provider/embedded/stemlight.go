package embedded

import (
	"strings"
	"unicode/utf8"
)

// What Snowball's stemmers lack, or do badly for search: rules for folded words.

// stemArabic cuts an article, with what is written in one with it, and then one
// ending or two off a word, in the manner of the light10 stemmer of L. Larkey, L.
// Ballesteros and M. Connell, "Light Stemming for Arabic Information Retrieval"
// (2007). Plurals that change the inside of a word (بيت, بيوت) stay apart.
func stemArabic(w string) string {
	if rest, ok := strings.CutPrefix(w, "لل"); ok && utf8.RuneCountInString(rest) < 3 {
		w = w[len("ل"):] // للغة is for لغة, not for غة
	}
	for _, article := range arabicArticles {
		if rest, ok := strings.CutPrefix(w, article); ok && utf8.RuneCountInString(rest) >= 2 {
			w = rest
			break
		}
	}
	if stem := cutEnding(w, arabicPossessives, 3); stem != w {
		// What a woman's name or a thing ends in is a t before a possessive.
		return cutEnding(stem, arabicFeminine, 3)
	}
	return cutEnding(w, arabicEndings, 2)
}

// In arabicArticles those with a letter more come first. Behind لل the article's
// alif is not written.
var (
	arabicArticles    = strings.Fields("وبال وكال فبال وال بال كال فال ولل فلل ال لل")
	arabicPossessives = strings.Fields("ها هم هن كم نا تي ته")
	arabicFeminine    = strings.Fields("ت ا")
	arabicEndings     = strings.Fields("ات ان ون ين يه ه ي")
)

// hindiNounEndings are those of the numbers and cases of nouns and adjectives,
// and hindiEndings those of verbs as well, in the manner of A. Ramanathan and D.
// Rao, "A Lightweight Stemmer for Hindi" (2003). A noun may end like a verb, as
// जूता does, so that a word has a stem by either.
var (
	hindiNounEndings = strings.Fields(`
		ियां ियों िया ाओं ाएं ुओं ुएं ाइयां ाइयों
		ों ें ीं ां ओं एं ो े ू ु ी ि ा`)
	hindiEndings = append(strings.Fields(`
		ेगा ेगी ोगे ोगी ाना ाने ानी ाता ाते ाती तीं तां
		ाया ाई ाए ाओ ुआ ुई ुए
		कर ना ने नी ता ते ती`), hindiNounEndings...)
)

// cutEnding cuts the longest of the endings off that leaves so many letters.
func cutEnding(w string, endings []string, leave int) string {
	best := ""
	for _, ending := range endings {
		if len(ending) > len(best) && strings.HasSuffix(w, ending) && utf8.RuneCountInString(w[:len(w)-len(ending)]) >= leave {
			best = ending
		}
	}
	return w[:len(w)-len(best)]
}

// irregularStem returns another stem of a word, "" for most words: the singular
// of a plural that a stemmer by endings does not find.
func irregularStem(l language, folded string) string {
	switch l {
	case english:
		return englishSingulars[folded]
	case spanish:
		if root, ok := strings.CutSuffix(folded, "ces"); ok && root != "" {
			return root + "z" // luces, lápices
		}
	case german:
		if root, ok := strings.CutSuffix(folded, "eln"); ok && len(root) > 2 {
			return root + "el" // Nudeln, Kartoffeln, mit Äpfeln
		}
	}
	return ""
}

// englishSingulars holds, by the plural, the stem of the singular.
var englishSingulars = map[string]string{
	"children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "geese": "goos", "mice": "mous",
	"knives": "knife", "wives": "wife", "leaves": "leaf", "loaves": "loaf", "shelves": "shelf", "halves": "half",
	"scarves": "scarf", "wolves": "wolf", "calves": "calf", "thieves": "thief", "hooves": "hoof", "elves": "elf",
	"oxen": "ox", "analyses": "analysi", "indices": "index", "matrices": "matrix", "vertices": "vertex",
}
