package redact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// named is a class of names whose value is secret.
type named struct {
	kind string
	word string // part of the name, in lower case
	// before, if set, lists the words of which one must end the part of the name
	// before word: not every key is secret.
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

// maxName is the longest part of a name before or after its word.
const maxName = 48

// match matches the value of a name that contains the word at offset at.
func (n named) match(s string, at int) (finding, bool) {
	end := at + len(n.word)
	end += run(s[end:min(len(s), end+maxName)], isURLSafe)
	if !n.secretSuffix(s[at+len(n.word) : end]) {
		return finding{}, false
	}
	start := at
	for start > 0 && at-start < maxName && (isURLSafe(s[start-1]) || s[start-1] == '.') && sameName(s, start) {
		start--
	}
	if !n.secretPrefix(s[start:at]) || n.word == "pwd" && s[start:end] == "PWD" { // the shell's working directory
		return finding{}, false
	}
	p, ok := findValue(s, start, end)
	if !ok || start > 0 && p.name == end && p.quote != "" && s[start-1] == p.quote[0] { // "NAME=" + value
		return finding{}, false
	}
	p.kind = n.kind
	constant := run(s[start:end], isConstant) == end-start
	p.env = constant && (p.op == '=' && p.name == end || p.attribute)
	return p.value(s)
}

// findValue finds the value of the name s[start:end] in any syntax.
func findValue(s string, start, end int) (pair, bool) {
	if p, ok := element(s, start, end); ok {
		return p, true
	}
	p, ok := separator(s, end)
	if !ok {
		return attribute(s, start, end)
	}
	option := strings.HasPrefix(s[start:], "--")
	switch p.op {
	case '=':
		p.certain = p.name == end && (option || inQuery(s, start))
	case ' ':
		if p.certain = afterLogin(s[:start]); !p.certain && !option {
			return p, setByCommand(s[:start])
		}
		if option && !p.certain {
			_, _, p.certain = findProgram(command(s[:start]), passwordPrograms())
		}
	}
	return p, true
}

// setByCommand reports whether s ends with a command that sets a configuration
// value: aws configure set, npm config set.
func setByCommand(s string) bool {
	s = s[:len(s)-runBefore(s, func(c byte) bool { return c > ' ' })]
	return strings.HasSuffix(s, "configure set ") || strings.HasSuffix(s, "config set ")
}

// sameName reports whether the byte before i belongs to the same name, unlike the
// n of an escaped newline.
func sameName(s string, i int) bool {
	return !(i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r'))
}

// secretSuffix reports whether a name with the suffix t after the word is secret:
// TOKEN_2 and SECRET_KEY are, token_count and passwordField are not.
func (n named) secretSuffix(t string) bool {
	if t == "" {
		return true
	}
	if n.word == "passw" {
		for _, w := range []string{"ord", "d", "ort"} {
			if len(t) >= len(w) && strings.EqualFold(t[:len(w)], w) {
				return neutralSuffix(t[len(w):])
			}
		}
		return false
	}
	return neutralSuffix(t)
}

func neutralSuffix(t string) bool {
	for t != "" {
		t = strings.TrimLeft(t, "_-")
		n := run(t, text.IsDigit)
		if n == 0 {
			n = neutralWord(t)
		}
		if n == 0 {
			return t == ""
		}
		t = t[n:]
	}
	return true
}

// neutralWord returns the length of a word that can follow in the name of a
// secret.
func neutralWord(t string) int {
	for _, w := range []string{
		"value", "key", "base", "access", "api", "auth", "prod", "production", "dev", "development", "test", "testing", "staging",
		"live", "old", "new", "primary", "secondary", "main", "root", "admin", "token", "secret", "password",
		"string", "plain", "raw", "b64", "base64",
	} {
		if len(t) >= len(w) && strings.EqualFold(t[:len(w)], w) && (len(t) == len(w) || !text.IsLower(t[len(w)])) {
			return len(w)
		}
	}
	return 0
}

// secretPrefix reports whether a name with the prefix h before the word is secret.
func (n named) secretPrefix(h string) bool {
	h = strings.ToLower(strings.TrimRight(h, "_-."))
	if n.before == nil {
		return !strings.HasSuffix(h, "public")
	}
	return slices.ContainsFunc(n.before, func(w string) bool { return strings.HasSuffix(h, w) })
}
