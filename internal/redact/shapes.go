package redact

import "strings"

// kinds that more than one file names
const (
	kindPrivateKey = "private-key"
	kindPassword   = "password"
	kindSecret     = "secret"
	kindToken      = "token"
	kindKey        = "api-key"
	kindSignature  = "signature"
)

// vague reports whether a kind comes from a name only and says less than what
// the value itself shows.
func vague(kind string) bool {
	switch kind {
	case kindPassword, kindSecret, kindToken, kindKey, "bearer-token", "basic-auth", "url-password", kindSignature, kindCookie:
		return true
	}
	return false
}

// triggers lists everything that scan looks for.
func triggers() []trigger {
	var list []trigger
	for _, t := range tokens() {
		list = append(list, t.trigger())
	}
	for _, id := range []string{"AKIA", "ASIA"} {
		list = append(list, trigger{lit: id, match: awsSecretNear})
	}
	list = append(list,
		trigger{lit: "-----BEGIN ", match: privateKey},
		trigger{lit: "-----END ", match: privateKeyTail},
		trigger{lit: "eyJ", match: jwt},
		trigger{lit: "SG.", match: sendGrid},
		trigger{lit: ":AA", match: telegram},
		trigger{lit: "://", match: urlPassword},
		trigger{lit: "bearer ", fold: true, match: bearer},
		trigger{lit: "authorization", fold: true, match: authorization},
		trigger{lit: "cookie", fold: true, match: cookie},
		trigger{lit: "ified by ", fold: true, match: identifiedBy},
		trigger{lit: " by '", fold: true, match: identifiedWith},
		trigger{lit: "password '", fold: true, match: passwordLiteral},
		trigger{lit: "password for ", fold: true, match: passwordFor},
		trigger{lit: "_pass", match: passOfAccount},
		trigger{lit: ":5432:", match: pgpass},
		trigger{lit: "_PASS", match: passVariable},
		trigger{lit: `pass"`, match: passField},
		trigger{lit: `pass: `, match: passField},
		trigger{lit: `"auth`, match: userInfo},
		trigger{lit: "_auth=", match: userInfo},
		trigger{lit: "sig=", match: signature},
		trigger{lit: "-Signature=", match: signature},
	)
	for c := byte('-'); c <= 'z'; c++ {
		if isURLSafe(c) {
			list = append(list, trigger{lit: "." + string(rune(c)), match: discord})
		}
	}
	list = append(list, oracleTriggers()...)
	list = append(list, flagTriggers()...)
	return append(list, nameTriggers()...)
}

// maxHead bounds the first part of a JWT, which names an algorithm and a key.
const maxHead = 512

// jwt matches a JSON web token: two or three dotted parts, of which the first
// two begin like base64 of a JSON object.
func jwt(s string, at int) (Finding, bool) {
	head := run(s[at:min(len(s), at+maxHead)], isURLSafe)
	payload := at + head + 1
	if head < 12 || !strings.HasPrefix(s[min(len(s), payload):], "eyJ") || s[payload-1] != '.' {
		return Finding{}, false
	}
	n := run(s[payload:], isURLSafe)
	if n < 8 {
		return Finding{}, false
	}
	end := payload + n
	if end < len(s) && s[end] == '.' {
		end += 1 + run(s[end+1:], isURLSafe)
		if s[end-1] == '.' {
			end-- // of the sentence
		}
	}
	return Finding{Kind: "jwt", Start: at, End: end}, true
}

// sendGrid matches SG.<id>.<secret>.
func sendGrid(s string, at int) (Finding, bool) {
	id := run(s[at+3:], isURLSafe)
	dot := at + 3 + id
	if id < 16 || dot >= len(s) || s[dot] != '.' {
		return Finding{}, false
	}
	n := run(s[dot+1:], isURLSafe)
	if n < 16 || !borderBefore(s, at) && (id != 22 || n != 43) {
		return Finding{}, false
	}
	return Finding{Kind: "sendgrid-key", Start: at, End: dot + 1 + n}, true
}

// telegram matches a bot token: <8 to 10 digits>:AA<33 characters>.
func telegram(s string, at int) (Finding, bool) {
	start := at
	for start > 0 && at-start <= 10 && isDigit(s[start-1]) {
		start--
	}
	n := run(s[at+1:], isURLSafe)
	if at-start < 8 || at-start > 10 || n < 34 || n > 36 || !borderBefore(s, start) && !strings.HasSuffix(s[:start], "bot") {
		return Finding{}, false
	}
	return Finding{Kind: "telegram-token", Start: start, End: at + 1 + n}, true
}

// discord matches a bot token by its dots: <23 to 28>.<6 or 7>.<27 or more>. It
// is asked at every pair of a dot and a letter, so the cheap tests come first.
func discord(s string, at int) (Finding, bool) {
	second := at + 7
	if second+28 > len(s) || s[second] != '.' && s[second+1] != '.' || at < 23 {
		return Finding{}, false
	}
	if s[second] != '.' {
		second++
	}
	end := second + 1 + run(s[second+1:], isURLSafe)
	if end-second-1 < 27 || run(s[at+1:], isURLSafe) != second-at-1 {
		return Finding{}, false
	}
	for start := max(0, at-28); start <= at-23; start++ {
		first := s[start:at]
		if strings.IndexByte("MNO", first[0]) >= 0 && borderBefore(s, start) && run(first, isURLSafe) == len(first) && hasDigit(first) {
			return Finding{Kind: "discord-token", Start: start, End: end}, true
		}
	}
	return Finding{}, false
}

// near is how far from an AWS key id its secret is looked for.
const near = 200

// awsSecretNear matches the 40 characters of an AWS secret behind or before a
// key id, whatever stands between.
func awsSecretNear(s string, at int) (Finding, bool) {
	end := at + 4 + run(s[at+4:], isBase32)
	if end-at != 20 {
		return Finding{}, false
	}
	if f, ok := awsSecret(s, end, min(len(s), end+near)); ok {
		return f, true
	}
	return awsSecret(s[:at], max(0, at-near), at)
}

func awsSecret(s string, from, to int) (Finding, bool) {
	if from > 0 { // not in the middle of a run
		from += run(s[from:to], isBase64)
	}
	for i := from; i < to; {
		n := run(s[i:], isBase64)
		start, end := i, i+n
		i = end + 1
		for start < end && s[start] == '=' { // of name=value
			start++
		}
		if eq := strings.IndexByte(s[start:end], '='); eq >= 0 && end-start-eq-1 == 40 {
			start += eq + 1
		}
		m := mixOf(s[start:end])
		if end-start == 40 && m.lower > 4 && m.upper > 4 && m.digit > 0 && !strings.Contains(s[start:end], "=") {
			return Finding{Kind: "aws-secret-key", Start: start, End: end}, true
		}
	}
	return Finding{}, false
}
