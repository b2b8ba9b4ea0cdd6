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

// authorization matches the credential of an Authorization header, in HTTP, in
// any notation of a pair, or as two arguments of a call.
func authorization(s string, at int) (Finding, bool) {
	i := at + len("authorization")
	i += closers(s[i:])
	n := run(s[i:], func(c byte) bool { return strings.IndexByte(":=>, \t", c) >= 0 })
	between := s[i : i+n]
	i += n
	if strings.HasPrefix(s[i:], `\ `) {
		i += 2
	}
	quote := openers(s[i:])
	if n == 0 || strings.Contains(between, ",") && quote == 0 {
		return Finding{}, false
	}
	i += quote
	scheme := s[i : i+run(s[i:], func(c byte) bool { return isAlnum(c) || c == '-' })]
	value := i + len(scheme)
	value += run(s[value:min(len(s), value+maxGap)], func(c byte) bool { return isSpace(c) || c == '\\' })
	switch strings.ToLower(scheme) {
	case "bearer":
		return Finding{}, false // has its own trigger
	case "basic":
		return credential(s, value, "basic-auth", 8)
	case "token", "apikey", "bot", "key", "splunk", "genie", "geniekey", "ssws", "ntlm", "negotiate", "sharedkey", "aws", "hmac":
		return identified(s, value, 12)
	case "digest":
		return parameter(s, value, "response=")
	case "aws4-hmac-sha256", "aws4-ecdsa-p256-sha256", "signature":
		return parameter(s, value, "ignature=")
	}
	if f, ok := credential(s, i, kindToken, 16); ok || value == i+len(scheme) || strings.Trim(between, " \t") == "" {
		return f, ok
	}
	return identified(s, value, 20)
}

// identified matches a credential that may have an id and a colon before it.
func identified(s string, from, shortest int) (Finding, bool) {
	if n := run(s[from:min(len(s), from+maxUserInfo)], isBearer); n > 0 && from+n < len(s) && s[from+n] == ':' {
		from += n + 1
	}
	return credential(s, from, kindToken, shortest)
}

// maxHeader is how far a parameter of a header is looked for.
const maxHeader = 800

// parameter matches the value of one parameter of a header, up to the line's end.
func parameter(s string, from int, name string) (Finding, bool) {
	line := s[from:min(len(s), from+maxHeader)]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	i := strings.Index(line, name)
	if i < 0 {
		return Finding{}, false
	}
	from += i + len(name)
	return credential(s, from+openers(s[from:]), kindSignature, 16)
}

// signature matches what makes a presigned URL valid: sig= of Azure,
// X-Amz-Signature= and X-Goog-Signature=.
func signature(s string, at int) (Finding, bool) {
	eq := strings.IndexByte(s[at:], '=')
	if at == 0 || s[at] != '-' && s[at-1] != '&' && s[at-1] != '?' {
		return Finding{}, false
	}
	from := at + eq + 1
	end := from + run(s[from:min(len(s), from+maxValue)], func(c byte) bool { return isBearer(c) || c == '%' })
	if v := s[from:end]; len(v) < 32 || !hasDigit(v) || template(v) || wordLike(v) {
		return Finding{}, false
	}
	return Finding{Kind: kindSignature, Start: from, End: end}, true
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
