package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/text"
)

const (
	maxWordsBetween = 7   // words between "password" and "is"
	maxSpoken       = 128 // bytes of a password in a sentence
)

// prose matches the value in a sentence: "the password for the NAS is …", "set the
// password to …", "use … as the password". The name is s[start:end].
func (n named) prose(s string, start, end int) (finding, bool) {
	if i := usedAs(s[:start]); i >= 0 {
		if f, ok := n.said(s, i); ok {
			return f, true
		}
	}
	i := end + markup(s[end:])
	direct := i > end && (n.word != "pw" && n.word != "pass" || lineStarts(s, start)) // "password hunter22"
	spoken := n
	spoken.direct = true
	if number := run(s[i:min(len(s), i+3)], text.IsDigit); number > 0 && i > end && operatorLen(s[i+number:]) > 0 { // "key 1: …"
		i += number
	}
	for words := range maxWordsBetween {
		i += blanks(s[min(i, len(s)):])
		if i >= len(s) || isBreak(s[i]) {
			return finding{}, false
		}
		if op := operatorLen(s[i:]); op > 0 && (words == 0 || s[i] != '=' && s[i] != '|' || n.assigned(s, i)) {
			if s[i] == '|' && inTemplate(s[:start]) {
				return finding{}, false
			}
			if below := newline(s[i+op:]); below > 0 && n.kind == kindPassword {
				f, ok := n.said(s, i+op+below)
				return f, ok && (f.end == len(s) || isBreak(s[f.end])) && mixOf(s[f.start:f.end]).digit > 1
			}
			return n.said(s, i+op)
		}
		w := proseWord(s[i:])
		if w > 0 && i+w < len(s) && s[i+w] == '@' && words > 0 { // root@localhost
			w += run(s[i+w:min(len(s), i+maxName)], func(c byte) bool { return isDotted(c) || c == '@' })
		}
		if s[i] == '(' {
			if n := strings.IndexByte(s[i:min(len(s), i+maxTag)], ')'); n > 0 {
				w = n + 1
			}
		}
		if w == 0 {
			if words == 0 && direct {
				return spoken.said(s, i)
			}
			return finding{}, false
		}
		if c := connector(s[i:], w); c > 0 {
			f, ok := n.said(s, i+c)
			next := i + c + blanks(s[i+c:])
			if done := proseWord(s[next:]); ok || s[i:i+c] != "to" && !listed("generated created set reset assigned following", s[next:next+done]) {
				return f, ok
			}
			w = c
		}
		if n.kind == kindPassword && strings.IndexByte("hHmMsScdf", s[i]) >= 0 && w < maxGap && listed("hash hashes hashed Hash md MD sha SHA checksum digest fingerprint", s[i:i+w]) {
			return finding{}, false
		}
		if words == 0 && direct {
			if f, ok := spoken.said(s, i); ok {
				return f, true
			}
		}
		i += w
		if words > 0 { // hunter2
			i += run(s[min(i, len(s)):min(len(s), i+maxGap)], text.IsAlnum)
		}
	}
	return finding{}, false
}

// assigned reports whether a generated password follows the operator at offset i, as
// in "pwd for the zip = …".
func (n named) assigned(s string, i int) bool {
	v := s[min(len(s), i+2):min(len(s), i+2+maxSpoken)]
	v = v[:run(v, func(c byte) bool { return c > ' ' })]
	return n.kind == kindPassword && strings.HasPrefix(s[i:], "= ") && (mingled(v) || hasDigit(v) && strings.ContainsAny(v, "!#$%^&*?") && !strings.ContainsAny(v, "()[]{};"))
}

// inTemplate reports whether s ends within {{ … }}, where | calls a function.
func inTemplate(s string) bool {
	s = s[max(0, len(s)-maxCommand):]
	return strings.LastIndex(s, "{{") > strings.LastIndex(s, "}}")
}

