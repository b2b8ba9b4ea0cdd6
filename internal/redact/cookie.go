package redact

import "strings"

const (
	kindCookie = "cookie"
	// minCookie is the shortest value of a cookie that is taken for a session's.
	minCookie = 16
)

// cookie matches what a Cookie or Set-Cookie header carries, in HTTP, in any
// notation of a pair, as two arguments of a call, as an option, and in a map of
// cookies.
func cookie(s string, at int) (Finding, bool) {
	i := at + len("cookie")
	if i < len(s) && s[i]|0x20 == 's' {
		i++
	}
	i += closers(s[i:])
	n := run(s[i:min(len(s), i+maxGap)], func(c byte) bool { return strings.IndexByte(":=>, \t", c) >= 0 })
	between := s[i : i+n]
	i += n
	if strings.HasPrefix(s[i:], `\ `) {
		i += 2
	}
	quote := openers(s[i:])
	switch {
	case n == 0 || i+quote >= len(s):
		return Finding{}, false
	case strings.ContainsAny(between, ":="):
	case strings.Contains(between, ",") && quote > 0:
	case at >= 2 && s[at-2:at] == "--":
	default:
		return Finding{}, false
	}
	end := i + cookieEnd(s[i:min(len(s), i+maxHeader)])
	if set := at - len("set-"); set >= 0 && equalFold(s[set:set+len("set")], "set") {
		if semicolon := strings.IndexByte(s[i:end], ';'); semicolon >= 0 { // attributes follow
			end = i + semicolon
		}
	}
	return cookieValues(s, i, end)
}

// cookieEnd returns the end of what a cookie's name introduces: of a quoted text,
// a map, or a line.
func cookieEnd(s string) int {
	if s[0] == '{' {
		if end := strings.IndexByte(s, '}'); end >= 0 {
			return end
		}
		return 0
	}
	quote := s[:openers(s)]
	for i := len(quote); i < len(s); i++ {
		if isBreak(s[i]) || escapedBlank(s[i:]) > 0 || quote != "" && strings.HasPrefix(s[i:], quote) || quote == "" && openers(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// cookieValues takes s[from:to] for a list of cookies: the finding reaches from the
// first value that looks drawn by lot to the last one, but not over a placeholder.
func cookieValues(s string, from, to int) (Finding, bool) {
	found := Finding{Kind: kindCookie, Start: -1}
	for i := from; i < to; i++ {
		if placeholderEnd(s, i) > 0 {
			if found.Start >= 0 {
				break
			}
			i = placeholderEnd(s, i) - 1
			continue
		}
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		start := i + 1 + blanks(s[i+1:to])
		start += openers(s[start:to])
		end := start + run(s[start:to], func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte(";,\"'`\\{}()<>", c) < 0 })
		if v := s[start:end]; len(v) >= minCookie && hasDigit(v) && mixOf(v).letters() > 0 && !wordLike(v) && !template(v) &&
			!pathLike(v) && !strings.Contains(v, "://") && !strings.Contains(v, opening) && (end >= len(s) || s[end] != '(' && s[end] != '{') {
			if found.Start < 0 {
				found.Start = start
			}
			found.End = end
		}
		i = max(i, end-1)
	}
	return found, found.Start >= 0
}
