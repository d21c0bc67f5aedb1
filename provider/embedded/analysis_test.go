package embedded

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func foldedTokens(text string) []string {
	var list []string
	eachToken(text, func(tok token) {
		t := tok.text
		if tok.kind != gram && tok.kind != letter {
			t = fold(t)
		}
		if t == "" {
			return
		}
		if tok.kind == letter {
			t = "(" + t + ")"
		}
		list = append(list, t)
	})
	return list
}

func TestTokensAreWhatAReaderSearchesFor(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t\n \u00a0", ""},
		{"\"*?(){}[]^~!&|<>=,;:/\\'`@$%", ""},
		{"\x00", ""},
		{"🍜 🇩🇪 👩‍🚀", ""},
		{"Noodle Soup, please!", "noodle soup please"},
		{"C++", "c c++"},
		{"C# and F#", "c c# and f f#"},
		{"issue #12, issue#12", "issue 12 issue 12"},
		{"c++17 g++", "c c++ 17 g g++"},
		{"e-mail", "e mail email"},
		{"T-0483", "t 0483 t0483"},
		{"O'Reilly O’Reilly", "reilly oreilly reilly oreilly"},
		{"node.js", "node js nodejs"},
		{"don't", "don dont"},
		{"l'homme", "homme lhomme"},
		{"U.S.A.", "usa"},
		{"1,000 km", "000 1000 km"},
		{"3.5", "35"},
		{"foo_bar", "foo bar foobar"},
		{"a _delicious_ soup, __init__ and _foo: __ _", "a delicious soup init and foo"},
		{"_日本_", "(日) (本) 日本"},
		{"state-of-the-art", "state of the art stateoftheart"},
		{"a-b-c-d-e", "a b c d e"},
		{"Crème brûlée", "creme brulee"},
		{"STRASSE Straße", "strasse strasse"},
		{"ﬁnd ＡＢＣ１２ Ⅷ", "find abc12 viii"},
		{"İstanbul ISPARTA ılık", "istanbul isparta ilik"},
		{"Ὀδυσσεύς", "οδυσσευσ"},
		{"ёлка Йод", "елка йод"},
		{"مُحَمَّد أحمد ـــ كتـاب", "محمد احمد كتاب"},
		{"٠١٢٣ १२", "0123 12"},
		{"हिन्दी क़लम हिंदी माँ", "हिंदी कलम हिंदी मां"},
		{"KTX를 ＡＢ１２의 라면2개 a한b", "ktx 를 ab12 의 (라) (면) 라면 2 개 a 한 b"},
		{"北京大学", "(北) (京) 北京 (大) 京大 (学) 大学"},
		{"茶", "茶"},
		{"ラーメン ﾗｰﾒﾝ", "ラー ーメ メン ラー ーメ メン"},
		{"ﾊﾞｽ", "バス"},
		{"라면을", "(라) (면) 라면 (을) 면을"},
		{"iPhone手机", "iphone (手) (机) 手机"},
		{"กินข้าว", "กิน นข้ ข้า าว"},
		{"co\u00adop zero\u200bwidth", "coop zero width"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := strings.Join(foldedTokens(c.text), " ")
			if got != c.want {
				t.Errorf("tokens of %q\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

func termsOf(name, text, declared string) []string {
	a := newAnalyser(newLexicon())
	var list []string
	for _, c := range a.document(name, text, declared).counts {
		list = append(list, a.lexicon.terms()[c.id])
	}
	return list
}

// finds reports whether a document with this text is found by the query, when
// documents are in the languages given.
func finds(text, declared, query string, langs ...language) bool {
	has := make(map[string]bool)
	for _, term := range termsOf("", text, declared) {
		has[term] = true
	}
	words := queryWords(query)
	for _, w := range words {
		found := false
		for _, f := range newStemmer().forms(w, languageOfQuery(words, langs), langs) {
			found = found || has[f.term]
		}
		if !found {
			return false
		}
	}
	return len(words) > 0
}

func TestAQueryInAnotherInflectionFindsTheDocument(t *testing.T) {
	for _, c := range []struct {
		declared, text, query string
		lang                  language
	}{
		{"en", "Running shoes for runners", "run shoe", english},
		{"en-GB", "a noodle", "noodles", english},
		{"", "Wireless headphones", "headphone", english},
		{"de", "Die Häuser am See", "haus", german},
		{"de", "ein Haus", "Häuser", german},
		{"de", "ein Haus", "hauser", german},
		{"fr", "les chevaux mangeaient", "cheval mange", french},
		{"fr", "Crème brûlée", "creme brulees", french},
		{"es", "las canciones de la información", "canción informaciones", spanish},
		{"es", "una información", "informacion", spanish},
		{"ru", "красивые книги", "красивая книга", russian},
		{"ar", "المكتبات والكتب", "مكتبة", arabic},
		{"hi", "लड़कों की किताबें", "लड़का किताब", hindi},
		{"ja", "東京ラーメンの店", "ラーメン", noLanguage},
		{"ja", "東京ラーメンの店", "ﾗｰﾒﾝ", noLanguage},
		{"zh", "我爱北京天安门", "北京", noLanguage},
		{"zh", "喝茶的人", "茶", noLanguage},
		{"ko", "맛있는 라면을 먹었다", "라면", noLanguage},
		{"ko", "집에 갔다", "집", noLanguage},
		{"en", "send e-mails", "email", english},
		{"", "part T-0483 of C++ for Node.js by O'Reilly", "T0483 C++ nodejs oreilly", english},
	} {
		t.Run(c.declared+" "+c.query, func(t *testing.T) {
			if !finds(c.text, c.declared, c.query, c.lang) {
				t.Errorf("a document %q in %q has the terms %q\nand is not found by %q: %+v",
					c.text, c.declared, termsOf("", c.text, c.declared), c.query, queryWords(c.query))
			}
		})
	}
}

func TestAWordIsNotFoundByAnother(t *testing.T) {
	for _, c := range []struct {
		declared, text, query string
		lang                  language
	}{
		{"en", "a C compiler", "C++", english},
		{"zh", "北京", "京北", noLanguage},
		{"hi", "कम", "काम", hindi},
		{"th", "กา", "กี", noLanguage},
		{"ru", "мой", "мои́х", noLanguage},
		{"de", "running", "run", german},
	} {
		if finds(c.text, c.declared, c.query, c.lang) {
			t.Errorf("a document %q in %q is found by %q", c.text, c.declared, c.query)
		}
	}
}

func TestLanguageIsTheOneDeclaredOrTheOneUsed(t *testing.T) {
	for _, c := range []struct {
		declared, name, text string
		want                 language
	}{
		{"en-US", "", "Der Hund und die Katze", english},
		{"DE", "", "", german},
		{"pt_BR", "", "", portuguese},
		{"German", "", "", german},
		{"ja", "", "the cat", noLanguage},
		{"und", "", "the cat and the dog", english},
		{"", "", "Der Hund und die Katze sind im Haus", german},
		{"", "", "Le chien et le chat sont dans la maison avec un oiseau", french},
		{"", "", "El perro y el gato están en la casa con los niños", spanish},
		{"", "", "Hunden och katten är i huset som det var", swedish},
		{"", "", "Собака и кошка в доме", russian},
		{"", "", "Собака і кішка в домі", noLanguage},
		{"", "", "الكلب والقط في البيت", arabic},
		{"", "", "سگ و گربه در خانه پیش", noLanguage},
		{"", "", "कुत्ता और बिल्ली", hindi},
		{"", "", "東京のおいしいラーメン shop", noLanguage},
		{"", "Acme Widget 3000", "", english},
		{"", "", "", english},
	} {
		if got := languageOf(c.declared, c.name, c.text); got != c.want {
			t.Errorf("languageOf(%q, %q, %q) = %d, want %d", c.declared, c.name, c.text, got, c.want)
		}
	}
}

func TestLengthCountsEachWordOnce(t *testing.T) {
	got := newAnalyser(newLexicon()).document("C++ e-mail", "北京大学 node.js running", "en")
	// C, e, mail; three pairs, node, js, running
	if got.nameLength != 3 || got.textLength != 6 {
		t.Errorf("lengths %d and %d, want 3 and 6", got.nameLength, got.textLength)
	}
}

func TestWordsOfAQueryAreBoundedAndDifferent(t *testing.T) {
	if got := queryWords("tea Tea TEA thé the"); len(got) != 2 {
		t.Errorf("words %+v, want tea and the", got)
	}
	var long strings.Builder
	for i := range 4000 {
		long.WriteString(strings.Repeat("x", 1+i%50))
		long.WriteByte(byte('a' + i%26))
		long.WriteByte(' ')
	}
	if got := queryWords(long.String()); len(got) != maxQueryWords {
		t.Errorf("%d words, want %d", len(got), maxQueryWords)
	}
}

func FuzzAnalysis(f *testing.F) {
	for _, s := range []string{"Noodle soup", "C++ C# e-mail O'Reilly node.js", "北京大学 ラーメン 라면을 กินข้าว", "\x00\xff\xfe", "İıßﬁﾊﾞ", "مُحَمَّد हिन्दी", "👩‍🚀\u0301\u0301", "----a-b-c++##"} {
		for _, tag := range []string{"", "en", "hi", "tr"} {
			f.Add(s, tag)
		}
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		terms := termsOf(text, text, tag)
		for _, term := range terms {
			if term == "" || len(term) > maxTermBytes+1 {
				t.Fatalf("term %q of %q", term, text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(term) {
				t.Fatalf("term %q of %q is not UTF-8", term, text)
			}
		}
		eachToken(text, func(tok token) {
			if tok.start < 0 || tok.end > len(text) || tok.start >= tok.end {
				t.Fatalf("token %+v of %q", tok, text)
			}
		})
		// A text is found by itself, whatever is in it.
		for _, w := range queryWords(text) {
			if !slices.Contains(terms, w.folded) {
				t.Fatalf("word %q of %q is not in its document", w.folded, text)
			}
			_ = newStemmer().forms(w, english, []language{english, german, russian, turkish, hindi})
		}
	})
}
