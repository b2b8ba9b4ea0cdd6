package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The word lists of questions, by language. Words are as package terms returns them: in
// lower case, Latin letters without accents, English plurals in the singular.

// orderWords begin a sentence that asks for work although it is a question.
const orderWords = `
can-we could-we may-we shall-we should-we should-i can-i let-us let's please
konnen-wir bitte peux-tu pouvez-vous puedes podemos podrias puoi voce-pode
можешь можем можете давай пожалуйста μπορείς μπορούμε
`

// presentWords refer to what is in the context: to the work at hand, or to the model.
const presentWords = `
this thi these here you your
diese dieser dieses diesem hier du dein deine ihr
этот эта это эти этом здесь тут ты твой тебя
ce cet cette ici tu ton este esta esto aqui
αυτό αυτή αυτός εδώ
هذا هذه هنا
`

// An English question with a single subject is about earlier work if it has one of
// pastWords, or a verb of pastVerbs after its asking word. One with one of backWords is
// about something mentioned before.
const (
	pastWords = "we our ours now last earlier previously before ago remind remember recall"
	pastVerbs = "did was were had"
	backWords = "it they them"
)

// presentParts are the same for Chinese and Japanese.
const presentParts = "这 這 你 この これ ここ"

// auxiliaries follow the asking word of an English question, pronouns do not: "what we
// need is".
const (
	pronouns    = "i we you he she it they"
	auxiliaries = `
did do does doe is are was wa were has ha have had can could will would about
`
)

// openers precede the asking word.
const openers = `
and but so then also ok okay oh hmm ah wait well a ну а и так погоди подожди und also et y pero και
`

// memoryWords ask for something said earlier, in any form of sentence.
const memoryWords = `
remind remember recall erinnere rappelle recuerdame recuerda lembra ricordami напомни помнишь нагадай θύμισέ ذكرني
`

// askWords begin a question, or ask for something said earlier. Those of scripts without
// spaces are found anywhere in a sentence.
const askWords = englishAskWords + `
was wa warum wieso weshalb wann wo wer wen wem wie welche welcher welches welchen welchem wieviel erinnere
que quoi pourquoi quand quel quelle quels comment combien rappelle ou qui
por porque cual cuale cuando donde como cuanto cuanta cuantos quien recuerdame recuerda qual quando onde quanto quem lembra
perche quale come dove quanto chi ricordami
что чего чему чём почему зачем когда где куда какой какая какое какие какую каком каким как кто кого сколько напомни помнишь чем
що чому коли де який яка яке як хто скільки нагадай
τι γιατί πότε πού ποιος ποια ποιο ποιον ποιοι ποιες πώς πόσο πόσα πόσες θύμισέ
ماذا لماذا متى أين كيف كم من هل أي ما
`

const englishAskWords = `
what why when where which who whose whom how
`

// askParts are the same for Chinese, Japanese and Korean.
const askParts = `
什么 为什么 为何 怎么 怎样 如何 多少 哪 几 谁 何时 吗 呢 什麼 為什麼 怎麼
何 なぜ どう どの どこ いつ いくつ いくら だれ 誰 どれ でしたっけ
무엇 뭐 왜 어떤 어떻게 언제 어디 얼마 누구 몇 했지 였지
`

// frameWords are neither the subject of a question nor part of its answer: pronouns,
// auxiliaries, and the verbs of deciding and remembering.
const frameWords = `
forget forgot forgotten miss missed complain complaining hang hung stuck wait waiting finish finished find found remain remaining left understand
understood help guess believe seem seemed hope care mind matter begin began ready sure clear possible likely maybe perhap probably better best
worse worst easy easier hard simple nice great weird strange odd correct proper properly quick quickly nobody somebody everyone people else ship shipped twice
don didn doesn couldn wouldn shouldn isn wasn aren anything something everything nothing anyone someone
again ago another between difference ah hmm huh oh hey actually already anyway away back because been before being came come currently
current day end ended ever exactly finally first give gave given go going gone got
happen happened happening here keep kept know last late later let like look looked made make many mean meant much need needed never new
now off ok okay once one only other over own put really right said same say see set should still stop take taken talk tell thank thing
think though thought time today told took turn turned try tried until use used using want wanted way well went within without work worked
yesterday yet long often far big large small deal handle did back replace replaced wrong problem last latest current currently
remind remember recall what's whats name called cause reason look ever done come kind sort type any some again
es ich du wir ihr sie er der die da das den dem des ein eine einen einem einer und oder nicht mit von zu zum zur im in am auf aus bei fur
als wenn dass ob bei nach vor uber so mehr sehr ist sind
war waren wird werden wurde wurden haben hat hatte hatten gilt noch auch nur mal vergessen fertig ubrig geklappt uns unser unsere bekommen machen gemacht
le la les l un une des du de d et est sont on nous vous ils elle pas pour dans sur avec avait avons fait notre
el lo las los una uno y en con para se es son fue era hicimos hacemos hemos nuestro nuestra del al sigue
o os as um uma do da em com foi fizemos il gli di che abbiamo per
мы мне нам нас наш наша наше у в на с со к по про для из от до за и а но не ли же бы то там тут так такой такая такие это эта этот эти был была было были есть
будет
погоди подожди ну забыли осталось готово получилось покажи показал объясни расскажи скажи происходит работает случилось именно теперь сейчас снова ещё раз дальше делать
делаем сделали было идёт наши наших
ми нам наш це був було
ο η το οι τα τις του της των τον την μας εμείς και με σε στο στη στην στον από για δεν να θα είναι έχει έχουμε κάνουμε κάναμε όταν
في على إلى عن مع نحن كان كانت هذا هذه التي الذي و نستخدم هي هو
`

