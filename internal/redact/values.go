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
	if len(v) < minPassword || p.quote == "" && !p.env && codeLike(v) {
		return false
	}
	if masked(v) || template(v) || dummy(v) || pathLike(v) || containsAny(v, opening, "://", "::", "->") {
		return false
	}
	if strings.ContainsAny(v, " \t") && !(p.env && p.kind == kindPassword && !secretWord(v)) {
		return false
	}
	if p.kind == kindPassword {
		joined := end < len(s) && (s[end] == ';' || s[end] == '&')
		return p.password(v, joined)
	}
	m := mixOf(v)
	switch {
	case m.letters() == 0:
		return false
	case p.env && len(v) >= minMixed:
		return true
	case m.digit > 0:
		return len(v) >= minToken && !wordLike(v)
	}
	return len(v) >= minNoDigit && m.upper > 3 && m.lower > 3 && !wordLike(v)
}

// password is secret for passwords, which may be words. joined reports that a
// connection string or query continues after the value.
func (p pair) password(v string, joined bool) bool {
	m := mixOf(v)
	plain := m.digit == 0 && run(v, isDotted) == len(v) // could be a variable or a label
	switch {
	case p.env:
		return true
	case p.certain:
		return !plain || !secretWord(v)
	case p.op == ' ':
		return !plain && len(v) >= minMixed
	case p.quote != "":
		if plain {
			return len(v) >= minMixed && m.lower == len(v) && !secretWord(v)
		}
		return len(v) >= minMixed && m.letters()+m.digit > len(v)/2
	case plain:
		return joined && !secretWord(v)
	}
	return len(v) >= minMixed && !dottedName(v)
}

// codeLike reports whether an unquoted value is an anchor, tag, flag, operator or
// number, or a name that contains a word such as "token".
func codeLike(v string) bool {
	return strings.ContainsAny(v[:1], "&*!@%#-+=/") || strings.HasPrefix(v, "0x") ||
		text.IsLetter(v[0]) && run(v, isDotted) == len(v) && secretWord(v) || strings.IndexByte(v, ':') > 0 && wordLike(v)
}

// template reports whether v is a variable or other expression to be replaced.
func template(v string) bool {
	c := v[0]
	return strings.IndexByte("<{[(", c) >= 0 || c == '%' && (strings.HasSuffix(v, "%") || len(v) == 2) ||
		c == '$' && len(v) > 1 && (text.IsLetter(v[1]) || strings.IndexByte("_{(", v[1]) >= 0) ||
		containsAny(v, "${", "{{", "$(", "<%", "#{", "%s", "%v", "%d", "%q", "{}", "...", "…", "***", "•••") ||
		strings.IndexByte(v, '{') >= 0 && strings.IndexByte(v, '}') >= 0
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
			return strings.ContainsAny(rest, "._-") || strings.Count(rest, "/") > 2 || len(v) < 30
		}
	}
	return len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// dottedName reports whether v is a field access such as req.user2.password1.
func dottedName(v string) bool { return strings.IndexByte(v, '.') > 0 && wordLike(v) }

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
	return len(s) <= 4
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
