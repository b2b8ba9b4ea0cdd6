package project

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxRemote is the most bytes of a valid remote.
const maxRemote = 512

// normalizeRemote returns a remote as "host/path": without scheme, user, password,
// port, query and ".git", the host in lower case. For a local repository it returns
// the absolute path, for an ambiguous address, which may hold a password, "".
func normalizeRemote(url string) string {
	if url == "" || len(url) > maxRemote || !utf8.ValidString(url) || strings.ContainsFunc(url, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		return fromURL(scheme, rest)
	}
	if helper, _, ok := strings.Cut(url, "::"); ok && !strings.Contains(helper, "[") {
		return "" // a remote helper's address has no fixed form
	}
	if hasDrive(url) || filepath.IsAbs(url) {
		return trimGit(path.Clean(strings.ReplaceAll(url, `\`, "/")))
	}
	return fromSCP(url)
}

// fromURL normalises what follows "scheme://".
func fromURL(scheme, rest string) string {
	rest = rest[:strings.IndexAny(rest+"?", "?#")]
	authority, where, _ := strings.Cut(rest, "/")
	if strings.EqualFold(scheme, "file") {
		if !hasDrive(where) {
			where = "/" + where
		}
		return trimGit(path.Clean(where))
	}
	host, ok := cutUser(authority)
	if strings.Contains(where, "@") && (ok || strings.Contains(strings.ReplaceAll("/"+where, "/@", ""), "@")) {
		return "" // may be an unescaped "user:p@ss/word@host"; "/@scope/" is not
	}
	if name, port, ok := cutPort(host); ok {
		if strings.Trim(port, "0123456789") != "" {
			return "" // may be an unescaped "user:pass/word@host"
		}
		host = name
	}
	return hostPath(host, where)
}

// fromSCP normalises "user@host:path", with the colon before any slash.
func fromSCP(url string) string {
	host, where, ok := cutPort(url)
	if !ok || strings.Contains(host, "/") {
		return "" // a relative path
	}
	host, ok = cutUser(host)
	if !ok && strings.Contains(where, "@") {
		return "" // may be "user:password@host:path", which git does not accept
	}
	return hostPath(host, where)
}

// cutUser removes "user:password@" and reports whether there was one.
func cutUser(authority string) (host string, found bool) {
	i := strings.LastIndexByte(authority, '@')
	return authority[i+1:], i >= 0
}

// cutPort cuts at the first colon outside an IPv6 address in brackets.
func cutPort(s string) (before, after string, found bool) {
	from := 0
	if i := strings.IndexByte(s, ']'); i >= 0 && strings.Contains(s[:i], "[") {
		from = i
	}
	before, after, found = strings.Cut(s[from:], ":")
	return s[:from] + before, after, found
}

func hostPath(host, where string) string {
	where = trimGit(strings.TrimPrefix(path.Clean("/"+where), "/"))
	if host == "" || where == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + where
}

func trimGit(where string) string { return strings.TrimSuffix(strings.TrimRight(where, "/"), ".git") }