// decideWords ask for a decision, decideParts in Chinese, Japanese and Korean.
const (
	decideWords = `
decide decided decision settle settled choose chose chosen pick picked agree agreed conclude concluded
entschieden entscheiden beschlossen gewahlt decide choisi decidimo decidimos elegimo elegimos acordamos deciso scelto
решили решали решить решение выбрали выбрать итоге вирішили обрали αποφασίσαμε διαλέξαμε قررنا اخترنا
`
	decideParts = "决定 決定 決め 定め 选了 정했 정하 결정"
)

// decidedForms are words of passages that state a decision.
const decidedForms = "decision settled agreed chose chosen fix решили решено итоге entschieden beschlossen decidimos αποφασίσαμε 决定 決定 결정 قررنا"

// workWords are ordinary words and those of everyday work on code. They are in every
// session, so none is the subject of a question, even in a project that is too young to
// show it.
const workWords = `
two three four five simpler solution six seven eight nine ten second third half number date hour minute week month year moment while list item part place
side size word case example value result answer point team idea fact output input data info message option task reviewer person machine
break broke broken breaks touch touched worth close closed move moved leave bring brought lose lost follow expect stay happen require report
create created allow include includes continue consider appear reach raise print printed undo diff window linux mac
old little whole full empty short high low early important free real able certain different recent total extra exact soon always almost
quite rather together instead
ci green red slow warning add added branch bug build built change changed check checked class code comment commit committed compile doc docs documentation edit
error fail failed
failing failure feature file fine fix fixed function implement implementation issue line lint linter main merge merged method next open
plan pr project
pull push pushed question readme rebase refactor remove removed repo review reviewed run running script sense session start started status
step
suggest test tested testing todo update updated version explain show read bad good more few thing done pass passed git github
datei fehler code fehl repariere reparieren nachste schlagt kommt anderung
тест тесты тестов билд сборка код ошибка ошибки ошибку файл ветка коммит задача падают падает документацию поправить
τεστ κώδικα σφάλμα αλλαγή τώρα
prueba pruebas error cambio codigo archivo
الاختبارات الكود الخطأ الآن نفعل
`

// workParts are the same for Chinese, Japanese and Korean; frameParts are cut out of a
// sentence before it is split into pairs of characters.
const (
	workParts  = "测试 代码 修复 提交 接下 下来 测試 次は テス スト 테스 스트 다음 코드 커밋"
	frameParts = "我们 我們 咱们 什么 什麼 为什么 為什麼 为何 怎么样 怎么 怎麼 怎样 如何 多少 应该 决定 決定 之前 现在 今天 哪家 哪个 哪些 哪 的 了 吗 呢 是 在 做 几 谁 用 选 设 何 " +
		"우리 무엇 뭐 왜 어떤 어떻게 언제 어디 얼마로 얼마 누구 몇 했지 정했지 하기로 하나요 인가요 쓰지"
)

// refusals begin a correction: "no, ...".
const refusals = "no nope nein нет ні non όχι não لا"

// concludeParts mark a passage that states a decision, a reason or a result; correctParts
// one that replaces an earlier value.
const (
	concludeParts = "decided|decision|settled|agreed|went with|let us use|let's use|instead|the fix|because|so that|in the end|" +
		"решили|в итоге|потому что|entschieden|weil|décidé|parce que|decidimos|porque|αποφασίσαμε|επειδή|决定|因为|決め|ので|정했|때문|قررنا|لأن"
	correctParts = "instead of|actually use|not any more|no longer|changed my mind|on second thought|вместо|больше не|stattdessen|doch lieber|" +
		"en vez de|plutôt que|αντί|改成|改为|代わりに|대신|بدلا من"
)

// listed reports whether a list contains a word.
func listed(list, word string) bool {
	for at := 0; word != ""; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			break
		}
		i += at
		at = i + len(word)
		if (i == 0 || list[i-1] <= ' ') && (at == len(list) || list[at] <= ' ') {
			return true
		}
	}
	return false
}

// containsPart reports whether text contains one of the parts, which sep separates.
func containsPart(text, parts, sep string) bool {
	for part := range strings.SplitSeq(parts, sep) {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// has reports whether a rune of s is in one of the scripts.
func has(s string, scripts ...*unicode.RangeTable) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.In(r, scripts...) }) >= 0
}
