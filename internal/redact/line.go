package redact

import (
	"encoding/base64"
	"slices"
	"strings"
)

// queried reports whether the name that begins at start is a part of a query or
// of a connection string: behind ?, & or ;, or among the blank-separated pairs
// of libpq (host=db user=me password=…).
func queried(s string, start int) bool {
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

// netrc reports whether s ends as a line of .netrc does before its password:
// machine HOST login NAME, or default login NAME, over any number of lines.
func netrc(s string) bool {
	s = s[max(0, len(s)-maxCommand):]
	if !strings.Contains(s, "login ") {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(s, `\n`, " "))
	n := len(words)
	return n >= 3 && words[n-2] == "login" && (words[n-3] == "default" || n >= 4 && words[n-4] == "machine")
}

// pgpass matches the password of a line of .pgpass, host:5432:database:user:secret.
func pgpass(s string, at int) (Finding, bool) {
	i := at + len(":5432:")
	for range 2 { // the database and the user
		n := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isURLSafe(c) || c == '*' || c == '.' })
		if n == 0 || i+n >= len(s) || s[i+n] != ':' {
			return Finding{}, false
		}
		i += n + 1
	}
	return chosen(s, i, i+argument(s[i:], ""))
}

// passVariable matches DB_PASS=secret, as _PASSWORD is by its name.
func passVariable(s string, at int) (Finding, bool) {
	end := at + len("_PASS")
	end += run(s[end:min(len(s), end+maxName)], func(c byte) bool { return isDigit(c) || c == '_' })
	p, ok := separator(s, end)
	if !ok || p.op != '=' || p.name != end || runBefore(s[:at], isConstant) == 0 {
		return Finding{}, false
	}
	p.kind, p.env = kindPassword, true
	f, ok := p.value(s)
	return f, ok && mixOf(s[f.Start:f.End]).digit < f.End-f.Start // no count of tests
}

// passOfAccount matches ansible_become_pass=secret and db_pass: "secret", where
// what stands before says that a password is meant and not a test.
func passOfAccount(s string, at int) (Finding, bool) {
	before := s[at-runBefore(s[:at], isLetter) : at]
	if !slices.Contains([]string{
		"become", "ssh", "sudo", "db", "database", "user", "admin", "root", "smtp", "mail", "email", "ftp", "proxy", "redis", "mysql", "pg",
		"postgres", "http", "auth", "login", "vault", "wifi", "ldap", "mqtt", "rabbitmq",
	}, before) {
		return Finding{}, false
	}
	p, ok := separator(s, at+len("_pass"))
	if !ok || p.op == ' ' {
		return Finding{}, false
	}
	p.kind = kindPassword
	return p.value(s)
}

// passField matches "pass": "…" of JSON and pass: '…' of code. Tests are passed,
// too, so the value has to look drawn.
func passField(s string, at int) (Finding, bool) {
	p, ok := separator(s, at+len("pass"))
	if !ok || p.op == ' ' || p.quote == "" || !borderBefore(s, at) {
		return Finding{}, false
	}
	p.kind = kindPassword
	f, ok := p.value(s)
	return f, ok && !wordLike(s[f.Start:f.End]) && hasDigit(s[f.Start:f.End])
}

// userInfo matches what npm and docker keep of a registry: base64 of
// user:password behind _auth= or "auth":.
func userInfo(s string, at int) (Finding, bool) {
	p, ok := separator(s, at+len("_auth"))
	if !ok || p.op == ' ' {
		return Finding{}, false
	}
	n := run(s[p.from:min(len(s), p.from+maxBare)], isBase64)
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[p.from:p.from+n], "="))
	colon := strings.IndexByte(string(text), ':')
	if err != nil || colon < 1 || colon > len(text)-3 || run(string(text), func(c byte) bool { return c >= ' ' && c < 0x7f }) != len(text) {
		return Finding{}, false
	}
	return Finding{Kind: "basic-auth", Start: p.from, End: p.from + n}, true
}
