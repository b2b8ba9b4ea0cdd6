package redact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// maxOptions is the number of options allowed between a program and a logon.
const maxOptions = 4

// logon matches the password of Oracle's USER/PASSWORD@DATABASE at offset i or
// after options.
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
	i := at + len("ified by ")
	i += blanks(s[i:])
	quote := s[i : i+openQuote(s[i:])]
	if quote == "" && text.IsLower(s[at]) || strings.HasSuffix(quote, "`") || !definesUser(s[:at]) {
		return finding{}, false
	}
	return chosenArgument(s, i)
}

// identifiedWith matches IDENTIFIED WITH plugin BY 'secret'.
func identifiedWith(s string, at int) (finding, bool) {
	before := strings.ToLower(s[max(0, at-maxName):at])
	i := at + len(" by '")
	f, ok := chosen(s, i, i+argument(s[i:], "'"))
	return f, ok && strings.Contains(before, "identified with ") && definesUser(s[:at])
}

// passwordLiteral matches CREATE ROLE name PASSWORD 'secret'.
func passwordLiteral(s string, at int) (finding, bool) {
	i := at + len("password '")
	f, ok := chosen(s, i, i+argument(s[i:], "'"))
	return f, ok && definesUser(s[:at])
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
	if len(s)-i > len(function) && strings.EqualFold(s[i:i+len(function)], function) {
		i += len(function)
	}
	f, ok := chosenArgument(s, i)
	return f, ok && openQuote(s[i:]) > 0
}

// definesUser reports whether s ends with an SQL statement that creates or changes
// a user.
func definesUser(s string) bool {
	s = strings.ToLower(s[max(0, len(s)-maxCommand):])
	s = s[strings.LastIndexByte(s, ';')+1:]
	return slices.ContainsFunc([]string{"create ", "alter ", "grant "}, func(verb string) bool {
		_, rest, _ := strings.Cut(s, verb)
		return containsAny(rest, "user ", "role ", "login ", "group ", " to ")
	})
}
