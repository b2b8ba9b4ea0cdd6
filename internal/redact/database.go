package redact

import (
	"strings"

	"strandline/internal/text"
)

// oracleTriggers returns triggers for the contexts of Oracle's
// USER/PASSWORD@DATABASE. "connect" itself has no pair of letters that is rare in
// text.
func oracleTriggers() []trigger {
	var list []trigger
	for _, lit := range []string{"sqlplus ", "sqlldr ", "expdp ", "impdp ", "CONNECT ", "onnect(", ":thin:", ":oci:", "userid="} {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (finding, bool) { return logon(s, at+len(lit)) }})
	}
	return list
}

// maxOptions is the number of options allowed between a program and a logon.
const maxOptions = 4

// logon matches the password of USER/PASSWORD@DATABASE at offset i or after
// options.
func logon(s string, i int) (finding, bool) {
	i += blanks(s[min(i, len(s)):])
	for range maxOptions {
		if i >= len(s) || s[i] != '-' {
			break
		}
		i += run(s[i:min(len(s), i+maxName)], func(c byte) bool { return c == '-' || isWord(c) })
		i += blanks(s[i:])
	}
	i += openQuote(s[min(i, len(s)):])
	name := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isDotted(c) || c == '$' || c == '#' })
	start := i + name + 1
	if name == 0 || start >= len(s) || s[start-1] != '/' {
		return finding{}, false
	}
	n := run(s[start:min(len(s), start+maxBare)], func(c byte) bool { return c > ' ' && strings.IndexByte("@/\"'`\\,;|<>", c) < 0 })
	if end := start + n; end+1 < len(s) && s[end] == '@' && (text.IsAlnum(s[end+1]) || strings.IndexByte("/($&{[", s[end+1]) >= 0) {
		return chosen(s, start, end)
	}
	return finding{}, false
}

// identifiedBy matches IDENTIFIED BY 'secret' in a statement that creates or
// changes a user. Without quotes, which Oracle allows, it requires capitals,
// because prose uses the same words.
func identifiedBy(s string, at int) (finding, bool) {
	if !definesUser(s[:at]) {
		return finding{}, false
	}
	i := at + len("ified by ")
	i += blanks(s[i:])
	quote := s[i : i+openQuote(s[i:])]
	if quote == "" && text.IsLower(s[at]) || strings.HasSuffix(quote, "`") {
		return finding{}, false
	}
	return chosenArgument(s, i)
}

// identifiedWith matches IDENTIFIED WITH plugin BY 'secret'.
func identifiedWith(s string, at int) (finding, bool) {
	before := s[max(0, at-maxName):at]
	if !strings.Contains(strings.ToLower(before), "identified with ") || !definesUser(s[:at]) {
		return finding{}, false
	}
	i := at + len(" by '")
	return chosen(s, i, i+argument(s[i:], "'"))
}

// passwordLiteral matches CREATE ROLE name PASSWORD 'secret'.
func passwordLiteral(s string, at int) (finding, bool) {
	if !definesUser(s[:at]) {
		return finding{}, false
	}
	i := at + len("password '")
	return chosen(s, i, i+argument(s[i:], "'"))
}

// passwordFor matches SET PASSWORD FOR name = 'secret', or = PASSWORD('secret').
func passwordFor(s string, at int) (finding, bool) {
	i := at + len("password for ")
	eq := strings.IndexAny(s[i:min(len(s), i+maxCommand)], "=\r\n;")
	if eq < 0 || s[i+eq] != '=' {
		return finding{}, false
	}
	i += eq + 1
	i += blanks(s[i:])
	const function = "password("
	if len(s)-i > len(function) && equalFold(s[i:i+len(function)], function) {
		i += len(function)
	}
	if openQuote(s[i:]) == 0 {
		return finding{}, false
	}
	return chosenArgument(s, i)
}

// definesUser reports whether s ends with an SQL statement that creates or changes
// a user.
func definesUser(s string) bool {
	s = strings.ToLower(s[max(0, len(s)-maxCommand):])
	s = s[strings.LastIndexByte(s, ';')+1:]
	for _, verb := range []string{"create ", "alter ", "grant "} {
		if _, rest, ok := strings.Cut(s, verb); ok {
			for _, what := range []string{"user ", "role ", "login ", "group ", " to "} {
				if strings.Contains(rest, what) {
					return true
				}
			}
		}
	}
	return false
}
