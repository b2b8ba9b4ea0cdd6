package redact

import (
	"cmp"
	"encoding/base64"
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
		{kind: kindPassword, word: "passw"}, {kind: kindPassword, word: "passphrase"}, {kind: kindPassword, word: "pwd"},
		{kind: kindSecret, word: "secret"}, {kind: kindToken, word: "token"},
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
	if n.word == "passw" && t != "" {
		endings := []string{"ord", "d", "ort"}
		i := slices.IndexFunc(endings, func(w string) bool { return text.HasPrefixFold(t, w) })
		if i < 0 {
			return false
		}
		t = t[len(endings[i]):]
	}
	for t != "" {
		t = strings.TrimLeft(t, "_-")
		n := cmp.Or(run(t, text.IsDigit), neutralWord(t))
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
		if n := len(w); text.HasPrefixFold(t, w) && (len(t) == n || !text.IsLower(t[n])) {
			return n
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

// inQuery reports whether the name at offset start belongs to a query or
// connection string: after ?, & or ;, or among the blank-separated pairs of libpq
// (host=db user=me password=…).
func inQuery(s string, start int) bool {
	if start == 0 {
		return false
	}
	switch s[start-1] {
	case '?', '&', ';':
		return true
	case ' ':
		line := s[max(0, start-maxCommand):start]
		line = line[strings.LastIndexAny(line, "\n\r,(")+1:]
		return slices.ContainsFunc([]string{"host=", "dbname=", "user=", "server=", "hostaddr="}, func(w string) bool {
			i := strings.Index(line, w)
			return i >= 0 && borderBefore(line, i)
		})
	}
	return false
}

// afterLogin reports whether s ends like a .netrc entry before its password:
// machine HOST login NAME, or default login NAME, on one or several lines.
func afterLogin(s string) bool {
	s = s[max(0, len(s)-maxCommand):]
	if !strings.Contains(s, "login ") {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(s, `\n`, " "))
	n := len(words)
	return n >= 3 && words[n-2] == "login" && (words[n-3] == "default" || n >= 4 && words[n-4] == "machine")
}

// pgpass matches the password of a .pgpass line, host:5432:database:user:secret.
func pgpass(s string, at int) (finding, bool) {
	i := at + len(":5432:")
	for range 2 { // the database and the user
		n := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isURLSafe(c) || c == '*' || c == '.' })
		if n == 0 || i+n >= len(s) || s[i+n] != ':' {
			return finding{}, false
		}
		i += n + 1
	}
	return chosen(s, i, i+argument(s[i:], ""))
}

// passVariable matches DB_PASS=secret. _PASSWORD is matched by name.
func passVariable(s string, at int) (finding, bool) {
	end := at + len("_PASS")
	end += run(s[end:min(len(s), end+maxName)], func(c byte) bool { return text.IsDigit(c) || c == '_' })
	p, ok := separator(s, end)
	if !ok || p.op != '=' || p.name != end || runBefore(s[:at], isConstant) == 0 {
		return finding{}, false
	}
	p.env = true
	f, ok := p.value(s)
	return f, ok && mixOf(s[f.start:f.end]).digit < f.end-f.start // a number counts tests
}

// passOfAccount matches ansible_become_pass=secret and db_pass: "secret". The word
// before distinguishes a password from a passed test.
func passOfAccount(s string, at int) (finding, bool) {
	before := s[at-runBefore(s[:at], text.IsLetter) : at]
	if !slices.Contains([]string{
		"become", "ssh", "sudo", "db", "database", "user", "admin", "root", "smtp", "mail", "email", "ftp", "proxy", "redis", "mysql", "pg",
		"postgres", "http", "auth", "login", "vault", "wifi", "ldap", "mqtt", "rabbitmq",
	}, before) {
		return finding{}, false
	}
	p, ok := separator(s, at+len("_pass"))
	if !ok || p.op == ' ' {
		return finding{}, false
	}
	return p.value(s)
}

// passField matches "pass": "…" in JSON and pass: '…' in code if the value looks
// random; otherwise it may be a test that passed.
func passField(s string, at int) (finding, bool) {
	p, ok := separator(s, at+len("pass"))
	if !ok || p.op == ' ' || p.quote == "" || !borderBefore(s, at) {
		return finding{}, false
	}
	f, ok := p.value(s)
	return f, ok && !wordLike(s[f.start:f.end]) && hasDigit(s[f.start:f.end])
}

// userInfo matches the registry credentials of npm and docker: base64 of
// user:password after _auth= or "auth":.
func userInfo(s string, at int) (finding, bool) {
	p, ok := separator(s, at+len("_auth"))
	if !ok || p.op == ' ' {
		return finding{}, false
	}
	n := run(s[p.from:min(len(s), p.from+maxBare)], isBase64)
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[p.from:p.from+n], "="))
	colon := strings.IndexByte(string(text), ':')
	if err != nil || colon < 1 || colon > len(text)-3 || run(string(text), func(c byte) bool { return c >= ' ' && c < 0x7f }) != len(text) {
		return finding{}, false
	}
	return finding{"basic-auth", p.from, p.from + n}, true
}
