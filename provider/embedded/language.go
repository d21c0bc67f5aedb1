package embedded

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language is a language whose words are stemmed; the numbers are stored in
// segments and never change their meaning.
type language uint8

const (
	noLanguage language = iota
	english
	german
	french
	spanish
	italian
	portuguese
	dutch
	swedish
	danish
	norwegian
	finnish
	russian
	arabic
	hungarian
	romanian
	turkish
	tamil
	irish
	hindi
	languages // how many there are
)

var languageTags = map[string]language{
	"en": english, "de": german, "fr": french, "es": spanish, "it": italian, "pt": portuguese, "nl": dutch,
	"sv": swedish, "da": danish, "no": norwegian, "nb": norwegian, "nn": norwegian, "fi": finnish, "ru": russian,
	"ar": arabic, "hu": hungarian, "ro": romanian, "tr": turkish, "ta": tamil, "ga": irish, "hi": hindi,
	"gsw": german, "eng": english, "deu": german, "ger": german, "fra": french, "fre": french, "spa": spanish,
	"ita": italian, "por": portuguese, "nld": dutch, "rus": russian, "ara": arabic,
	"english": english, "german": german, "french": french, "spanish": spanish, "italian": italian,
	"portuguese": portuguese, "dutch": dutch, "swedish": swedish, "danish": danish, "norwegian": norwegian,
	"finnish": finnish, "russian": russian, "arabic": arabic, "hungarian": hungarian, "romanian": romanian,
	"turkish": turkish, "tamil": tamil, "irish": irish, "hindi": hindi,
}

// languageOf returns the language under which a document is stemmed: the one it
// declares (a BCP 47 tag, or its English name), which may be one that is not
// stemmed at all; without a declaration, the one its text looks like.
func languageOf(declared, name, text string) language {
	tag := strings.ToLower(strings.TrimSpace(declared))
	if cut := strings.IndexAny(tag, "-_"); cut > 0 {
		tag = tag[:cut]
	}
	if tag != "" && tag != "und" {
		return languageTags[tag]
	}
	return guessLanguage(name, text)
}

// guessSample is how much of a text the guess looks at, in bytes.
const guessSample = 512

// guessLanguage tells a language by its script and, for the Latin script, by
// the function words it uses. A Latin text that uses none, such as the name of
// a product, counts as English, the language in which most of the web is
// written. The guess is the same for the same text, and only decides which
// inflections a query finds.
func guessLanguage(name, text string) language {
	sample := text
	if len(sample) < 64 {
		sample = name + "\n" + text
	}
	if len(sample) > guessSample {
		end := guessSample
		for end > 0 && !utf8.RuneStart(sample[end]) {
			end--
		}
		sample = sample[:end]
	}
	if !isASCII(sample) {
		if l, latin := languageOfScript(sample); !latin {
			return l
		}
	}
	return languageOfWords(sample)
}

// languageOfScript returns the language of the script in which most letters of
// the sample are written, or that it is the Latin one.
func languageOfScript(sample string) (_ language, latin bool) {
	var nLatin, nCyrillic, nArabic, nTamil, nIndic, nOther int
	ours := true // no letter that the one stemmed language of its script lacks
	for _, r := range sample {
		switch {
		case r < utf8.RuneSelf:
			if isAlnum(byte(r)) && r > '9' {
				nLatin++
			}
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			nLatin++
		case unicode.Is(unicode.Cyrillic, r):
			nCyrillic++
			ours = ours && !strings.ContainsRune("іїєґўјљњђћџІЇЄҐЎЈЉЊЂЋЏәқғүұөңһ", r)
		case unicode.Is(unicode.Arabic, r):
			nArabic++
			ours = ours && !strings.ContainsRune("پچژگکیٹڈڑں", r)
		case unicode.Is(unicode.Tamil, r):
			nTamil++
		case unicode.Is(unicode.Devanagari, r):
			nIndic++
		default:
			nOther++
		}
	}
	// A letter of a script that writes whole words with one weighs as many.
	switch most := max(nCyrillic, nArabic, nTamil, nIndic, 2*nOther); {
	case nLatin >= most:
		return noLanguage, true
	case nTamil == most:
		return tamil, false
	case nIndic == most:
		return hindi, false
	case nCyrillic == most && ours:
		return russian, false
	case nArabic == most && ours:
		return arabic, false
	}
	return noLanguage, false
}

