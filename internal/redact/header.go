package redact

import "strings"

// maxUserInfo is how far the credentials of a URL are looked for.
const maxUserInfo = 300

// urlPassword matches the password of scheme://user:password@host, and a user
// name that stands alone and is itself a key.
func urlPassword(s string, at int) (Finding, bool) {
	from := at + 3
	if at == 0 || !isAlnum(s[at-1]) {
		return Finding{}, false
	}
	colon, end := -1, -1
	for i := from; i < min(len(s), from+maxUserInfo); i++ {
		c := s[i]
		if c == '@' {
			end = i // the last one counts: a password may hold another
		}
		if c == ':' && colon < 0 && end < 0 {
			colon = i
		}
		if c <= ' ' || c >= 0x7f || strings.IndexByte("/?#\"'`<>\\|,;()", c) >= 0 {
			break
		}
	}
	if end < 0 {
		return Finding{}, false
	}
	if colon < 0 {
		name := s[from:end]
		if len(name) < 20 || mixOf(name).digit == 0 || template(name) {
			return Finding{}, false
		}
		return Finding{Kind: "url-password", Start: from, End: end}, true
	}
	password := s[colon+1 : end]
	if password == "" || blanked(password) || template(password) || placeholderEnd(s, colon+1) > 0 {
		return Finding{}, false
	}
	return Finding{Kind: "url-password", Start: colon + 1, End: end}, true
}

// bearer matches "Bearer <credential>" wherever it stands.
func bearer(s string, at int) (Finding, bool) {
	if !borderBefore(s, at) {
		return Finding{}, false
	}
	from := at + len("bearer ")
	from += run(s[from:], isSpace)
	return credential(s, from, "bearer-token", 12)
}

// authorization matches the credential of an Authorization header, in HTTP or
// in any notation of a pair.
func authorization(s string, at int) (Finding, bool) {
	i := at + len("authorization")
	i += closers(s[i:])
	n := run(s[i:], func(c byte) bool { return c == ':' || c == '=' || c == '>' || isSpace(c) })
	if n == 0 {
		return Finding{}, false
	}
	i += n
	i += openers(s[i:])
	scheme := run(s[i:], isLetter)
	switch strings.ToLower(s[i : i+scheme]) {
	case "basic":
		i += scheme
		i += run(s[i:], isSpace)
		return credential(s, i, "basic-auth", 8)
	case "token", "apikey", "bot", "key", "splunk", "genie":
		i += scheme
		i += run(s[i:], isSpace)
		return credential(s, i, kindToken, 12)
	case "bearer", "digest", "negotiate":
		return Finding{}, false // bearer has its own trigger
	}
	return credential(s, i, kindToken, 16)
}

// credential matches a run of credential characters that looks drawn by lot:
// the docs' "Bearer token" and "Basic authentication" are not meant.
func credential(s string, from int, kind string, shortest int) (Finding, bool) {
	end := from + run(s[from:], isBearer)
	for end > from && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	v := s[from:end]
	m := mixOf(v)
	drawn := m.digit > 0 && m.letters() > 0 && !wordLike(v) || kind == "basic-auth" && m.upper > 0 && m.lower > 0
	if len(v) < shortest || !drawn || template(v) || blanked(v) || end < len(s) && (s[end] == '(' || s[end] == '[') {
		return Finding{}, false
	}
	return Finding{Kind: kind, Start: from, End: end}, true
}
