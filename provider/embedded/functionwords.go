package embedded

import (
	"math/bits"
	"slices"
	"strings"
)

// languageSet is a set of languages, noLanguage included.
type languageSet uint32

const anyLanguage = languageSet(1<<languages - 1)

func (s languageSet) has(l language) bool { return s>>l&1 != 0 }

func (s languageSet) with(l language) languageSet { return s | 1<<l }

// faintWords returns, for each word of a query, the languages in the documents
// of which it says next to nothing; own is the language the query is in, and
// found says which words any searched document has. Those words are
//
//   - function words. What is one depends on the document: a German text has
//     "hat" and "die" as an English one has "has" and "the", so that nothing is
//     lost of a "wool hat" or "die hard" in English. A function word of the
//     query's own language is one wherever it occurs, as in the English title
//     of a Spanish text.
//   - the particles of Korean, which are grams of what they are written with.
//   - the parts of a code, such as 978 in 978-3-00-000001-1, once the whole
//     code is found.
//
// Where that leaves nothing of the query for a language ("to be or not to be",
// "the who"), its words count in full.
func faintWords(words []queryWord, own language, found func(word int) bool) []languageSet {
	list := make([]languageSet, len(words))
	all := anyLanguage
	for i, w := range words {
		if w.written != "" && !w.loud {
			list[i] = wordsWithoutContent[lower(w.written)]
		}
		if list[i].has(own) && own != noLanguage || w.partOf > 0 && found(w.partOf-1) ||
			w.written == "" && slices.Contains(koreanParticles, w.folded) {
			list[i] = anyLanguage
		}
		all &= list[i]
	}
	for i := range list {
		list[i] &^= all
	}
	return list
}

// languageOfQuery returns the language with the most function words in a query,
// if it has two of them: one may be chance. Otherwise it is the language in
// which most of the searched documents are; spoken is the languages of those,
// the most frequent first.
func languageOfQuery(words []queryWord, spoken []language) language {
	var n [languages]int
	for _, w := range words {
		if w.written == "" {
			continue
		}
		for set := wordsWithoutContent[lower(w.written)]; set != 0; set &= set - 1 {
			n[bits.TrailingZeros32(uint32(set))]++
		}
	}
	best := noLanguage
	if len(spoken) > 0 {
		best = spoken[0]
	}
	most := max(1, n[best])
	for _, l := range spoken {
		if n[l] > most {
			best, most = l, n[l]
		}
	}
	for l := english; l < languages; l++ {
		if n[l] > most {
			best, most = l, n[l]
		}
	}
	return best
}

// wordsWithoutContent holds the languages of which a word, in lower case, is a
// function word. Who leaves out accents means the same word; who writes them
// ("thé") means no other.
var wordsWithoutContent = indexWordsWithoutContent()

func indexWordsWithoutContent() map[string]languageSet {
	index := make(map[string]languageSet)
	add := func(l language, list string) {
		for _, w := range strings.Fields(list) {
			index[w] = index[w].with(l)
			folded := fold(w)
			index[folded] = index[folded].with(l)
		}
	}
	for l, list := range frequentWords {
		add(l, list)
	}
	for l, list := range furtherFunctionWords {
		add(l, list)
	}
	// A name as often as a verb.
	index["will"] &^= 1 << english
	return index
}

// koreanParticles are particles and endings of two syllables that are hardly
// ever part of another word.
var koreanParticles = strings.Fields("에서 까지 부터 으로 에게 한테 에는 에도 처럼 께서 습니 니다 입니 합니 세요")

