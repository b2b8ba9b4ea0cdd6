package redact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// The kinds that several files use.
const (
	kindPrivateKey = "private-key"
	kindPassword   = "password"
	kindSecret     = "secret"
	kindToken      = "token"
	kindKey        = "api-key"
	kindSignature  = "signature"
)

// isGeneric reports whether a kind follows from a name or context rather than from
// the value.
func isGeneric(kind string) bool {
	return slices.Contains([]string{
		kindPassword, kindSecret, kindToken, kindKey, "bearer-token", "basic-auth", "url-password", kindSignature, kindCookie,
	}, kind)
}

// triggers returns all triggers.
func triggers() []trigger {
	var list []trigger
	for _, t := range tokens() {
		for prefix := range strings.FieldsSeq(t.prefixes) {
			prefix = strings.ReplaceAll(prefix, "␣", " ")
			list = append(list, trigger{lit: prefix, match: func(s string, at int) (finding, bool) { return t.match(s, at, at+len(prefix)) }})
		}
	}
	list = append(list, []trigger{
		// Values of a known format.
		{lit: "AKIA", match: awsSecretNear}, {lit: "ASIA", match: awsSecretNear}, {lit: "eyJ", match: jwt},
		{lit: "SG.", match: sendGrid}, {lit: ":AA", match: telegram},
		{lit: "-----BEGIN ", match: privateKey, wide: true}, {lit: "-----END ", match: privateKeyTail, wide: true},
		{lit: "---- BEGIN SSH2 ", match: ssh2Key, wide: true}, {lit: "-enc ", fold: true, match: powerShell}, {lit: "-encodedcommand ", fold: true, match: powerShell}, {lit: "@tcp(", match: goDSN}, {lit: "@unix(", match: goDSN}, {lit: "basic ", fold: true, match: basic},
		{lit: " code is ", match: oneTimeCode}, {lit: " code: ", match: oneTimeCode},
		{lit: "Private-Lines:", match: privateLines}, {lit: "random_password", match: randomResult}, {lit: " * ", match: chapSecret}, {lit: "<auth-user-pass>", match: authUserPass},
		{lit: "BUNDLE_", match: bundleLogin}, {lit: "data:", matches: manifestData, wide: true}, {lit: `data":`, matches: manifestData, wide: true},
		// URLs and headers.
		{lit: "://", match: urlPassword}, {lit: "sig=", match: signature}, {lit: "-Signature=", match: signature},
		{lit: "bearer ", fold: true, match: bearer}, {lit: "authorization", fold: true, match: authorization},
		{lit: "cookie", fold: true, match: cookie},
		// SQL statements and files with their own syntax.
		{lit: "ified by ", fold: true, match: identifiedBy}, {lit: " by '", fold: true, match: identifiedWith},
		{lit: "password '", fold: true, match: passwordLiteral}, {lit: "password for ", fold: true, match: passwordFor},
		{lit: `-oauth"`, match: oauthMember},
		// Names that are too short for names().
		{lit: "_pass", match: passOfAccount}, {lit: "_PASS", match: passVariable},
		{lit: `pass"`, match: passField}, {lit: `pass: `, match: passField},
		{lit: `"auth`, match: userInfo}, {lit: "_auth=", match: userInfo},
		// Command lines.
		{lit: "pass:", match: opensslPass}, {lit: "curl ", match: curlCluster}, {lit: "-password-stdin", match: piped},
		{lit: "http-basic.", match: poetry}, {lit: "pypi-token.", match: poetry},
	}...)
	for _, w := range encodedWords() {
		list = append(list, trigger{lit: w, encoded: true, wide: true})
	}
	for _, m := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} {
		list = append(list, trigger{lit: `"` + m + `":`, match: jwkMember})
	}
	for _, lit := range []string{"auth=(", "asicAuth(", "redential(", "redentials(", "getConnection(", ".login(", "basic_auth(", "uthenticate(", ".auth(", "sp_addlogin ", "jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode("} {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (finding, bool) { return lastArgument(s, at+len(lit)) }})
	}
	for _, port := range []string{"25", "465", "587", "2525"} {
		list = append(list, trigger{lit: "]:" + port + " ", match: func(s string, at int) (finding, bool) { return accountPair(s, at+len(port)+len("]: ")) }})
	}
	for _, port := range []string{":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":15432:", ":25060:", ":26257:", ":*:"} {
		list = append(list, trigger{lit: port, match: func(s string, at int) (finding, bool) { return pgpass(s, at+len(port)) }})
	}
	for _, p := range positionals() {
		list = append(list, trigger{lit: p.lit, match: p.match})
	}
	for _, lit := range []string{"-with-token", " passwd ", "sudo -S", " cryptsetup ", " kinit ", "-passphrase-fd 0", "--pass-stdin", "--token-stdin", "secret set ", "secrets set ", "secret put ", "secret create "} {
		list = append(list, trigger{lit: lit, match: piped})
	}
	list = append(list, trigger{lit: "chpasswd", match: account}, trigger{lit: "<<< ", match: hereString}, trigger{lit: `\r"`, match: typed})
	for _, m := range marks() {
		list = append(list, trigger{lit: m, match: func(s string, at int) (finding, bool) { return marked(s, at, at+len(m)) }})
	}
	for c := byte('-'); c <= 'z'; c++ {
		if isURLSafe(c) {
			list = append(list, trigger{lit: "." + string(rune(c)), match: discord})
		}
		if text.IsAlnum(c) {
			list = append(list, trigger{lit: "_" + string(rune(c)), match: prefixed}, trigger{lit: "-" + string(rune(c)), match: prefixed})
		}
		if isHex(c) {
			list = append(list, trigger{lit: "-" + string(rune(c)), match: mailgun})
		}
	}
	for _, lit := range []string{"sqlplus ", "sqlldr ", "expdp ", "impdp ", "CONNECT ", "onnect(", ":thin:", ":oci:", "userid="} {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (finding, bool) { return logon(s, at+len(lit)) }})
	}
	for _, w := range append(foreignNames(), "ot de passe", "parola d'ordine", "كلمة المرور", "كلمة السر", "رمز عبور", "clé secrète", "clé d'accès", "clé API", "llave secreta", "chiave segreta", "chave secreta", "API anahtarı", "API-ключ", "API ключ", "секретный ключ", "API密钥", "密钥", "APIキー", "ật khẩu", "arolă") {
		n := named{kind: kindPassword, word: w}
		list = append(list, trigger{lit: w, match: func(s string, at int) (finding, bool) {
			end := at + len(w)
			if w[0] < 0xe0 {
				end += inflected(s[end:])
			}
			if f, ok := n.valued(s, at, end); ok {
				return f, true
			}
			return n.prose(s, at, end)
		}})
	}
	for _, w := range []string{"log in as ", "login as ", "logged in as ", "sign in as ", "signed in as ", "credentials:", "credentials are ", `user = "`, "htpasswd: ", "list: |\n", " on >", "login:", "login ", "wifi:", "user/pass", "account:"} {
		list = append(list, trigger{lit: w, fold: true, match: func(s string, at int) (finding, bool) { return accountPair(s, at+len(w)) }})
	}
	for _, n := range names() {
		list = append(list, trigger{lit: n.word, fold: true, match: n.match, below: n.header})
	}
	return append(list, flagTriggers()...)
}

