package redact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// The shortest values that count as secrets, in bytes.
const (
	minPassword = 4  // if the syntax allows nothing else
	minMixed    = 6  // a password of letters and digits in code
	minToken    = 8  // a token
	minNoDigit  = 24 // a token without a digit
	maxDummy    = 80 // longest word used in place of a secret
)

// secret reports whether v, which ends at offset end of s, is a secret rather than
// a variable, code, a word of documentation or a placeholder.
func (p pair) secret(v string, end int, s string) bool {
	if len(v) < minPassword || p.quote == "" && !p.env && codeLike(v, p.kind) {
		return false
	}
	if masked(v) || template(v) || dummy(v) || pathLike(v) || strings.Contains(v, opening) || containsAny(v, "://", "::", "->") && !(len(v) >= 40 && mingled(v) && !strings.Contains(v, "://")) {
		return false
	}
	if strings.ContainsAny(v, " \t") {
		return p.kind == kindPassword && (p.env && !secretWord(v) || (p.quote != "" || p.certain) && (passphrase(v) || p.spaced(v))) || p.weak && p.op == ',' && len(v) >= 40 && isMixedKey(v)
	}
	if p.weak {
		return randomValue(v)
	}
	if p.cred && !p.env && strings.IndexByte(v, ':') < 0 {
		return false
	}
	if p.kind == kindPassword {
		joined := end < len(s) && (s[end] == ';' || s[end] == '&')
		return p.password(v, joined, s, end)
	}
	m := mixOf(v)
	switch {
	case m.letters() == 0:
		return false
	case p.env && len(v) >= minMixed:
		return true
	case m.digit > 1 && p.line && p.name >= 0 && p.quote == "" && end <= len(s) && len(v) >= minToken && !partOf(v) && (end == len(s) || isBreak(s[end])):
		return true
	case m.digit > 0:
		return len(v) >= minToken && !wordLike(v)
	}
	return len(v) >= minNoDigit && m.upper > 3 && m.lower > 3 && !wordLike(v) || lettersOnly(v) || gibberish(v)
}

// randomValue reports whether v is random whatever its name is: a hash, an ID of
// words or a number is not.
func randomValue(v string) bool {
	m := mixOf(v)
	if len(v) >= 36 && isUUID(v[len(v)-36:]) || strings.HasPrefix(v, "0x") {
		return false
	}
	if run(v, isURLSafe) == len(v) && m.letters() > 0 && m.upper*m.lower == 0 && m.other == 0 && run(strings.ToLower(v), isHex) == len(v) {
		return len(v) >= 20 && m.upper == 0 // the hexadecimal ID of a PGP key has capitals
	}
	return len(v) >= 16 && isMixedKey(v) && !isUUID(v) || len(v) >= 32 && m.digit > 0 && m.other > 0 && !wordLike(v) && changes(v)*3 > len(v)
}

