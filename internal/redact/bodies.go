package redact

import (
	"strings"

	"strandline/internal/text"
)

// The alphabets of token bodies that only a few providers use.
func isLowerAlnum(c byte) bool { return text.IsLower(c) || text.IsDigit(c) }
func isBaseDash(c byte) bool   { return isBase32(c) || c == '-' }
func isDollar(c byte) bool     { return isLowerAlnum(c) || c == '$' }
func isAsana(c byte) bool      { return isLowerAlnum(c) || c == ':' || c == '/' }
func isClickUp(c byte) bool    { return isBase32(c) || c == '_' }
func isSalesforce(c byte) bool { return isDotted(c) || c == '!' }
func isPath(c byte) bool       { return isURLSafe(c) || c == '/' }
func isTeams(c byte) bool      { return isPath(c) || c == '@' }
func isURLPair(c byte) bool    { return isHex(c) || c == ':' }
func isQuery(c byte) bool      { return isPath(c) || strings.IndexByte("?&=%.", c) >= 0 }
func isCrypt(c byte) bool      { return isBase64(c) || strings.IndexByte("$.,=", c) >= 0 }

func isAccessToken(c byte) bool { return isBearer(c) || c == ':' }
func nothing(byte) bool         { return false }

// isAsanaBody is for <user>:<32 hexadecimal digits>, or only these.
func isAsanaBody(body string) bool {
	i := strings.LastIndexAny(body, ":/") + 1
	return len(body)-i == 32 && looksRandom(body[i:])
}

// isBitwarden is for 0.<UUID>.<secret>:<key>.
func isBitwarden(body string) bool { return isUUID(body[:36]) && body[36] == '.' }

func exactly(n int) func(string) bool { return func(body string) bool { return len(body) == n } }

func exactlyRandom(n int) func(string) bool {
	return func(body string) bool { return len(body) == n && looksRandom(body) }
}

func exactlyMixed(n int) func(string) bool {
	return func(body string) bool { return len(body) == n && isMixedKey(body) }
}

func hasDigit(body string) bool { return mixOf(body).digit > 0 }

// never is for prefixes too short to be recognized within a word: "sk-" is in
// "task-", and any three letters occur in base64.
func never(string) bool { return false }

// isKeyID reports whether a body is random base32, unlike machine code in base64,
// which is full of capitals and A.
func isKeyID(body string) bool {
	return !strings.ContainsAny(body, "0189") && !strings.Contains(body, "AAA")
}

// looksRandom reports whether a body is not the rest of a name, for prefixes that
// can end one, as in npm_my_http_handler.
func looksRandom(body string) bool {
	m := mixOf(body)
	return m.digit > 0 && m.letters() > 0 && !wordLike(body)
}

// isMixedKey reports whether a body has the spread of digits and letters that
// random characters have, and that names with a number lack.
func isMixedKey(body string) bool {
	m := mixOf(body)
	if m.digit*16 < len(body) {
		return len(body) >= 20 && lettersOnly(body)
	}
	return m.letters()*4 >= len(body) && (m.upper > 0 || m.lower > 0) && changes(body)*5 >= len(body) && !wordLike(body)
}

// mingled reports whether characters of several classes alternate in v as in a
// generated password, and not as in words, names and templates.
func mingled(v string) bool {
	m := mixOf(v)
	symbols := strings.ContainsAny(v, "!#$%^&*?+~")
	if len(v) < 8 || strings.HasPrefix(v, "0x") || m.lower == 0 || m.digit == 0 || m.upper == 0 && !symbols {
		return false
	}
	return segments(v)*3 >= len(v)
}

// segments counts the parts of v: a capital with the small letters after it, and
// each run of small letters, capitals, digits and other characters.
func segments(v string) int {
	class := func(c byte) int {
		switch {
		case text.IsLower(c):
			return 1
		case text.IsUpper(c):
			return 2
		case text.IsDigit(c):
			return 3
		}
		return 4
	}
	n := min(len(v), 1)
	for i := 1; i < len(v); i++ {
		a, b := class(v[i-1]), class(v[i])
		word := a == 2 && b == 1 && (i < 2 || class(v[i-2]) != 2)
		if a != b && !word {
			n++
		}
	}
	return n
}

// lettersOnly reports whether v, without digits, changes between capitals and small
// letters as random characters do.
func lettersOnly(v string) bool {
	m := mixOf(v)
	return len(v) >= 16 && m.upper*5 >= len(v) && m.lower*5 >= len(v) && (segments(v)*5 >= len(v)*2 || segments(v)*3 >= len(v) && !wordLike(v))
}

// changes counts the places where the class of characters changes.
func changes(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if text.IsDigit(s[i]) != text.IsDigit(s[i-1]) || text.IsUpper(s[i]) != text.IsUpper(s[i-1]) {
			n++
		}
	}
	return n
}

// isRandomKey distinguishes a key from a name in kebab-case, many of which begin
// with "sk-".
func isRandomKey(body string) bool {
	m, longest := mixOf(body), 0
	for part := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		longest = max(longest, len(part))
	}
	return m.digit > 0 && m.letters() > 0 && (longest >= 20 || m.upper > 0 && m.lower > 0 && len(body) >= 32)
}

// isVaultToken is for the 24 characters after "s." of Vault's older tokens.
func isVaultToken(body string) bool { return len(body) == 24 && isMixedKey(body) }

// isAirtable is for pat<14 characters>.<64 hexadecimal digits>.
func isAirtable(body string) bool {
	return len(body) == 79 && body[14] == '.' && run(body[15:], isHex) == 64
}

// isSalesforceBody is for 00D<organization>!<session>.
func isSalesforceBody(body string) bool {
	i := strings.IndexByte(body, '!')
	return i >= 9 && i <= 15
}

// isUUID reports whether s has the form of a UUID.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isHex(s[i]|0x20) {
			return false
		}
	}
	return true
}
