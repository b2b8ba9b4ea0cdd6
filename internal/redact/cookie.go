package redact

import "strings"

const (
	kindCookie = "cookie"
	// minCookie is the shortest cookie value that counts as a secret.
	minCookie = 16
)

// cookie matches the secrets of a Cookie or Set-Cookie header in HTTP, of a
// name-value pair in any syntax, of two arguments of a call, of an option, and of
// a map of cookies.
func cookie(s string, at int) (finding, bool) {
	i := at + len("cookie")
	if i < len(s) && s[i]|0x20 == 's' {
		i++
	}
	between, i := headerValue(s, i, maxGap)
	quote := openQuote(s[i:])
	switch {
	case between == "" || i+quote >= len(s):
		return finding{}, false
	case strings.ContainsAny(between, ":="):
	case strings.Contains(between, ",") && quote > 0:
	case at >= 2 && s[at-2:at] == "--":
	default:
		return finding{}, false
	}
	end := i + cookieEnd(s[i:min(len(s), i+maxHeader)])
	if set := at - len("set-"); set >= 0 && strings.EqualFold(s[set:set+len("set")], "set") {
		if semicolon := strings.IndexByte(s[i:end], ';'); semicolon >= 0 { // attributes follow
			end = i + semicolon
		}
	}
	return cookieValues(s, i, end)
}

// cookieEnd returns the end of the value: of a quoted text, a map, or a line.
func cookieEnd(s string) int {
	if s[0] == '{' {
		if end := strings.IndexByte(s, '}'); end >= 0 {
			return end
		}
		return 0
	}
	quote := s[:openQuote(s)]
	for i := len(quote); i < len(s); i++ {
		if isBreak(s[i]) || escapedSpace(s[i:]) > 0 || quote != "" && strings.HasPrefix(s[i:], quote) || quote == "" && openQuote(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// cookieValues matches the secrets in a list of cookies, s[from:to]. The finding
// extends from the first random value to the last one before a placeholder.
func cookieValues(s string, from, to int) (finding, bool) {
	found := finding{kind: kindCookie, start: -1}
	for i := from; i < to; i++ {
		if placeholderEnd(s, i) > 0 {
			if found.start >= 0 {
				break
			}
			i = placeholderEnd(s, i) - 1
			continue
		}
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		start := i + 1 + blanks(s[i+1:to])
		start += openQuote(s[start:to])
		end := start + run(s[start:to], func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte(";,\"'`\\{}()<>", c) < 0 })
		if v := s[start:end]; len(v) >= minCookie && hasDigit(v) && mixOf(v).letters() > 0 && !wordLike(v) && !template(v) &&
			!pathLike(v) && !strings.Contains(v, "://") && !strings.Contains(v, opening) && (end >= len(s) || s[end] != '(' && s[end] != '{') {
			if found.start < 0 {
				found.start = start
			}
			found.end = end
		}
		i = max(i, end-1)
	}
	return found, found.start >= 0
}
