package redact

import (
	"encoding/base64"
	"slices"
	"strings"

	"strandline/internal/text"
)

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
		for _, w := range []string{"host=", "dbname=", "user=", "server=", "hostaddr="} {
			if i := strings.Index(line, w); i >= 0 && borderBefore(line, i) {
				return true
			}
		}
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
	p.kind, p.env = kindPassword, true
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
	p.kind = kindPassword
	return p.value(s)
}

// passField matches "pass": "…" in JSON and pass: '…' in code if the value looks
// random; otherwise it may be a test that passed.
func passField(s string, at int) (finding, bool) {
	p, ok := separator(s, at+len("pass"))
	if !ok || p.op == ' ' || p.quote == "" || !borderBefore(s, at) {
		return finding{}, false
	}
	p.kind = kindPassword
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