// inflected returns the length of the ending of a word in an alphabet with endings:
// lösenordet, şifresi.
func inflected(s string) int {
	n := 0
	for n < min(len(s), maxGap) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsLetter(r) || r >= 0x600 {
			break
		}
		n += size
	}
	return n
}

// markup returns the length of blanks, quotes and the marks of Markdown and HTML
// that end a name.
func markup(s string) int {
	i := 0
	for i < min(len(s), maxGap) {
		switch {
		case isSpace(s[i]) || strings.IndexByte("*_`\"')", s[i]) >= 0:
			i++
		case text.HasAnyPrefix(s[i:], "</b>", "</strong>", "</th>", "</td>", "<td>", "</dt>", "<dd>"):
			i += strings.IndexByte(s[i:], '>') + 1
		case text.HasAnyPrefix(s[i:], "”", "»", "」"):
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		default:
			return i
		}
	}
	return i
}

// operatorLen returns the length of a mark between name and value.
func operatorLen(s string) int {
	if s == "" || s[0] < 0x80 && strings.IndexByte("=-:|", s[0]) < 0 {
		return 0
	}
	for _, op := range [...]string{"=>", "->", "→", "—", "–", "：", "＝", ":", "=", "|", "- "} {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 0
}

// proseWord returns the length of a word of letters of any language.
func proseWord(s string) int {
	return run(s[:min(len(s), maxName)], func(c byte) bool { return text.IsLetter(c) || c >= 0x80 || c == '\'' })
}

// connector returns the length of a word such as "is" at the start of s, whose
// first word has w bytes; 0 for another word.
func connector(s string, w int) int {
	if s == "" || s[0] < 0x80 && w > len("becomes") {
		return 0
	}
	for _, c := range [...]string{"是", "为", "為", "は", "는", "은", "が"} {
		if s[0] >= 0x80 && strings.HasPrefix(s, c) {
			return len(c)
		}
	}
	if listed("is was to be equals becomes now ist war lautet auf est était à vaut es era son é foi era è fu sarà je је это есть равен na jest to on är er zijn wordt olan olarak هي هو है là je este είναι היא adalah van คือ 如下 yra ir", strings.ToLower(s[:w])) {
		return w
	}
	return 0
}

// usedAs returns the offset of the word before "as the" in a sentence such as "use
// X as the password", or -1.
func usedAs(s string) int {
	low := max(0, len(s)-maxSpoken-maxName)
	end := len(s)
	end -= runBefore(s[low:end], isMark)
	word := runBefore(s[low:end], text.IsLetter)
	if word == 0 || word == end || !listed("the a as your my our new das le la el o il", s[end-word:end]) && !listed("als comme como come jako", s[end-word:end]) {
		return -1
	}
	if listed("the a your my our new das le la el o il", s[end-word:end]) {
		end -= word
		end -= runBefore(s[low:end], isSpace)
		word = runBefore(s[low:end], text.IsLetter)
		if !listed("as is als für comme como come", s[end-word:end]) {
			return -1
		}
	}
	end -= word
	end -= runBefore(s[low:end], isSpace)
	for end > low && s[end-1] > ' ' {
		end--
	}
	return end
}

// isMark reports whether c is a blank or a mark around a word.
func isMark(c byte) bool { return isSpace(c) || strings.IndexByte("*`\"'", c) >= 0 }

// said matches the word at offset i if it can be a password in a sentence.
func (n named) said(s string, i int) (finding, bool) {
	if i < 0 {
		return finding{}, false
	}
	i += run(s[min(i, len(s)):min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || c == '*' || c == ':' || c == '(' || c == '[' })
	for text.HasAnyPrefix(s[i:], "</b>", "</strong>", "</td><td>", "</th><td>") {
		i += strings.IndexByte(s[i:], '>') + 1
		i += blanks(s[i:])
	}
	if i >= len(s) {
		return finding{}, false
	}
	if text.IsLower(s[i]) {
		i += adverb(s[i:])
	}
	quote := ""
	if !text.IsAlnum(s[min(i, len(s)-1)]) {
		i, quote = openingQuote(s, i)
	}
	rest := s[min(i, len(s)):min(len(s), i+maxSpoken)]
	var length int
	if quote != "" {
		length = strings.Index(rest, quote)
		length = len(strings.TrimRight(rest[:max(length, 0)], " \u00a0"))
	} else {
		length = run(rest, func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("`\"<>|", c) < 0 })
		if i := strings.IndexByte(rest[:length], '\\'); i >= 0 { // an escaped line break
			length = i
		}
		length = len(strings.TrimRight(rest[:length], ".,;:'*)]}"))
	}
	return n.saidAs(s, i, length, quote != "")
}

