package recall

import (
	_ "embed" // the long lists
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word lists of questions, one language after the other. Words are as package terms
// returns them: in lower case, Latin letters without accents, English plurals in the
// singular. White space separates them.

// askWords begin a question, or ask for something said earlier.
//
//go:embed words/ask.txt
var askWords string

// frameWords are neither the subject of a question nor part of its answer: pronouns,
// auxiliaries, and the verbs of deciding and remembering.
//
//go:embed words/frame.txt
var frameWords string

// workWords are ordinary words and those of everyday work on code. They are in every
// session, so none is the subject of a question, even in a project that is too young to
// show it.
//
//go:embed words/work.txt
var workWords string

// decideWords ask for a decision.
//
//go:embed words/decide.txt
var decideWords string

// orderWords begin a sentence that asks for work although it is a question. A pair of
// words has a hyphen.
//
//go:embed words/order.txt
var orderWords string

// presentWords refer to what is in the context: to the work at hand, or to the model.
//
//go:embed words/present.txt
var presentWords string

const (
	// openers precede the asking word.
	openers = "and but so then also ok okay oh hmm ah wait well a ну а и так погоди подожди und also et y pero και"
	// memoryWords ask for something said earlier, in any form of sentence.
	memoryWords = "remind remember recall erinnere rappelle recuerdame recuerda lembra ricordami напомни помнишь нагадай θύμισέ ذكرني"
	// decidedForms are words of passages that state a decision.
	decidedForms = "decision settled agreed chose chosen fix решили решено итоге entschieden beschlossen decidimos αποφασίσαμε 决定 決定 결정 قررنا"
	// refusals begin a correction: "no, ...".
	refusals = "no nope nein нет ні non όχι não لا"
)

// Words of English questions. An asking word is followed by an auxiliary, not by a
// pronoun: "what we need is". A question with a single subject is about earlier work if
// it has a past word, or a past verb after its asking word. A back word refers to
// something mentioned before.
const (
	englishAskWords = "what why when where which who whose whom how"
	auxiliaries     = "did do does doe is are was wa were has ha have had can could will would about"
	pronouns        = "i we you he she it they"
	pastWords       = "we our ours now last earlier previously before ago remind remember recall"
	pastVerbs       = "did was were had"
	backWords       = "it they them"
)

// Parts of Chinese, Japanese and Korean sentences, which have no spaces between words.
// Blanks separate the parts. Those of frameParts are cut out of a sentence before it is
// split into pairs of characters.
const (
	askParts = "什么 为什么 为何 怎么 怎样 如何 多少 哪 几 谁 何时 吗 呢 什麼 為什麼 怎麼 なぜ どう どの どこ いつ いくつ いくら だれ 誰 どれ でしたっけ " +
		"무엇 뭐 왜 어떤 어떻게 언제 어디 얼마 누구 몇 했지 였지"
	decideParts  = "决定 決定 決め 定め 选了 정했 정하 결정"
	presentParts = "这 這 你 この これ ここ"
	workParts    = "测试 代码 修复 提交 接下 下来 测試 次は テス スト 테스 스트 다음 코드 커밋"
	frameParts   = "我们 我們 咱们 什么 什麼 为什么 為什麼 为何 怎么样 怎么 怎麼 怎样 如何 多少 应该 决定 決定 之前 现在 今天 哪家 哪个 哪些 哪 的 了 吗 呢 是 在 做 几 谁 用 选 设 何 " +
		"우리 무엇 뭐 왜 어떤 어떻게 언제 어디 얼마로 얼마 누구 몇 했지 정했지 하기로 하나요 인가요 쓰지"
)

// Parts of passages in any language, separated by bars, in lower case.
const (
	// concludeParts mark a passage that states a decision, a reason or a result.
	concludeParts = "decided|decision|settled|agreed|went with|let us use|let's use|instead|the fix|because|so that|in the end|" +
		"решили|в итоге|потому что|entschieden|weil|décidé|parce que|decidimos|porque|αποφασίσαμε|επειδή|决定|因为|決め|ので|정했|때문|قررنا|لأن"
	// correctParts mark one that replaces an earlier value.
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
