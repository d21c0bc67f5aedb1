package embedded

import (
	"strings"
	"testing"

	"github.com/siteprovider/siteprovider/provider"
)

// tenLanguages is the documents of one site, by their keys, which begin with the
// language, and queries in other forms than the documents have, by the key of
// what they ask for. Other documents of the language are near to it.
var tenLanguages = []struct {
	language  string
	documents map[string]string
	queries   map[string][]string // by the key of the document
}{
	{"en", map[string]string{
		"knives":    "Sharpening kitchen knives\nHow to hone carbon steel blades on a whetstone without scratching them.",
		"shoes":     "Trail running shoes\nLightweight runners with deep lugs for muddy hills, tested by women who race.",
		"batteries": "Rechargeable batteries compared\nWhich cells keep their charge in a torch that lies in a drawer for months.",
		"cafe":      "The Café Müller on the quay\nA naïve painter decorated its walls; they serve crème brûlée until midnight.",
		"cities":    "Walking in old cities\nNarrow streets, a market hall, and a bridge that children cross on their way to school.",
		"leaf":      "Pressing a leaf\nLay it between two sheets of paper and wait a week.",
	}, map[string][]string{
		"knives":    {"sharpen a knife", "honed blade"},
		"shoes":     {"shoe for a runner", "woman racing"},
		"batteries": {"battery charges", "recharge battery"},
		"cafe":      {"cafe muller", "naive painters", "creme brulee"},
		"cities":    {"city walk", "child crossing bridges"},
		"leaf":      {"press leaves"},
	}},
	{"de", map[string]string{
		"kartoffeln": "Bratkartoffeln aus gekochten Kartoffeln\nSo werden die Scheiben außen knusprig und bleiben innen weich.",
		"haeuser":    "Alte Häuser in der Straße am Markt\nFachwerk, schmale Türen und ein Gärtner, der die Höfe pflegt.",
		"buecher":    "Gebrauchte Bücher für Kinder\nMärchen, Sachbücher und Hefte, die ein Verein sammelt und verschenkt.",
		"baeume":     "Einen Apfelbaum schneiden\nIm Winter werden die Äste gekürzt, damit im Herbst viele Äpfel reifen.",
		"bruecke":    "Die Brücke über den Fluss wird gesperrt\nRadfahrer fahren bis Mai über den Umweg am Wehr.",
		"nudel":      "Nudelteig ohne Ei\nMehl, Wasser und Öl; der Teig ruht eine Stunde im Kühlschrank.",
	}, map[string][]string{
		"kartoffeln": {"gekochte Kartoffel", "knusprige Scheibe"},
		"haeuser":    {"altes Haus", "schmale Tuer", "hauser am markt", "Strassen"},
		"buecher":    {"gebrauchtes Buch", "Buecher für ein Kind", "Marchen"},
		"baeume":     {"Apfelbäume", "mit Äpfeln", "Ast kürzen"},
		"bruecke":    {"Bruecken", "brucke gesperrt", "gesperrte Brücken"},
		"nudel":      {"Kuehlschrank", "kuhlschrank"},
	}},
	{"fr", map[string]string{
		"chevaux":  "Soigner les chevaux en hiver\nDu foin sec, une écurie aérée et des sabots nettoyés chaque jour.",
		"recette":  "Crème brûlée à la vanille\nLes œufs sont battus avec le sucre, puis la crème chaude est versée lentement.",
		"fenetre":  "Isoler une fenêtre ancienne\nDes joints neufs et un double vitrage gardent la chaleur de la maison.",
		"livre":    "Un livre d'histoire française\nL'auteur raconte la vie d'une paysanne et de ses enfants.",
		"bateaux":  "Louer un bateau sur le canal\nAucun permis n'est demandé, mais il faut passer les écluses soi-même.",
		"chateaux": "Visite du château\nLe parc, les jardins et les cuisines royales sont ouverts toute l'année.",
	}, map[string][]string{
		"chevaux":  {"cheval", "ecurie", "sabot nettoyé"},
		"recette":  {"creme brulee", "oeuf battu", "crèmes brûlées"},
		"fenetre":  {"fenetres anciennes", "maisons isolées"},
		"livre":    {"livres français", "paysannes", "auteurs"},
		"bateaux":  {"bateaux", "ecluse", "location de bateaux sur canaux"},
		"chateaux": {"chateaux", "jardin royal", "visites"},
	}},
	{"es", map[string]string{
		"canciones": "Las canciones de la abuela\nUn cuaderno con letras antiguas que los niños cantaban en la plaza.",
		"lapices":   "Lápices de colores para la escuela\nMinas blandas, madera de cedro y una caja con veinticuatro tonos.",
		"luz":       "Una luz para leer de noche\nLa lámpara gira y no molesta a quien duerme al lado.",
		"cocina":    "Tortilla de patatas con cebolla\nSe fríen despacio y se mezclan con los huevos batidos.",
		"jardin":    "El jardín en otoño\nPodar los rosales, recoger las hojas y plantar árboles jóvenes.",
		"corazon":   "Caminar y cuidar el corazón\nMedia hora diaria mejora la circulación, según médicos españoles.",
	}, map[string][]string{
		"canciones": {"cancion", "canción antigua", "niña cantando"},
		"lapices":   {"lapiz", "lápiz de color"},
		"luz":       {"luces", "lampara", "lámparas"},
		"cocina":    {"patata con cebollas", "huevo batido"},
		"jardin":    {"jardines", "arbol joven", "hoja"},
		"corazon":   {"corazones", "medico español", "corazon"},
	}},
	{"ru", map[string]string{
		"knigi":   "Старые книги для детей\nСказки с картинками, которые собирает городская библиотека.",
		"gorod":   "Прогулка по городу\nУзкие улицы, рыночная площадь и каменный мост через реку.",
		"pirogi":  "Пирог с яблоками\nТесто замешивают на сметане, а яблоки посыпают корицей и сахаром.",
		"mashina": "Ремонт стиральных машин\nМастер приезжает в день звонка и привозит запасные детали.",
		"elka":    "Ёлка во дворе\nЖители украсили её игрушками, а дети водили хоровод.",
		"loshadi": "Лошади зимой\nКак кормить и чистить коня, когда на дворе мороз.",
	}, map[string][]string{
		"knigi":   {"старая книга", "сказка с картинкой", "библиотеки"},
		"gorod":   {"прогулки по городам", "узкая улица", "мосты"},
		"pirogi":  {"пироги с яблоком", "яблочный пирог с корицей"},
		"mashina": {"стиральная машина", "ремонтом машины"},
		"elka":    {"елка", "елки с игрушкой"},
		"loshadi": {"лошадь", "лошадей кормят"},
	}},
	{"ar", map[string]string{
		"maktaba": "المكتبة العامة في المدينة\nتفتح أبوابها كل يوم وتضم آلاف الكتب والمجلات.",
		"sayyara": "إصلاح السيارات القديمة\nورشة صغيرة تصلح المحركات وتبيع قطع الغيار للسيارات.",
		"qahwa":   "طريقة إعداد القهوة العربية\nتُحَمَّص الحبوب ثم تطحن وتغلى مع الهيل.",
		"wasfa":   "وصفات سهلة للأطفال\nأطباق من الأرز والدجاج لا تحتاج إلى وقت طويل.",
		"muallim": "دورة للمعلمين الجدد\nتدريب على شرح الدروس وإدارة الصف.",
		"lugha":   "تعلم اللغة الإسبانية\nدروس مجانية للمبتدئين مع تمارين يومية.",
	}, map[string][]string{
		"maktaba": {"مكتبة", "مكتبات عامة", "والمكتبات", "بالمكتبة", "للمكتبات", "مجلة"},
		"sayyara": {"سيارة", "والسيارة قديمة", "سيارات", "محرك"},
		"qahwa":   {"قهوة", "بالقهوة", "والقهوة", "تحمص", "قهوتنا"},
		"wasfa":   {"وصفة", "الوصفة", "طبق بالأرز والدجاجة"},
		"muallim": {"معلم", "معلمون", "المعلمين"},
		"lugha":   {"لغة", "للغة", "باللغة", "درس مجاني"},
	}},
	{"hi", map[string]string{
		"kitab":   "बच्चों की किताबें\nचित्रों वाली कहानियाँ जिन्हें पुस्तकालय में पढ़ा जा सकता है।",
		"juta":    "दौड़ने के जूते\nहल्के और मज़बूत, कीचड़ वाले रास्तों के लिए।",
		"sabzi":   "मसालेदार सब्ज़ी बनाने की विधि\nआलू, गोभी और हरी मिर्च को धीमी आँच पर पकाएँ।",
		"chidiya": "बगीचे की चिड़िया\nसुबह वह आम के पेड़ पर गाती है।",
		"bhasha":  "हिन्दी भाषा सीखें\nरोज़ के अभ्यास और छोटे पाठ शुरू करने वालों के लिए।",
		"kamra":   "किराये के कमरे\nस्टेशन के पास साफ़ कमरों में खिड़कियाँ और पंखा है।",
	}, map[string][]string{
		"kitab":   {"बच्चा किताब", "कहानी", "किताबों", "चित्र"},
		"juta":    {"जूता", "जूतों", "मजबूत रास्ता"},
		"sabzi":   {"सब्जियाँ", "मसालेदार सब्जी", "आलुओं"},
		"chidiya": {"चिड़ियाँ", "चिड़ियों", "बगीचा", "पेड़ों"},
		"bhasha":  {"हिंदी", "भाषाएँ", "अभ्यासों"},
		"kamra":   {"कमरा", "कमरों", "खिड़की", "पंखे"},
	}},
	{"zh", map[string]string{
		"daxue":    "北京大学图书馆开放时间\n读者可以在周末借阅中文和外文图书。",
		"cha":      "如何泡一壶好茶\n水温八十度,绿茶只需两分钟。",
		"dianchi":  "充电电池的选择\n长时间不用的手电筒应该取出电池。",
		"zixing":   "城市自行车租赁\n用手机扫码,骑行三十分钟免费。",
		"miantiao": "手工面条的做法\n面粉加水揉成面团,醒半小时再切。",
		"yinhang":  "银行营业网点查询\n周一至周五九点开门,ＡＴＭ二十四小时服务。",
	}, map[string][]string{
		"daxue":    {"图书馆", "大学", "外文图书"},
		"cha":      {"茶", "绿茶"},
		"dianchi":  {"电池", "手电筒"},
		"zixing":   {"自行车", "骑行"},
		"miantiao": {"面条", "面团"},
		"yinhang":  {"银行", "ATM"},
	}},
	{"ja", map[string]string{
		"ramen":    "東京駅近くのラーメン店\n味噌と醤油のスープが選べて、麺は自家製です。",
		"bus":      "空港行きのバス時刻表\n始発は五時半、予約は不要です。",
		"kaban":    "通学用のかばん\n軽くて丈夫、雨の日も教科書がぬれません。",
		"niwa":     "庭の手入れ\n秋に落ち葉を集めて、春に花の種をまきます。",
		"camera":   "中古カメラの修理\nレンズの清掃とシャッターの調整を行います。型番はＡＢ１２です。",
		"toshokan": "市立図書館のお知らせ\n月曜日は休館、本の返却は入口の箱へ。",
	}, map[string][]string{
		"ramen":    {"ラーメン", "ﾗｰﾒﾝ", "醤油", "東京"},
		"bus":      {"バス", "ﾊﾞｽ", "時刻表"},
		"kaban":    {"かばん", "教科書"},
		"niwa":     {"落ち葉", "花"},
		"camera":   {"カメラ", "ｶﾒﾗ", "ｼｬｯﾀｰ", "AB12"},
		"toshokan": {"図書館", "返却"},
	}},
	{"ko", map[string]string{
		"ramyeon":   "매운 라면을 끓이는 방법\n물이 끓으면 면과 스프를 넣고 사 분 동안 기다립니다.",
		"doseogwan": "시립도서관에서 책을 빌리세요\n회원은 한 번에 다섯 권까지 빌릴 수 있습니다.",
		"jajeongeo": "자전거도로가 새로 열렸습니다\n강변을 따라 공원까지 이어집니다.",
		"keopi":     "좋은 커피를 고르는 법\n볶은 날짜와 산지를 확인하세요.",
		"sagwa":     "사과나무를 심는 계절\n가을에 심으면 뿌리가 잘 내립니다.",
		"camera":    "중고 카메라의 수리\n렌즈를 청소하고 모델 ＡＢ１２의 배터리를 교체합니다.",
	}, map[string][]string{
		"ramyeon":   {"라면", "라면이", "매운 라면은"},
		"doseogwan": {"도서관", "도서관은", "책"},
		"jajeongeo": {"자전거", "공원에서"},
		"keopi":     {"커피", "커피가"},
		"sagwa":     {"사과", "나무는", "뿌리"},
		"camera":    {"카메라", "배터리는", "ab12"},
	}},
}

func TestTenLanguagesOnOneSiteFindOtherForms(t *testing.T) {
	s := open(t, Options{})
	var docs []provider.Document
	for _, l := range tenLanguages {
		for key, text := range l.documents {
			name, body, _ := strings.Cut(text, "\n")
			d := doc("a.example", "https://a.example/"+l.language+"/"+key, name, name+"\n\n"+body)
			d.Language = l.language
			docs = append(docs, d)
		}
	}
	put(t, s, docs...)
	for _, l := range tenLanguages {
		for key, queries := range l.queries {
			for _, query := range queries {
				first := ""
				for _, found := range strings.Fields(foundKeys(t, s, query)) {
					if language, key, _ := strings.Cut(found, "/"); first == "" && language == l.language {
						first = key
					}
				}
				if first != key {
					t.Errorf("%s: %q finds %q first of its language, want %q", l.language, query, first, key)
				}
			}
		}
	}
}