// adverb returns the length of a word between "is" and the value.
func adverb(s string) int {
	for _, w := range [...]string{"now ", "still ", "set to ", "also ", "currently ", "either ", "jetzt ", "actually ", "changed to "} {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// openingQuote returns the offset after a quotation mark at offset i, and the mark
// that closes it; "" if there is none.
func openingQuote(s string, i int) (int, string) {
	for _, q := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}, {"「", "」"}, {"\\\"", "\\\""}, {"**", "**"}, {"<code>", "</code>"}, {"<b>", "</b>"}} {
		if strings.HasPrefix(s[i:], q[0]) {
			i += len(q[0])
			return i + run(s[i:min(len(s), i+1)], isSpace), q[1]
		}
	}
	return i, ""
}

// saidAs matches the value s[i:i+length] of a sentence.
func (n named) saidAs(s string, i, length int, quoted bool) (finding, bool) {
	if length < 3 {
		return finding{}, false
	}
	rest := s[i:min(len(s), i+maxSpoken)]
	v := rest[:length]
	if n.kind == kindPassword && !n.weak && !n.direct && !quoted && text.IsLower(v[0]) && passphraseAt(rest) > 0 {
		length = passphraseAt(rest)
		return finding{n.kind, i, i + length}, true
	}
	f := finding{n.kind, i, i + length}
	if length < minMixed || !quoted && !hasDigit(v) {
		return finding{}, false
	}
	if placeholderEnd(s, i) > 0 || masked(v) || template(v) || dummy(v) || pathLike(v) || containsAny(v, opening, "[:", "[A-", "[a-", "[0-", "://", "::", "->", "()", "==") || strings.IndexByte("-/@.,;=", v[0]) >= 0 || v[0] == '$' && strings.Count(v, "$") > 2 || len(v) >= 36 && isUUID(v[len(v)-36:]) {
		return finding{}, false
	}
	return f, n.spoken(v, quoted)
}

// spoken reports whether v, a word of a sentence, is a secret rather than a term
// with a number, a time, a version or a name in code.
func (n named) spoken(v string, quoted bool) bool {
	m := mixOf(v)
	switch {
	case strings.ContainsAny(v, " \t"):
		return quoted && n.kind == kindPassword && passphrase(v)
	case n.kind == kindSecret && !n.weak && !n.direct && m.digit > 0 && m.letters() > 0 && len(v) >= minMixed && strings.ContainsAny(v, "!#$%^&*?") && !term(v):
		return true
	case n.kind != kindPassword && !n.weak && !n.direct && len(v) >= 10 && mingled(v) && !term(v) && !partOf(v) && !strings.ContainsAny(v, "()[]{}<>/"):
		return true
	case n.kind != kindPassword || n.weak:
		return len(v) >= 12 && m.letters() > 0 && m.digit > 0 && run(v, isBearer) == len(v) && !wordLike(v) && (strings.IndexByte(v, '/') < 0 || strings.HasSuffix(v, "=")) && !(strings.IndexByte(v, '.') > 0 && partOf(v)) && isSecretRun(v)
	case m.letters() == 0:
		return false
	case m.digit == 0 && m.other == 0:
		return quoted && !n.direct && m.lower == len(v) && !status(v) && !secretWord(v)
	case m.digit == 0:
		return quoted && run(v, isDotted) < len(v) && strings.ContainsAny(v, "!@#$%^&*?+")
	}
	if strings.ContainsAny(v, ":.") && wordLike(v) && !mingled(v) || strings.ContainsAny(v, "[]{}") && run(v, text.IsDigit) > 0 {
		return false
	}
	return !term(v) && (!identifier(v) || m.digit > 1 && !strings.ContainsAny(v, "_./:"))
}

