package redact

import (
	"strings"

	"strandline/internal/text"
)

// maxUserInfo is the longest user information of a URL, in bytes.
const maxUserInfo = 300

// urlPassword matches the password of scheme://user:password@host, and a user name
// without password that looks like a key.
func urlPassword(s string, at int) (finding, bool) {
	from := at + 3
	if at == 0 || !text.IsAlnum(s[at-1]) {
		return finding{}, false
	}
	colon, end := -1, -1
	for i := from; i < min(len(s), from+maxUserInfo); i++ {
		c := s[i]
		if c == '@' {
			end = i // the last one: a password may contain another
		}
		if c == ':' && colon < 0 && end < 0 {
			colon = i
		}
		odd := c >= 0x7f || strings.IndexByte("|,;()'#?", c) >= 0
		if c <= ' ' || strings.IndexByte("/\"`<>\\", c) >= 0 || odd && (colon < 0 || i == colon+1 || run(s[colon+1:i], text.IsDigit) == i-colon-1 || strings.IndexByte(s[colon:i], '$') == 1) {
			break
		}
	}
	if end < 0 || end+1 < len(s) && colon >= 0 && !hostAfter(s[end+1:]) {
		return finding{}, false
	}
	if colon < 0 {
		name := s[from:end]
		return finding{"url-password", from, end}, len(name) >= 20 && hasDigit(name) && !template(name)
	}
	password := s[colon+1 : end]
	if user := s[from:colon]; listed("x-oauth-basic x-oauth-token api_token x unused", strings.ToLower(password)) || password == "" {
		return finding{"url-password", from, colon}, len(user) >= 20 && hasDigit(user) && !template(user) && placeholderEnd(s, from) <= 0
	}
	ok := password != "" && !defaultLogin(s[from:colon], password) && !masked(password) && !template(password) && placeholderEnd(s, colon+1) <= 0
	return finding{"url-password", colon + 1, end}, ok
}

// goDSN matches the password of user:password@tcp(host:3306)/name.
func goDSN(s string, at int) (finding, bool) {
	start := at
	for start > 0 && at-start < maxUserInfo && s[start-1] > ' ' && strings.IndexByte("\"'`=", s[start-1]) < 0 {
		start--
	}
	i := strings.IndexByte(s[start:at], ':')
	if i < 1 || defaultLogin(s[start:start+i], s[start+i+1:at]) {
		return finding{}, false
	}
	return chosen(s, start+i+1, at)
}

// basic matches base64 of user:password after "Basic" outside an Authorization
// header.
func basic(s string, at int) (finding, bool) {
	f, ok := credential(s, at+len("basic "), "basic-auth", 8)
	return f, ok && borderBefore(s, at) && isUserInfo(s[f.start:f.end])
}

// hostAfter reports whether s can begin with a host.
func hostAfter(s string) bool {
	return s[0] >= 0x80 || text.IsAlnum(s[0]) || strings.IndexByte("[{$<%/(_-", s[0]) >= 0
}

// defaultLogin reports whether a user and password are those that documentation
// shows or a service has at first: user:password, guest:guest.
func defaultLogin(user, password string) bool {
	low := strings.ToLower(password)
	return low == strings.ToLower(user) && mixOf(low).digit == 0 || listed("password pass passwd pw pwd secret token your_password yourpassword my_password mypassword password@ changeme", low)
}

// bearer matches the credential after "Bearer".
func bearer(s string, at int) (finding, bool) {
	from := at + len("bearer ")
	f, ok := credential(s, from+run(s[from:], isSpace), "bearer-token", 12)
	return f, ok && borderBefore(s, at)
}

