package redact

import (
	"strings"

	"strandline/internal/text"
)

// privateLines matches the key of a PuTTY file, after Private-Lines.
func privateLines(s string, at int) (finding, bool) {
	i := at + len("Private-Lines:")
	i += run(s[i:], func(c byte) bool { return isSpace(c) || text.IsDigit(c) })
	n, material := keyLines(s[i:])
	start := i + newline(s[i:])
	return finding{kindPrivateKey, start, i + n}, material >= minBroken && i+n > start
}

// jwkMember matches a private member of a JSON Web Key.
func jwkMember(s string, at int) (finding, bool) {
	i := at + strings.IndexByte(s[at:], ':') + 1
	i += blanks(s[i:])
	i += openQuote(s[i:])
	end := i + run(s[i:], isURLSafe)
	const near = 2 << 10
	return finding{kindPrivateKey, i, end}, end-i >= 20 && hasDigit(s[i:end]) && strings.Contains(s[max(0, at-near):min(len(s), at+near)], `"kty"`)
}

// randomResult matches the result of Terraform's random_password.
func randomResult(s string, at int) (finding, bool) {
	const member = `"result":`
	i := strings.Index(s[at:min(len(s), at+maxHeader)], member)
	if i < 0 {
		return finding{}, false
	}
	i += at + len(member)
	return chosenArgument(s, i+blanks(s[i:]))
}

// lastArgument matches the last string of a call or tuple that takes a user and a
// password. s[i:] begins with the first argument.
func lastArgument(s string, i int) (finding, bool) {
	last, count := finding{}, 0
	for stop := min(len(s), i+maxCommand); i < stop && s[i] != ')' && !isBreak(s[i]); {
		if q := openQuote(s[i:]); q > 0 {
			n := argument(s[i+q:], s[i:i+q])
			last = finding{kindPassword, i + q, i + q + n}
			i = last.end + q
			continue
		}
		if s[i] == ',' {
			count, last = count+1, finding{}
		}
		i++
	}
	if last.end == 0 || count == 0 {
		return finding{}, false
	}
	v := s[last.start:min(last.end, len(s))]
	f, ok := chosen(s, last.start, last.end)
	return f, ok && len(v) >= minMixed && !wordLikeName(v)
}

// wordLikeName reports whether v is a name rather than a password.
func wordLikeName(v string) bool {
	return mixOf(v).digit == 0 && run(v, isDotted) == len(v) || strings.ContainsAny(v, " /{") || partOf(v) && wordLike(v)
}

// chapSecret matches the third of the four words of a line of chap-secrets.
func chapSecret(s string, at int) (finding, bool) {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	line := s[start:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	w := strings.Fields(line)
	if len(w) != 4 || w[1] != "*" || w[3] != "*" || at < start || mixOf(w[2]).letters() == 0 {
		return finding{}, false
	}
	i := at + len(" * ")
	i += blanks(s[i:])
	return chosenArgument(s, i)
}

// authUserPass matches the second line of OpenVPN's inline login.
func authUserPass(s string, at int) (finding, bool) {
	i := at + len("<auth-user-pass>")
	for range 2 {
		n := newline(s[i:])
		if n == 0 {
			return finding{}, false
		}
		i += n
		if k := run(s[i:], func(c byte) bool { return c > ' ' && c != '\\' && c != '<' }); newline(s[i+k:]) > 0 && s[i] != '<' {
			if f, ok := chosen(s, i, i+k); ok && i > at+len("<auth-user-pass>")+n {
				return f, true
			}
			i += k
		}
	}
	return finding{}, false
}

// bundleLogin matches BUNDLE_HOST__COM: "user:secret" of Bundler.
func bundleLogin(s string, at int) (finding, bool) {
	i := at + run(s[at:min(len(s), at+maxName)], isConstant)
	p, ok := separator(s, i)
	if !ok || p.op == ' ' || !strings.Contains(s[at:i], "__") {
		return finding{}, false
	}
	end := p.from + argument(s[p.from:], p.quote)
	colon := strings.IndexByte(s[p.from:end], ':')
	if colon < 1 {
		return chosenValue(s, p.from, end)
	}
	return chosenValue(s, p.from+colon+1, end)
}

// chosenValue is chosen for a value that has a digit.
func chosenValue(s string, start, end int) (finding, bool) {
	f, ok := chosen(s, start, end)
	return f, ok && hasDigit(s[start:end]) && len(s[start:end]) >= minMixed && !strings.Contains(s[start:end], "/")
}

// oauthMember matches the token of a host in Composer's auth.json.
func oauthMember(s string, at int) (finding, bool) {
	i := at + len(`-oauth"`)
	n := strings.Index(s[i:min(len(s), i+maxTag)], `":`)
	if n < 0 {
		return finding{}, false
	}
	i += n + len(`":`)
	i += blanks(s[i:])
	f, ok := chosenArgument(s, i)
	return f, ok && len(s[f.start:f.end]) >= 20 && hasDigit(s[f.start:f.end])
}

// hereString matches the input of a command that stores or takes a secret.
func hereString(s string, at int) (finding, bool) {
	f, ok := chosenArgument(s, at+len("<<< "))
	return f, ok && hasDigit(s[f.start:f.end]) && containsAny(strings.ToLower(command(s[:at])), "secret", "passw", "token", "login")
}

// typed matches what a script for expect types: send "secret\r".
func typed(s string, at int) (finding, bool) {
	const send = `send "`
	i := strings.LastIndex(s[max(0, at-maxName):at], send)
	if i < 0 {
		return finding{}, false
	}
	i += max(0, at-maxName) + len(send)
	v := s[i:at]
	return finding{kindPassword, i, at}, len(v) >= minMixed && hasDigit(v) && mixOf(v).letters() > 0 && !strings.ContainsAny(v, " /$\\") && !term(v) && !masked(v)
}
