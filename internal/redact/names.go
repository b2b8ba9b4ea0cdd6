package redact

import (
	"slices"
	"strings"
)

// named is a class of names that say that their value is secret.
type named struct {
	kind string
	word string // in the name, lower case
	// before, where given, must end the part of the name in front of the word:
	// a key is secret only as some kind of key.
	before []string
}

func names() []named {
	return []named{
		{kind: kindPassword, word: "passw"},
		{kind: kindPassword, word: "passphrase"},
		{kind: kindPassword, word: "pwd"},
		{kind: kindSecret, word: "secret"},
		{kind: kindToken, word: "token"},
		{kind: kindKey, word: "key", before: []string{
			"api", "apikey", "access", "private", "auth", "signing", "encryption", "master", "account", "service",
			"storage", "webhook", "deploy", "license", "subscription", "admin", "app", "application", "jwt", "hmac",
			"aes", "openai", "anthropic", "stripe", "sendgrid", "twilio", "mailgun", "datadog", "azure", "gemini",
		}},
	}
}

func nameTriggers() []trigger {
	var list []trigger
	for _, n := range names() {
		list = append(list, trigger{lit: n.word, fold: true, match: n.match})
	}
	return list
}

// maxName bounds how far a name is followed to either side of its word.
const maxName = 48

// match looks for a pair of a name that holds the word at offset at and a value
// that is a secret.
func (n named) match(s string, at int) (Finding, bool) {
	end := at + len(n.word)
	end += run(s[end:min(len(s), end+maxName)], isURLSafe)
	if !n.tail(s[at+len(n.word) : end]) {
		return Finding{}, false
	}
	start := at
	for start > 0 && at-start < maxName && (isURLSafe(s[start-1]) || s[start-1] == '.') && borderless(s, start) {
		start--
	}
	if !n.head(s[start:at]) {
		return Finding{}, false
	}
	p, ok := notation(s, start, end)
	if !ok {
		return Finding{}, false
	}
	if start > 0 && p.name == end && p.quote != "" && s[start-1] == p.quote[0] {
		return Finding{}, false // "NAME=" + value
	}
	if n.word == "pwd" && s[start:end] == "PWD" {
		return Finding{}, false // the shell's working directory
	}
	p.kind = n.kind
	constant := run(s[start:end], isConstant) == end-start
	p.env = constant && (p.op == '=' && p.name == end || p.beside)
	return p.value(s)
}

// notation finds out how the name s[start:end] is tied to a value.
func notation(s string, start, end int) (pair, bool) {
	if p, ok := element(s, start, end); ok {
		return p, true
	}
	p, ok := separator(s, end)
	if !ok {
		return twin(s, start, end)
	}
	option := strings.HasPrefix(s[start:], "--")
	switch p.op {
	case '=':
		p.sure = p.name == end && (option || queried(s, start))
	case ' ':
		if p.sure = netrc(s[:start]); !p.sure && !option {
			return p, configured(s[:start])
		}
		if option && !p.sure {
			_, _, p.sure = calls(command(s[:start]), clients())
		}
	}
	return p, true
}

// configured reports whether the name behind s is one that a command sets: aws
// configure set, npm config set, whatever stands before it without a blank.
func configured(s string) bool {
	s = s[:len(s)-runBefore(s, func(c byte) bool { return c > ' ' })]
	return strings.HasSuffix(s, "configure set ") || strings.HasSuffix(s, "config set ")
}

// borderless reports whether the byte before i belongs to the same name: the n
// of an escaped newline does not.
func borderless(s string, i int) bool {
	return !(i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r'))
}

// tail reports whether what follows the word leaves the name secret: it does in
// TOKEN_2 and SECRET_KEY, it does not in token_count and passwordField.
func (n named) tail(t string) bool {
	if t == "" {
		return true
	}
	if n.word == "passw" {
		for _, w := range []string{"ord", "d", "ort"} {
			if len(t) >= len(w) && equalFold(t[:len(w)], w) {
				return plainTail(t[len(w):])
			}
		}
		return false
	}
	return plainTail(t)
}

func plainTail(t string) bool {
	for t != "" {
		t = strings.TrimLeft(t, "_-")
		n := run(t, isDigit)
		if n == 0 {
			n = plainWord(t)
		}
		if n == 0 {
			return t == ""
		}
		t = t[n:]
	}
	return true
}

// plainWord returns the length of a word that may follow in a secret's name.
func plainWord(t string) int {
	for _, w := range []string{
		"value", "key", "base", "access", "api", "auth", "prod", "production", "dev", "development", "test", "testing", "staging",
		"live", "old", "new", "primary", "secondary", "main", "root", "admin", "token", "secret", "password",
		"string", "plain", "raw", "b64", "base64",
	} {
		if len(t) >= len(w) && equalFold(t[:len(w)], w) && (len(t) == len(w) || !isLower(t[len(w)])) {
			return len(w)
		}
	}
	return 0
}

// head reports whether what stands before the word leaves the name secret.
func (n named) head(h string) bool {
	h = strings.ToLower(strings.TrimRight(h, "_-."))
	if n.before == nil {
		return !strings.HasSuffix(h, "public")
	}
	return slices.ContainsFunc(n.before, func(w string) bool { return strings.HasSuffix(h, w) })
}
