package project

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxRemote is the length in bytes beyond which a remote is not believed.
const maxRemote = 512

// normalizeRemote brings the ways to write one remote into one form,
// "host/path": no scheme, user, password, port, query or ".git", the host in
// lower case. A local repository keeps its absolute path. What cannot be told
// apart with certainty, and might hide a password, gives "".
func normalizeRemote(url string) string {
	if url == "" || len(url) > maxRemote || !utf8.ValidString(url) || strings.ContainsFunc(url, isControl) {
		return ""
	}
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		return fromURL(scheme, rest)
	}
	if helper, _, ok := strings.Cut(url, "::"); ok && !strings.Contains(helper, "[") {
		return "" // a remote helper's address, which may be any text
	}
	if hasDrive(url) || filepath.IsAbs(url) {
		return trimGit(path.Clean(strings.ReplaceAll(url, `\`, "/")))
	}
	return fromSCP(url)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// fromURL normalises what follows "scheme://".
func fromURL(scheme, rest string) string {
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	authority, where, _ := strings.Cut(rest, "/")
	if strings.EqualFold(scheme, "file") {
		if hasDrive(where) {
			return trimGit(path.Clean(where))
		}
		return trimGit(path.Clean("/" + where))
	}
	host, ok := cutUser(authority)
	if strings.Contains(where, "@") && (ok || strings.Contains(strings.ReplaceAll("/"+where, "/@", ""), "@")) {
		return "" // "user:p@ss/word@host" without its escapes; "/@scope/" is none
	}
	if name, port, ok := cutPort(host); ok {
		if !isNumber(port) {
			return "" // "user:pass/word@host" without its escapes
		}
		host = name
	}
	return hostPath(host, where)
}

// fromSCP normalises "user@host:path", which needs the colon before any slash.
func fromSCP(url string) string {
	host, where, ok := cutPort(url)
	if !ok || strings.Contains(host, "/") {
		return "" // a path relative to who knows what
	}
	host, ok = cutUser(host)
	if !ok && strings.Contains(where, "@") {
		return "" // "user:password@host:path", which git does not know
	}
	return hostPath(host, where)
}

// cutUser takes "user:password@" off and reports whether it was there.
func cutUser(authority string) (host string, found bool) {
	i := strings.LastIndexByte(authority, '@')
	return authority[i+1:], i >= 0
}

// cutPort cuts at the first colon outside of an IPv6 address in brackets.
func cutPort(s string) (before, after string, found bool) {
	from := 0
	if i := strings.IndexByte(s, ']'); i >= 0 && strings.Contains(s[:i], "[") {
		from = i
	}
	i := strings.IndexByte(s[from:], ':')
	if i < 0 {
		return s, "", false
	}
	return s[:from+i], s[from+i+1:], true
}

func isNumber(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func hostPath(host, where string) string {
	where = trimGit(strings.TrimPrefix(path.Clean("/"+where), "/"))
	if host == "" || where == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + where
}

func trimGit(where string) string {
	return strings.TrimSuffix(strings.TrimRight(where, "/"), ".git")
}