// furtherFunctionWords are those beyond the most frequent of a language which
// people put questions with: articles, pronouns, prepositions, conjunctions,
// auxiliaries and question words, in their common forms, and what is left of
// contractions without their apostrophe. Words that name things as well, such
// as the English mine, may and might, are not among them, and neither are without
// and against, which say what is wanted.
var furtherFunctionWords = map[language]string{
	english: `i me my we us our ours he him his she her hers they them their theirs yours
		these those who whom whose what where when why how
		am were been being do does did doing done have had having could would should shall cannot
		but if so than then there here about into onto from between through during before after above below
		within towards upon until while because although though
		some any each every both either neither no nor all such same other another more most very too also just only even
		something anything nothing everything someone anyone everyone somebody anybody nobody everybody
		im ive id ill youre youve youll hes shes its were theyre theyve weve thats whats wheres hows whos theres lets
		dont doesnt didnt isnt arent wasnt werent cant couldnt wouldnt shouldnt hasnt havent hadnt
		please`,
	german: `ich du er wir ihr mich dich uns euch mir dir ihm ihn ihnen mein meine meinen meinem meiner dein deine sein seine seinen seinem seiner
		ihre ihren ihrem ihrer unser unsere unseren kein keine keinen keinem keiner einen einem eines
		dies diese dieser dieses diesen diesem jede jeder jedes jeden jedem welche welcher welches welchen welchem
		wer was wem wen wo wann warum wieso weshalb woher wohin womit wofür worin
		bin bist seid war waren gewesen habe hast hat haben hatte hatten werde wirst wurde wurden kann kannst können könnte soll sollte will wollen muss müssen darf dürfen mag
		aber oder denn doch sondern wenn weil ob während damit als also so sehr nur noch schon mehr mal hier dort da dann man gibt
		durch über unter vor zwischen neben hinter seit bis etwas nichts alles alle vom zum zur beim ins ans`,
	french: `je tu elle nous vous ils elles me te lui leur leurs moi toi mon ma mes ton ta tes notre nos votre vos sa
		ces cet quel quelle quels quelles quoi où quand comment pourquoi combien dont
		suis es êtes sommes était étaient être ai as a avons avez ont avait avoir fait faire peut peux
		mais plus pour si ni car donc y ne très aussi sous entre vers chez depuis pendant avant après
		tout tous toute toutes autre autres même quelque quelques chaque rien il l d j n s c qu`,
	spanish: `yo tú él ella nosotros vosotros ellos ellas usted ustedes me te le les nos os mi mis tu tus nuestro nuestra nuestros nuestras
		esta estos estas ese esa esos esas eso esto aquel aquella qué quién quien quiénes cuál cuáles cuando cuándo donde dónde cómo cuánto cuántos
		soy eres somos son está están estoy era eran fue ser estar hay he has han había puedo puede pueden hace tiene tengo
		pero si sí ni o u e porque pues también muy ya sobre entre hasta desde hacia durante antes después unos unas
		algo alguien alguno alguna algunos algunas nada todo todos toda todas otro otra otros otras`,
	italian: `io tu lui lei noi voi loro mi ti ci vi ne mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro vostra i uno
		questo questa questi queste quello quella quelli quelle chi cosa quale quali quando dove come perché quanto quanti
		sei siamo siete era erano essere stato ho abbiamo avete hanno aveva avere fa fare posso può possono
		ma se ed né anche molto già su sul sulla sulle sui tra fino verso prima dopo ai agli alle delle degli dello nella nelle nei negli allo
		qualcosa qualcuno niente tutto tutti tutta tutte altro altra altri altre ogni`,
	portuguese: `eu tu ele ela nós vós eles elas você vocês me te lhe nos meu minha meus minhas teu tua seus suas nosso nossa
		este esta estes estas esse essa esses essas isso isto aquele aquela quem qual quais quando onde porque porquê quanto quantos
		sou são está estão estou era eram ser estar há tem têm tinha ter pode podem posso faz
		mas si ou e também muito já sob sobre entre até desde durante antes depois uns umas à às pelo pela pelos pelas nas nos num numa
		algo alguém algum alguma alguns nada tudo todo todos toda todas outro outra outros outras`,
	dutch: `ik jij je u hij zij ze wij we jullie mij me jou ons hen hun haar mijn jouw onze uw
		deze die dit wie wat waar wanneer waarom hoe welk welke
		ben bent was waren geweest heb hebt heeft hebben had kan kun kunnen kon zal zullen zou moet moeten mag wil doen doet
		maar of want dus omdat als dan toen zo zeer heel nog al meer hier daar geen iets niets alles alle iemand niemand
		tussen onder voor na sinds tot tijdens over per ieder elke elk andere`,
	swedish: `jag du han hon vi ni mig dig honom henne oss er dem min mitt mina din ditt dina sin sitt sina vår vårt våra deras hans hennes
		denna detta dessa vem vad var när varför hur vilken vilket vilka
		var varit vara blir blev hade kunde ska skall skulle måste vill gör finns
		men och om för så än då nu här där mycket mer också bara inte ingen inget inga något någon några allt alla
		mellan under över efter före sedan till hos genom`,
	danish: `jeg du han hun vi mig dig ham hende os jer dem min mit mine din dit dine sin sit sine vores deres hans hendes
		denne dette disse hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke
		var været bliver blev havde kunne skal skulle må vil gør findes
		men så end da nu her der meget mere også kun ingen intet noget nogen nogle alt alle
		mellem under over efter før siden hos gennem et`,
	norwegian: `du han hun meg deg ham henne oss dere dem min mitt mine din ditt dine sin sitt sine vår vårt våre deres hans hennes
		denne dette disse hvem hvor når hvorfor hvordan hvilken hvilket hvilke
		var vært blir hadde kunne skal skulle må vil gjør finnes
		men så enn da nå her der mye mer også bare ingen intet noe noen alt alle
		mellom under over etter før siden hos gjennom et ei`,
	finnish: `minä sinä me te he minun sinun hänen meidän teidän heidän minua sinua häntä tämä tuo nämä nuo tässä siinä
		mikä mitä kuka ketä missä milloin miksi miten kuinka kumpi
		olen olet olemme olette oli olivat ollut olisi en et emme ette eivät voin voit voiko onko
		mutta vai tai koska jos kuin vain vielä jo myös kanssa ennen jälkeen jotain kaikki`,
	hungarian: `én te ő mi ti ők engem téged őt nekem neked neki ez az ezek azok ki mi hol mikor miért hogyan hány melyik
		vagyok vagy vagyunk vannak volt voltak lesz lehet kell nincs
		de ha mert csak már még is sem ne igen nagyon itt ott alatt között után előtt valami valaki minden`,
	romanian: `eu tu el ea noi voi ei ele mă te îl îi ne vă meu mea tău ta său sa acest această aceste acel acea
		cine ce care unde când cum cât câți
		sunt ești este suntem era erau fi am ai are avem au poate pot
		și dar ori dacă deci nici foarte mai sub între până spre după înainte ceva cineva nimic tot toate toți alt altă un o niște`,
	turkish: `ben sen biz siz onlar beni seni onu bana sana ona benim senin onun bu şu bunlar kim ne nerede nasıl neden niçin hangi kaç
		değil mi mı mu mü ama veya ya ile gibi kadar sonra önce çok daha en hiç her bazı var yok`,
	irish: `mé tú sé sí muid sibh siad seo sin cé cad cá conas cathain fáth tá níl bhí beidh an na i ag le ó faoi idir ach nó má`,
	russian: `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее её мне было вот от меня еще ещё нет о из ему
		теперь когда даже ну ли если уже или ни быть был была были него до вас нибудь вам ведь там потом себя ничего ей может они тут где есть
		надо ней для мы тебя их чем сам чтоб без чего тоже себе под будет ж тогда кто этот того потому этого какой какая какие ним здесь этом
		почти мой моя тем чтобы нее сейчас куда зачем всех можно при об над про через эти нас это эта который которая которые`,
	arabic: `في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا من متى أين كيف لماذا هل كم أي
		هو هي هم نحن أنا أنت أن إن لا لم لن ليس كان كانت يكون قد ثم أو و بل لكن كل بعض بين بعد قبل عند حتى إذا لو`,
	hindi: `का की के को में से पर ने और या है हैं था थी थे हो होता होती होते यह ये वह वे इस उस इन उन मैं हम तुम आप मेरा मेरी
		क्या कौन कब कहाँ कहां क्यों कैसे किस कितना कितने जो तो भी ही नहीं एक लिए साथ तक कर`,
	tamil: `ஒரு இந்த அந்த இது அது என்று என்ன எப்படி எங்கே எப்போது ஏன் யார் மற்றும் அல்லது ஆனால் உள்ள நான் நீ அவர் இல்லை`,
}
