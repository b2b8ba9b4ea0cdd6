package redact

import "strings"

const (
	maxTag  = 80 // of the attributes between an element's name and its value
	maxTwin = 48 // of what stands between a name and the word "value"
)

// element reads the value of <name>value</name>, where the name ends at end and
// begins at start, in plain or escaped angle brackets.
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
	return pair{op: '=', name: -1, from: from, quote: closing, sure: true}, true
}

// twin reads the value that stands beside a name instead of behind it:
// {"name": "DB_PASSWORD", "value": "…"}, <add key="ApiKey" value="…"/> and the
// same in YAML. The name ends at end and begins at start.
func twin(s string, start, end int) (pair, bool) {
	if !naming(s[:start]) {
		return pair{}, false
	}
	i := end + openers(s[end:])
	stop := min(len(s), i+maxTwin)
	for i < stop && strings.IndexByte(" \t\r\n,;", s[i]) >= 0 || escapedBlank(s[i:]) > 0 {
		i += max(1, escapedBlank(s[i:]))
	}
	i += openers(s[i:])
	const word = "value"
	if i+len(word) >= len(s) || !equalFold(s[i:i+len(word)], word) {
		return pair{}, false
	}
	p, ok := separator(s, i+len(word))
	if p.op == ' ' {
		return pair{}, false
	}
	p.sure, p.beside = true, true
	return p, ok
}

// naming reports whether s ends in name=, key: or the like, with the quotes that
// may stand around either side.
func naming(s string) bool {
	s = strings.TrimRight(s[max(0, len(s)-maxTwin):], "\"'`\\ \t")
	if s == "" || s[len(s)-1] != '=' && s[len(s)-1] != ':' {
		return false
	}
	s = strings.TrimRight(s[:len(s)-1], "\"'`\\ \t")
	for _, w := range []string{"name", "key"} {
		if n := len(s) - len(w); n >= 0 && equalFold(s[n:], w) && borderBefore(s, n) {
			return true
		}
	}
	return false
}

// escapedBlank returns the length of a line break or tab that is written as an
// escape, however often it was escaped.
func escapedBlank(s string) int {
	n := run(s, func(c byte) bool { return c == '\\' })
	if n > 0 && n < len(s) && (s[n] == 'n' || s[n] == 'r' || s[n] == 't') {
		return n + 1
	}
	return 0
}

// runBefore returns how many bytes s ends in that are in the set, up to maxName.
func runBefore(s string, set func(byte) bool) int {
	n := 0
	for n < min(len(s), maxName) && set(s[len(s)-1-n]) {
		n++
	}
	return n
}
