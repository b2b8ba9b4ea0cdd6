package redact

import "strings"

// oracleTriggers are the places where Oracle's USER/PASSWORD@DATABASE stands. Each
// holds a pair of letters that is rare in text; that of "connect" is not.
func oracleTriggers() []trigger {
	var list []trigger
	for _, lit := range []string{"sqlplus ", "sqlldr ", "expdp ", "impdp ", "CONNECT ", "onnect(", ":thin:", ":oci:", "userid="} {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (Finding, bool) { return logon(s, at+len(lit)) }})
	}
	return list
}

// maxOptions is how many options may stand between a program and a logon.
const maxOptions = 4

// logon matches the password of USER/PASSWORD@DATABASE, which begins at offset i
// or behind options.
func logon(s string, i int) (Finding, bool) {
	i += blanks(s[min(i, len(s)):])
	for range maxOptions {
		if i >= len(s) || s[i] != '-' {
			break
		}
		i += run(s[i:min(len(s), i+maxName)], func(c byte) bool { return c == '-' || isWord(c) })
		i += blanks(s[i:])
	}
	i += openers(s[min(i, len(s)):])
	name := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isDotted(c) || c == '$' || c == '#' })
	start := i + name + 1
	if name == 0 || start >= len(s) || s[start-1] != '/' {
		return Finding{}, false
	}
	n := run(s[start:min(len(s), start+maxBare)], func(c byte) bool { return c > ' ' && strings.IndexByte("@/\"'`\\,;|<>", c) < 0 })
	if end := start + n; end+1 < len(s) && s[end] == '@' && (isAlnum(s[end+1]) || strings.IndexByte("/($&{[", s[end+1]) >= 0) {
		return chosen(s, start, end)
	}
	return Finding{}, false
}

// identifiedBy matches IDENTIFIED BY 'secret' where a user is created or changed;
// without quotes, as Oracle takes it, in capitals only: prose says so, too.
func identifiedBy(s string, at int) (Finding, bool) {
	if !defines(s[:at]) {
		return Finding{}, false
	}
	i := at + len("ified by ")
	i += blanks(s[i:])
	quote := s[i : i+openers(s[i:])]
	if quote == "" && isLower(s[at]) || strings.HasSuffix(quote, "`") {
		return Finding{}, false
	}
	i += len(quote)
	return chosen(s, i, i+argument(s[i:], quote))
}

// identifiedWith matches IDENTIFIED WITH plugin BY 'secret'.
func identifiedWith(s string, at int) (Finding, bool) {
	before := s[max(0, at-maxName):at]
	if !strings.Contains(strings.ToLower(before), "identified with ") || !defines(s[:at]) {
		return Finding{}, false
	}
	i := at + len(" by '")
	return chosen(s, i, i+argument(s[i:], "'"))
}

// passwordLiteral matches CREATE ROLE name PASSWORD 'secret'.
func passwordLiteral(s string, at int) (Finding, bool) {
	if !defines(s[:at]) {
		return Finding{}, false
	}
	i := at + len("password '")
	return chosen(s, i, i+argument(s[i:], "'"))
}

// passwordFor matches SET PASSWORD FOR name = 'secret', or = PASSWORD('secret').
func passwordFor(s string, at int) (Finding, bool) {
	i := at + len("password for ")
	eq := strings.IndexAny(s[i:min(len(s), i+maxCommand)], "=\r\n;")
	if eq < 0 || s[i+eq] != '=' {
		return Finding{}, false
	}
	i += eq + 1
	i += blanks(s[i:])
	const function = "password("
	if len(s)-i > len(function) && equalFold(s[i:i+len(function)], function) {
		i += len(function)
	}
	quote := s[i : i+openers(s[i:])]
	if quote == "" {
		return Finding{}, false
	}
	i += len(quote)
	return chosen(s, i, i+argument(s[i:], quote))
}

// defines reports whether s ends in a statement of SQL that creates or changes a
// user.
func defines(s string) bool {
	s = strings.ToLower(s[max(0, len(s)-maxCommand):])
	s = s[strings.LastIndexByte(s, ';')+1:]
	for _, verb := range []string{"create ", "alter ", "grant "} {
		if _, rest, ok := strings.Cut(s, verb); ok {
			for _, what := range []string{"user ", "role ", "login ", "group ", " to "} {
				if strings.Contains(rest, what) {
					return true
				}
			}
		}
	}
	return false
}