// maxHead is the longest first part of a JWT, which names an algorithm and a key.
const maxHead = 512

// jwt matches a JSON web token: two or three parts separated by dots, of which the
// first two begin like base64 of a JSON object.
func jwt(s string, at int) (finding, bool) {
	head := run(s[at:min(len(s), at+maxHead)], isURLSafe)
	payload := at + head + 1
	if head < 12 || !strings.HasPrefix(s[min(len(s), payload):], "eyJ") || s[payload-1] != '.' {
		return finding{}, false
	}
	n := run(s[payload:], isURLSafe)
	end := payload + n
	if end < len(s) && s[end] == '.' {
		end += 1 + run(s[end+1:], isURLSafe)
		if s[end-1] == '.' {
			end-- // of the sentence
		}
	}
	return finding{"jwt", at, end}, n >= 8
}

// sendGrid matches SG.<id>.<secret>.
func sendGrid(s string, at int) (finding, bool) {
	id := run(s[at+3:], isURLSafe)
	dot := at + 3 + id
	if id < 16 || dot >= len(s) || s[dot] != '.' {
		return finding{}, false
	}
	n := run(s[dot+1:], isURLSafe)
	return finding{"sendgrid-key", at, dot + 1 + n}, n >= 16 && (borderBefore(s, at) || id == 22 && n == 43)
}

// telegram matches a bot token: <8 to 10 digits>:AA<33 characters>.
func telegram(s string, at int) (finding, bool) {
	start := at - runBefore(s[max(0, at-11):at], text.IsDigit)
	n := run(s[at+1:], isURLSafe)
	return finding{"telegram-token", start, at + 1 + n}, at-start >= 8 && at-start <= 10 && n >= 34 && n <= 36 &&
		(borderBefore(s, start) || strings.HasSuffix(s[:start], "bot"))
}

// discord matches a bot token by its dots: <23 to 28>.<6 or 7>.<27 or more>. It
// runs for every dot before a letter, so the cheap tests come first.
func discord(s string, at int) (finding, bool) {
	second := at + 7
	if second+28 > len(s) || s[second] != '.' && s[second+1] != '.' || at < 23 {
		return finding{}, false
	}
	if s[second] != '.' {
		second++
	}
	end := second + 1 + run(s[second+1:], isURLSafe)
	if end-second-1 < 27 || run(s[at+1:], isURLSafe) != second-at-1 {
		return finding{}, false
	}
	for start := max(0, at-28); start <= at-23; start++ {
		first := s[start:at]
		if strings.IndexByte("MNO", first[0]) >= 0 && borderBefore(s, start) && run(first, isURLSafe) == len(first) && hasDigit(first) {
			return finding{"discord-token", start, end}, true
		}
	}
	return finding{}, false
}

// maxDistance is the longest distance between an AWS key ID and its secret, in
// bytes.
const maxDistance = 200

// awsSecretNear matches the 40 characters of an AWS secret after or before a key
// ID.
func awsSecretNear(s string, at int) (finding, bool) {
	end := at + 4 + run(s[at+4:min(len(s), at+21)], isBase32)
	if end-at != 20 {
		return finding{}, false
	}
	if f, ok := awsSecret(s, end, min(len(s), end+maxDistance)); ok {
		return f, true
	}
	return awsSecret(s[:at], max(0, at-maxDistance), at)
}

func awsSecret(s string, from, to int) (finding, bool) {
	if from > 0 { // skip the end of a run
		from += run(s[from:to], isBase64)
	}
	for i := from; i < to; {
		n := run(s[i:min(len(s), to+maxDistance)], isBase64)
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
			return finding{"aws-secret-key", start, end}, true
		}
	}
	return finding{}, false
}
