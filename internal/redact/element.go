package redact

import (
	"slices"
	"strings"
)

const (
	maxTag       = 80 // attributes between an element's name and its value
	maxAttribute = 48 // distance between a name and the attribute "value"
)

// element parses the value of <name>value</name>, with plain or escaped angle
// brackets. The name is s[start:end].
func element(s string, start, end int) (pair, bool) {
	open, shut := "<", ">"
	if start > 0 && s[start-1] == ':' { // <ns:name>
		start--
		start -= runBefore(s[:start], isURLSafe)
	}
	if strings.HasSuffix(s[:start], "&lt;") {
		open, shut = "&lt;", "&gt;"
	} else if !strings.HasSuffix(s[:start], open) {
		return pair{}, false
	}
	tag := s[end:min(len(s), end+maxTag)]
	n := strings.Index(tag, shut)
	if n < 0 || n > 0 && (!isSpace(tag[0]) || tag[n-1] == '/') || strings.ContainsAny(tag[:n], "\r\n<") {
		return pair{}, false
	}
	from, closing := end+n+len(shut), open+"/"
	const cdata = "<![CDATA["
	if strings.HasPrefix(s[from:], cdata) {
		from, closing = from+len(cdata), "]]>"
	}
	if !strings.Contains(s[from:min(len(s), from+maxBare)], closing) {
		return pair{}, false // a type parameter
	}
	return pair{op: '=', name: -1, from: from, quote: closing, certain: true}, true
}

// attribute parses a value in an attribute next to the name s[start:end]: {"name":
// "DB_PASSWORD", "value": "…"}, <add key="ApiKey" value="…"/> and the same in
// YAML.
func attribute(s string, start, end int) (pair, bool) {
	if !endsWithNameKey(s[:start]) {
		return pair{}, false
	}
	i := end + openQuote(s[end:])
	stop := min(len(s), i+maxAttribute)
	for i < stop && strings.IndexByte(" \t\r\n,;", s[i]) >= 0 || escapedSpace(s[i:]) > 0 {
		i += max(1, escapedSpace(s[i:]))
	}
	i += openQuote(s[i:])
	const word = "value"
	if i+len(word) >= len(s) || !strings.EqualFold(s[i:i+len(word)], word) {
		return pair{}, false
	}
	p, ok := separator(s, i+len(word))
	if p.op == ' ' {
		return pair{}, false
	}
	p.certain, p.attribute = true, true
	return p, ok
}

// endsWithNameKey reports whether s ends with name=, key: or similar, with
// optional quotes.
func endsWithNameKey(s string) bool {
	s = strings.TrimRight(s[max(0, len(s)-maxAttribute):], "\"'`\\ \t")
	if s == "" || s[len(s)-1] != '=' && s[len(s)-1] != ':' {
		return false
	}
	s = strings.TrimRight(s[:len(s)-1], "\"'`\\ \t")
	return slices.ContainsFunc([]string{"name", "key"}, func(w string) bool {
		n := len(s) - len(w)
		return n >= 0 && strings.EqualFold(s[n:], w) && borderBefore(s, n)
	})
}

// escapedSpace returns the length of a line break or tab written as an escape
// sequence, with any number of backslashes.
func escapedSpace(s string) int {
	n := run(s, func(c byte) bool { return c == '\\' })
	if n > 0 && n < len(s) && (s[n] == 'n' || s[n] == 'r' || s[n] == 't') {
		return n + 1
	}
	return 0
}

// runBefore returns the length of the suffix of s whose bytes are all in the set,
// at most maxName.
func runBefore(s string, set func(byte) bool) int {
	n := 0
	for n < min(len(s), maxName) && set(s[len(s)-1-n]) {
		n++
	}
	return n
}