// isSecretRun reports whether v is random rather than a name with numbers.
func isSecretRun(v string) bool {
	return randomValue(v) || len(v) >= 20 && isMixedKey(v)
}

// term reports whether v is a technical term with a number, a time, a date, a size,
// a version or a file.
func term(v string) bool {
	if mingled(v) && strings.IndexByte(v, '(') < 0 {
		return false
	}
	low := strings.ToLower(v)
	letters := run(low, text.IsLetter)
	if listed("sha md base utf aes rsa ed hs rs es ps hmac argon pbkdf bcrypt scrypt oauth http https ipv int uint float p v x section chapter step rfc iso test part page line "+
		"day week month year issue pr bug cve level version python node java go es", low[:letters]) {
		return true
	}
	if letters == 0 { // 12-char, 8GB, 2026-11-22T10:00, 3rd
		return run(low, func(c byte) bool { return text.IsDigit(c) || strings.IndexByte("-.:/tzx+,%", c) >= 0 }) == len(low) ||
			strings.IndexByte(low, '-') > 0 || len(low) <= 8 && mixOf(low).letters() <= 3 || run(low, isHex) == len(low) && len(low) < minNoDigit
	}
	dot := strings.LastIndexByte(v, '.')
	return strings.ContainsAny(v, "(){}[]=,;") && strings.IndexByte(v, '!') < 0 || dot > 0 && dot+5 >= len(v) || strings.HasPrefix(v, "@") || strings.HasPrefix(v, "#") || strings.HasPrefix(v, "$") && len(v) < 8 || strings.Count(v, "-") > 1
}

// identifier reports whether v is a name in code.
func identifier(v string) bool { return run(v, isDotted) == len(v) && wordLike(v) && partOf(v) }

// passphraseAt returns the length of a passphrase that ends the sentence at the
// start of s, 0 if there is none.
func passphraseAt(s string) int {
	n := run(s, func(c byte) bool { return text.IsLower(c) || c == ' ' || c == '-' })
	for n > 0 && s[n-1] == ' ' {
		n--
	}
	if n == len(s) || isBreak(s[n]) || strings.IndexByte(".,;)", s[n]) >= 0 {
		if (strings.Count(s[:n], " ") >= 2 || strings.Count(s[:n], "-") >= 3) && passphrase(s[:n]) {
			return n
		}
	}
	return 0
}

// accountPair matches the password of "log in as admin:…", "credentials: bob / …".
func accountPair(s string, i int) (finding, bool) {
	i += run(s[min(i, len(s)):min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || strings.IndexByte(":=`\"'*-", c) >= 0 })
	user := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isDotted(c) || c == '@' })
	if user > 0 && i > 0 && s[i-1] == '>' { // of a user of Redis
		return finding{kindPassword, i, i + user}, hasDigit(s[i:i+user]) && user >= minMixed
	}
	if user < 2 {
		return finding{}, false
	}
	i += user
	i += markup(s[i:])
	for _, sep := range []string{":", "/", ",", "|"} {
		if strings.HasPrefix(s[i:], sep) {
			f, ok := named{kind: kindPassword}.said(s, i+1)
			return f, ok && mixOf(s[f.start:f.end]).digit > 0
		}
	}
	return finding{}, false
}