// authorization matches the credential of an Authorization header in HTTP, of a
// name-value pair in any syntax, or of two arguments of a call.
func authorization(s string, at int) (finding, bool) {
	between, i := headerValue(s, at+len("authorization"), len(s))
	quote := openQuote(s[i:])
	if between == "" || strings.Contains(between, ",") && quote == 0 {
		return finding{}, false
	}
	i += quote
	scheme := s[i : i+run(s[i:], func(c byte) bool { return text.IsAlnum(c) || c == '-' })]
	value := i + len(scheme)
	value += run(s[value:min(len(s), value+maxGap)], func(c byte) bool { return isSpace(c) || c == '\\' })
	switch strings.ToLower(scheme) {
	case "bearer":
		return finding{}, false // bearer matches it
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

// headerValue returns the text between a header's name, which ends at offset i, and
// its value, and the offset of the value. The text has at most limit bytes.
func headerValue(s string, i, limit int) (between string, value int) {
	i += closeQuote(s[i:])
	n := run(s[i:min(len(s), i+limit)], func(c byte) bool { return strings.IndexByte(":=>, \t", c) >= 0 })
	value = i + n
	if strings.HasPrefix(s[value:], `\ `) {
		value += 2
	}
	return s[i : i+n], value
}

// identified matches a credential with an optional ID and colon in front.
func identified(s string, from, shortest int) (finding, bool) {
	if n := run(s[from:min(len(s), from+maxUserInfo)], isBearer); n > 0 && from+n < len(s) && s[from+n] == ':' {
		from += n + 1
	}
	return credential(s, from, kindToken, shortest)
}

// maxHeader is the longest header, in bytes.
const maxHeader = 800

// parameter matches the value of one parameter of a header.
func parameter(s string, from int, name string) (finding, bool) {
	line := s[from:min(len(s), from+maxHeader)]
	i := strings.Index(line[:run(line, func(c byte) bool { return !isBreak(c) })], name)
	if i < 0 {
		return finding{}, false
	}
	from += i + len(name)
	return credential(s, from+openQuote(s[from:]), kindSignature, 16)
}

// signature matches the signature of a presigned URL: sig= of Azure,
// X-Amz-Signature= and X-Goog-Signature=.
func signature(s string, at int) (finding, bool) {
	eq := strings.IndexByte(s[at:], '=')
	if at == 0 || s[at] != '-' && s[at-1] != '&' && s[at-1] != '?' {
		return finding{}, false
	}
	from := at + eq + 1
	end := from + run(s[from:min(len(s), from+maxValue)], func(c byte) bool { return isBearer(c) || c == '%' })
	v := s[from:end]
	return finding{kindSignature, from, end}, len(v) >= 32 && hasDigit(v) && !template(v) && !wordLike(v)
}

// credential matches a run of credential characters that looks random, unlike
// "Bearer token" in documentation.
func credential(s string, from int, kind string, shortest int) (finding, bool) {
	end := from + run(s[min(from, len(s)):min(len(s), from+maxBare)], isBearer)
	for end > from && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	v := s[from:end]
	m := mixOf(v)
	looksRandom := lettersOnly(v) || m.digit > 0 && m.letters() > 0 && !wordLike(v) || kind == "basic-auth" && m.upper > 0 && m.lower > 0
	called := end < len(s) && (s[end] == '(' || s[end] == '[')
	return finding{kind, from, end}, len(v) >= shortest && looksRandom && !template(v) && !masked(v) && !called
}

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
	if p, ok := attribute(s, at, i); ok { // {"name": "Cookie", "value": …}
		return cookieValues(s, p.from, p.from+argument(s[p.from:], p.quote))
	}
	between, i := headerValue(s, i, maxGap)
	quote := openQuote(s[i:])
	assigns := strings.ContainsAny(between, ":=") || strings.Contains(between, ",") && quote > 0 || strings.HasSuffix(s[:at], "--")
	if between == "" || i+quote >= len(s) || !assigns {
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
		return max(strings.IndexByte(s, '}'), 0)
	}
	quote := s[:openQuote(s)]
	for i := len(quote); i < len(s); i++ {
		if s[i] > ' ' && strings.IndexByte("\\\"'`", s[i]) < 0 {
			continue
		}
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