func languageOfWords(sample string) language {
	var found [languages]int
	start := -1
	for i := 0; i <= len(sample); i++ {
		if i < len(sample) && (sample[i] >= utf8.RuneSelf || isAlnum(sample[i])) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start <= longestFunctionWord {
			for set := functionWordLanguages(sample[start:i]); set != 0; set &= set - 1 {
				found[bits.TrailingZeros32(uint32(set))]++
			}
		}
		start = -1
	}
	best := english
	for l := english; l < languages; l++ {
		if found[l] > found[best] {
			best = l
		}
	}
	return best
}

// functionWordLanguages returns the languages of which w is a function word.
func functionWordLanguages(w string) languageSet {
	packed, ok := packWord(w)
	if !ok {
		packed, _ = packWord(strings.ToLower(w))
	}
	return functionWords[packed]
}

// packWord returns the bytes of a word of at most longestFunctionWord bytes,
// with ASCII letters in lower case; 0 for a longer one. It is not ok where other
// letters may be in upper case.
func packWord(w string) (packed uint64, ok bool) {
	if len(w) > longestFunctionWord {
		return 0, true
	}
	ok = true
	for i := 0; i < len(w); i++ {
		c := w[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		ok = ok && c < utf8.RuneSelf
		packed = packed<<8 | uint64(c)
	}
	return packed, ok
}

const longestFunctionWord = 6 // bytes

var functionWords = indexFunctionWords(frequentWords)

// frequentWords are the most frequent function words of each language, about
// as many of each, so that none is guessed for having the longest list. Words
// that name things in English are not among them: many a name of a product has
// no function word but what looks like one, "men" or "hat". Those that English
// uses as well are in its list too, which settles a tie.
var frequentWords = map[language]string{
	english:    "the of and to in is for with on that by this be are from as it at or an was which has can you not your its will a no do me",
	german:     "der die und das den von zu mit sich des auf ist im dem nicht ein eine als auch es an werden aus er dass sie nach wird bei einer um am sind für wie",
	french:     "le la les de des et du en un une est que qui dans au par sur pas ce avec il sont aux se ses ou cette à",
	spanish:    "el la los las de del y que en un una es por con para su se no como más al lo o sus este ha",
	italian:    "il lo la gli le di del della che e un una è per con non in si da dei nel sono al più ha o dal alla",
	portuguese: "o a os as de do da dos das e que em um uma para com não se no na por mais é ao como foi ou seu sua",
	dutch:      "de het een en van in is dat op te zijn met voor niet aan er om ook als bij door uit naar maar over hij wordt",
	swedish:    "och att det som en är av för på den med till inte om ett har de jag var kan från vid så eller",
	danish:     "og at det er en af til på den for med der ikke som et de har fra kan om vi være eller hvad",
	norwegian:  "og at det er en av til på den for med som ikke et de har fra kan om vi være eller hva jeg ble",
	finnish:    "ja on ei se että oli hän ovat joka mutta kun myös tai sen mukaan sekä voi ole niin kuin",
	hungarian:  "a az és hogy nem is egy van ez meg volt csak mint el de már vagy még ha azt",
	romanian:   "și de la în a cu pe nu este un o care din să mai că pentru sau ale lui",
	turkish:    "ve bir bu için ile da de çok olarak daha en gibi olan var ne kadar ya",
	irish:      "agus an na ar is le go sa ag atá do bhí a mar sé ina",
}

func indexFunctionWords(lists map[language]string) map[uint64]languageSet {
	index := make(map[uint64]languageSet)
	for l, list := range lists {
		for _, w := range strings.Fields(list) {
			if packed, _ := packWord(w); packed != 0 {
				index[packed] = index[packed].with(l)
			}
		}
	}
	return index
}