// gibberish reports whether v, of small letters only, has runs of consonants that
// words lack.
func gibberish(v string) bool {
	if len(v) < 16 || run(v, text.IsLower) < len(v) {
		return false
	}
	longest, n := 0, 0
	for i := range len(v) {
		n++
		if strings.IndexByte("aeiouy", v[i]) >= 0 {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest >= 6
}

// passphrase reports whether v is a row of words without those that sentences
// need.
func passphrase(v string) bool {
	words := 0
	many := strings.Count(v, " ") >= 11 // a seed phrase has 12 words of a list
	for ; v != ""; words++ {
		n := run(v, func(c byte) bool { return c != ' ' && c != '-' })
		w := v[:n]
		v = v[min(len(v), n+1):]
		if len(w) < 3 || run(w, text.IsLower) < len(w) || functionWord(w) && !many || secretWord(w) || len(w) > 14 {
			return false
		}
	}
	return words >= 3 && words <= 24
}

// spaced reports whether one of the few words of a quoted value is a generated
// password.
func (p pair) spaced(v string) bool {
	words, found := 0, false
	for w := range strings.FieldsSeq(v) {
		if functionWord(strings.ToLower(w)) || secretWord(w) || status(w) {
			return false
		}
		words++
		m := mixOf(w)
		found = found || len(w) >= minMixed && m.digit > 0 && m.letters() > 0 && (p.certain || !term(w) && !wordLike(w))
	}
	return found && words <= 6
}

func functionWord(w string) bool {
	return listed("the and for not was were are has have had been with from that this its your you our any all can cannot could will would "+
		"must should may might does did done too than then when where which what who how why per via into onto over under about after before again also only same "+
		"each both some none set get use used using stored required needed missing invalid expired wrong correct empty here there still never always already being out off one two", w)
}

// status reports whether v says something about a password, or is a default that
// documentation shows.
func status(v string) bool {
	return listed("required optional missing invalid expired incorrect correct wrong empty hidden changed updated reset disabled enabled stored "+
		"hashed encrypted plaintext string bytes bool text field input needed unknown unset default prompt interactive custom basic postgres admin root guest mysql example "+
		"foobar compat files systemd failed success successful accepted rejected denied matched mismatch weak strong forgot forgotten generated provided ignored removed deleted rotated leaked "+
		"number integer boolean object value username email login system local remote files password number validated verified unchanged confirmed nullable credential credentials plain", strings.ToLower(v))
}

// password is secret for passwords, which may be words. joined reports that a
// connection string or query continues after the value.
func (p pair) password(v string, joined bool, s string, end int) bool {
	m := mixOf(v)
	plain := m.digit == 0 && run(v, isDotted) == len(v) // could be a variable or a label
	switch {
	case p.env:
		return true
	case p.certain:
		return !plain || !secretWord(v)
	case p.op == ' ':
		return !plain && len(v) >= minMixed
	case p.op == ',':
		return !plain && len(v) >= minMixed && (!wordLike(v) || m.digit > 1)
	case p.quote != "":
		if plain {
			return len(v) >= minMixed && m.lower == len(v) && !secretWord(v) || joinedWords(v, p.line)
		}
		return len(v) >= minMixed && m.letters()+m.digit > len(v)/2
	case plain:
		return joined && !secretWord(v) && strings.IndexByte(v, '.') < 0 || p.plainLine(v, s, end)
	}
	return len(v) >= minMixed && !dottedName(v)
}

// joinedWords reports whether v is a passphrase of words with dashes: of three if
// its name begins the line, otherwise of four.
func joinedWords(v string, line bool) bool {
	n := strings.Count(v, "-")
	return (n >= 3 || n == 2 && line) && passphrase(v)
}

// plainLine reports whether a word alone is a password because name and value are
// the whole line of a file of settings.
func (p pair) plainLine(v, s string, end int) bool {
	whole := p.line && (end >= len(s) || isBreak(s[end]) || escapedSpace(s[end:]) > 0)
	if whole && joinedWords(v, true) {
		return p.op == ':' || p.name >= 0
	}
	if !whole || len(v) < minMixed || mixOf(v).lower < len(v) || status(v) || partOf(v) {
		return false
	}
	return p.op == ':' || p.name >= 0 || settingsNear(s[max(0, p.start-maxCommand):p.start])
}

// settingsNear reports whether s ends with lines of an INI file: a section or the
// name of a user, host or database.
func settingsNear(s string) bool {
	lines := strings.Split(strings.TrimRight(s, " \t\r\n"), "\n")
	for _, line := range lines[max(0, len(lines)-4):] {
		line = strings.ToLower(strings.TrimSpace(line))
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") || found && run(value, isDotted) == len(value) &&
			listed("user username host hostname server port database dbname login email db", name[strings.LastIndexAny(name, "._")+1:]) {
			return true
		}
	}
	return false
}

// partOf reports whether one of the words of v is a word for a secret, as in names
// of variables.
func partOf(v string) bool {
	for v != "" {
		n := run(v, text.IsUpper)
		if n > 1 && n < len(v) && text.IsLower(v[n]) { // the last capital begins the next word
			n--
		} else {
			n += run(v[n:], text.IsLower)
		}
		if n == 0 {
			v = v[1:]
			continue
		}
		if listed("pass password passwd passphrase secret secrets token tokens key keys pwd auth cred creds credential credentials", strings.ToLower(v[:n])) {
			return true
		}
		v = v[n:]
	}
	return false
}

// codeLike reports whether an unquoted value is an anchor, tag, flag, operator or
// number, or a name that contains a word such as "token".
func codeLike(v, kind string) bool {
	return strings.ContainsAny(v[:1], "&*!@%#-+=/") && !mingled(v) || strings.HasPrefix(v, "0x") ||
		text.IsLetter(v[0]) && run(v, isDotted) == len(v) && (mixOf(v).digit < 2 || kind != kindPassword && (!isMixedKey(v) || namesKey(v))) && partOf(v) || strings.IndexByte(v, ':') > 0 && wordLike(v)
}

// namesKey reports whether v ends as the name of a key does.
func namesKey(v string) bool {
	return strings.HasSuffix(v, "Key") || strings.HasSuffix(v, "Token") || strings.HasSuffix(v, "Secret")
}

// template reports whether v is a variable or other expression to be replaced.
func template(v string) bool {
	if mingled(v) && (len(v) >= 30 || v[0] != '$' && v[0] != '{' && v[0] != '<' && !containsAny(v, "${", "{{", "$(", "}")) {
		return false
	}
	c := v[0]
	return strings.IndexByte("<{[(", c) >= 0 || c == '%' && (strings.HasSuffix(v, "%") || len(v) == 2) ||
		c == '$' && len(v) > 1 && (text.IsLetter(v[1]) || strings.IndexByte("_{(", v[1]) >= 0) ||
		containsAny(v, "${", "{{", "$(", "<%", "#{", "{}", "...", "…", "***", "•••") ||
		strings.IndexByte(v, '{') >= 0 && strings.IndexByte(v, '}') >= 0 || formatVerb(v)
}

// formatVerb reports whether v contains %s or another verb that no letter or digit
// follows.
func formatVerb(v string) bool {
	for i := range len(v) - 1 {
		if v[i] == '%' && strings.IndexByte("svdqwx", v[i+1]) >= 0 && borderAfter(v, i+2) {
			return true
		}
	}
	return false
}

// dummy reports whether v is a word that documentation uses in place of a secret.
func dummy(v string) bool {
	if len(v) > maxDummy {
		return false
	}
	low := strings.ToLower(v)
	if containsAny(low, "your", "xxxx", "changeme") {
		return true
	}
	switch low {
	case "true", "false", "none", "null", "nil", "undefined", "string", "bytes", "required", "optional", "hidden",
		"text", "invalid", "valid", "unknown", "missing", "empty", "default", "disabled", "enabled", "prompt",
		"input", "number", "boolean", "object", "value", "username", "email", "login", "user", "name", "type",
		"password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "access_token", "refresh_token",
		"bearer", "basic", "inherit", "read", "write", "public", "private", "return", "const", "this", "self":
		return true
	}
	return wordLike(v) && containsAny(low,
		"change", "replace", "placeholder", "example", "insert", "enter", "redacted", "masked", "todo", "here")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// secretWord reports whether v contains a word such as "token", as names and
// labels do.
func secretWord(v string) bool {
	return containsAny(strings.ToLower(v), "pass", "secret", "token", "key", "pwd", "auth", "cred")
}

// pathLike reports whether v is a file path. An AWS secret may begin with a slash,
// but has no dots and few slashes.
func pathLike(v string) bool {
	for _, p := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(v, p) {
			rest := v[len(p):]
			if p == "/" && len(v) >= 30 && run(v, isBase64) == len(v) && mingled(v) {
				return false
			}
			return strings.ContainsAny(rest, "._-") || strings.Count(rest, "/") > 2 || len(v) < 30
		}
	}
	return len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// dottedName reports whether v is a field access such as req.user2.password1.
func dottedName(v string) bool {
	return strings.IndexByte(v, '.') > 0 && wordLike(v) && !mingled(v)
}

// maxWords is the length of a value that decides whether it consists of words.
const maxWords = 128

// wordLike reports whether v consists of words and small numbers, as names do, and
// is not random.
func wordLike(v string) bool {
	v = v[:min(len(v), maxWords)]
	for v != "" {
		n := run(v, func(c byte) bool { return strings.IndexByte("-_./:@ ,", c) < 0 })
		if !word(v[:n]) {
			return false
		}
		v = v[min(len(v), n+1):]
	}
	return true
}

// word reports whether s is one word with at most four digits at its end, or an
// abbreviation such as k8s or 2fa.
func word(s string) bool {
	if run(s, text.IsAlnum) < len(s) {
		return false
	}
	letters := run(s, text.IsLetter)
	digits := run(s[letters:], text.IsDigit)
	if letters+digits == len(s) && digits <= 4 {
		return letters == 0 || !mixedCase(s[:letters])
	}
	return len(s) <= 4 || camelName(s)
}

// camelName reports whether most of s consists of words, as in
// ReadUint16LengthPrefixed.
func camelName(s string) bool {
	inWords := 0
	for i := 0; i < len(s); {
		n := run(s[i:min(len(s), i+1)], text.IsUpper)
		n += run(s[i+n:], text.IsLower)
		if n >= 3 && strings.ContainsAny(s[i:i+n], "aeiouyAEIOUY") {
			inWords += n
		}
		i += max(n, 1)
	}
	m := mixOf(s)
	return m.upper > 0 && m.digit*5 <= len(s) && inWords*20 >= len(s)*11 && numbers(s) <= max(1, len(s)/12)
}

// numbers counts the runs of digits in s.
func numbers(s string) int {
	n := 0
	for i := range len(s) {
		if text.IsDigit(s[i]) && (i == 0 || !text.IsDigit(s[i-1])) {
			n++
		}
	}
	return n
}

// mixedCase reports whether the case of letters changes more often than in
// camelCase.
func mixedCase(s string) bool {
	humps := 0
	for i := 1; i < len(s); i++ {
		if text.IsLower(s[i-1]) && text.IsUpper(s[i]) {
			humps++
		}
	}
	return humps > 2 && humps*4 > len(s)
}
