package redact

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"strandline/internal/text"
)

// named is a class of names whose value is secret.
type named struct {
	kind string
	word string // part of the name, in lower case
	// whole reports that the word must be a whole part of the name, as in DB_PW.
	whole bool
	// weak reports that only a random value is secret: a key is often an ID.
	weak bool
	// direct reports that nothing is between name and value.
	direct bool
}

func names() []named {
	list := []named{
		{kind: kindPassword, word: "passw"}, {kind: kindPassword, word: "passphrase"}, {kind: kindPassword, word: "passcode"}, {kind: kindPassword, word: "pwd"},
		{kind: kindPassword, word: "rediscli_auth"}, {kind: kindPassword, word: "requirepass"}, {kind: kindPassword, word: "sshpass"}, {kind: kindPassword, word: "masterauth"},
		{kind: kindSecret, word: "secret"}, {kind: kindToken, word: "token"}, {kind: kindKey, word: "key"}, {kind: kindKey, word: "appid", whole: true, weak: true},
		{kind: kindPassword, word: "cred", whole: true}, {kind: kindPassword, word: "mnemonic"}, {kind: kindPassword, word: "seed phrase"}, {kind: kindPassword, word: "recovery phrase"},
		{kind: kindSecret, word: "service_role", weak: true},
	}
	for w := range strings.FieldsSeq("pw psk authtok pass") {
		list = append(list, named{kind: kindPassword, word: w, whole: true})
	}
	for w := range strings.FieldsSeq("auth salt pepper seed jwt hmac pat otp totp psk signature license licence sessionid csrf webhook art-api") {
		list = append(list, named{kind: kindSecret, word: w, whole: true, weak: true})
	}
	return list
}

// foreignNames are words for "password" in other languages, whose capitals differ.
func foreignNames() []string {
	return strings.Fields("Kennwort kennwort Contraseña contraseña Senha senha Wachtwoord wachtwoord Hasło hasło Lösenord lösenord Adgangskode adgangskode " +
		"Passord passord Clave clave Salasana salasana Heslo heslo Jelszó jelszó Şifre şifre Parola parola Пароль пароль Пароля пароля 密码 密碼 口令 パスワード 비밀번호 סיסמה Κωδικός κωδικός पासवर्ड পাসওয়ার্ড รหัสผ่าน Лозинка лозинка parol lozinka geslo slaptažod contrasenya sandi chlüssel")
}

// maxName is the longest part of a name before or after its word.
const maxName = 48

// match matches the value of a name that contains the word at offset at.
func (n named) match(s string, at int) (finding, bool) {
	end := at + len(n.word)
	end += run(s[end:min(len(s), end+maxName)], isURLSafe)
	start := at
	for start > 0 && at-start < maxName && (isURLSafe(s[start-1]) || s[start-1] == '.') && sameName(s, start) {
		start--
	}
	if start < at && (s[start] == '-' || s[start] == '.') && !strings.HasPrefix(s[start:], "--") { // of a diff or a list
		start++
	}
	base64 := func(i int) bool { return i >= 0 && i < len(s) && (s[i] == '+' || s[i] == '/') }
	if n.whole && (base64(start-1) || base64(end)) {
		return finding{}, false
	}
	if n.word == "pwd" && s[start:end] == "PWD" || !n.secretName(s, start, at, end) { // the shell's working directory
		return finding{}, false
	}
	if n.word == "key" {
		switch h := strings.ToLower(strings.TrimRight(s[start:at], "_-.")); {
		case h == "" && !twoWords(s[:at]) && !storesSecret(s, at) && !bareKey(s, start) || publicKey(h):
			return finding{}, false
		case h == "" && !twoWords(s[:at]) || h != "" && !secretKey(h):
			n.weak = true
		}
	}
	if n.word == "pass" { // it may be a test that passed
		before := strings.TrimRight(s[start:at], "-_")
		if end == at+len(n.word) && accountWord(before[len(before)-runBefore(before, text.IsLetter):]) { // remotepass, --dbpass
			return n.valued(s, start, end)
		}
		if f, ok := passArgument(s, start, end); ok {
			return f, true
		}
		if s[start:end] != "pass" && s[start:end] != "Pass" {
			return finding{}, false
		}
		if f, ok := n.valued(s, start, end); ok && mingled(s[f.start:f.end]) {
			return f, true
		}
		f, ok := n.prose(s, start, end)
		return f, ok && mixOf(s[f.start:f.end]).digit > 1
	}
	if f, ok := n.valued(s, start, end); ok {
		return f, true
	}
	if end < len(s) && s[end] == '/' && n.kind != kindPassword && strings.EqualFold(s[start:end], n.word) { // in the path of a URL
		stop := end + 1 + run(s[end+1:min(len(s), end+1+maxBody)], isURLSafe)
		return finding{n.kind, end + 1, stop}, stop-end > 24 && isMixedKey(s[end+1:stop]) && !isUUID(s[end+1:stop])
	}
	if n.word == "cred" { // credentials for the demo: admin / …
		i := end
		for range maxWordsBetween {
			i += blanks(s[min(i, len(s)):])
			w := proseWord(s[min(i, len(s)):])
			if w == 0 || connector(s[i:], w) > 0 || s[i:i+w] == "are" {
				break
			}
			i += w
		}
		if i >= len(s) || s[i] != ':' && connector(s[i:], proseWord(s[i:])) == 0 && !strings.HasPrefix(s[i:], "are ") {
			return finding{}, false
		}
		if s[i] != ':' {
			i += proseWord(s[i:])
		}
		return accountPair(s, i)
	}
	return n.prose(s, start, end)
}

// passArgument matches the value after the name "pass" where the context shows that it
// is no test that passed: an option of mount, a command of FTP, a field of rclone.
func passArgument(s string, start, end int) (finding, bool) {
	var f finding
	ok := false
	switch {
	case end >= len(s) || start == 0:
		return finding{}, false
	case s[end] == '=' && (s[start-1] == ',' || strings.HasPrefix(s[start:], "--")):
		f, ok = chosen(s, end+1, end+1+run(s[end+1:min(len(s), end+1+maxBare)], func(c byte) bool { return c > ' ' && strings.IndexByte(",\"'`", c) < 0 }))
	case s[end] == ' ' && (s[start:end] == "PASS" && s[start-1] == '\n' && strings.Contains(s[max(0, start-maxCommand):start], "USER ") || strings.Contains(command(s[:start]), "rclone config")):
		f, ok = chosenArgument(s, end+1)
	}
	return f, ok && mixOf(s[f.start:f.end]).letters() > 0 && hasDigit(s[f.start:f.end])
}

// valued matches the value of the name s[start:end] in any notation.
func (n named) valued(s string, start, end int) (finding, bool) {
	p, ok := findValue(s, start, end)
	if !ok || start > 0 && p.name == end && p.quote != "" && s[start-1] == p.quote[0] { // "NAME=" + value
		return finding{}, false
	}
	p.kind, p.weak = n.kind, n.weak
	p.constant = run(s[start:end], isConstant) == end-start
	p.env = p.constant && (p.op == '=' && p.name == end || p.attribute)
	p.line = lineStarts(s, start)
	p.start, p.cred = start, n.word == "cred"
	return p.value(s)
}

// secretName reports whether the name s[start:end] with the word at offset at is
// the name of a secret.
func (n named) secretName(s string, start, at, end int) bool {
	after := s[at+len(n.word) : end]
	if n.word == "auth" && s[start:end] == "auth" || s[start:end] == "_auth" { // userInfo matches it
		return false
	}
	if n.word == "cred" {
		for _, w := range []string{"entials", "ential", "s"} {
			if text.HasPrefixFold(after, w) {
				after = after[len(w):]
				break
			}
		}
	}
	if !n.secretSuffix(after) || containsFold(s[start:at], "public") {
		return false
	}
	if n.word == "pw" || n.word == "pass" {
		if before := strings.TrimRight(s[start:at], "-_"); accountWord(before[len(before)-runBefore(before, text.IsLetter):]) {
			return true
		}
	}
	border := at == start || !text.IsLetter(s[at-1]) || text.IsLower(s[at-1]) && text.IsUpper(s[at])
	return border || !n.whole && (n.word != "key" || secretKey(strings.ToLower(s[start:at])))
}

// secretKey reports whether h, the part of a name before "key", makes it secret in
// any form.
func secretKey(h string) bool {
	return slices.ContainsFunc([]string{
		"api", "access", "private", "auth", "signing", "encryption", "encrypt", "master", "account", "service", "storage", "webhook", "deploy",
		"license", "subscription", "admin", "app", "application", "jwt", "hmac", "aes", "openai", "anthropic", "stripe", "sendgrid", "twilio",
		"mailgun", "datadog", "azure", "gemini", "secret", "preshared", "shared", "ingestion", "ingest", "integration", "client", "consumer",
		"token", "session", "cookie", "fernet", "recovery", "unseal", "write", "read",
	}, func(w string) bool { return strings.HasSuffix(h, w) })
}

// publicKey reports whether h, the part of a name before "key", names an ID.
func publicKey(h string) bool {
	return slices.ContainsFunc([]string{
		"public", "pub", "primary", "foreign", "sort", "partition", "cache", "idempotency", "row", "shard", "routing", "range", "unique", "group", "index",
		"map", "object", "registry", "kms", "host", "known", "encoding", "hot", "arrow", "function", "modifier", "any", "next", "prev", "first", "last",
		"project", "issue", "page", "lookup", "config", "query", "field", "column", "table", "type", "event", "state", "hash", "dedupe", "dedup", "sum", "publishable",
		"data", "schema", "file", "s3", "path", "request", "memo", "node", "metric", "label", "item", "entry", "content", "block", "chunk", "lock", "context", "id",
		"react", "test", "build", "store", "bucket", "image", "layer", "document", "record", "stream", "message", "user", "thread", "line", "result",
	}, func(w string) bool { return strings.HasSuffix(h, w) })
}

// twoWords reports whether s ends with the first word of a name of two: "API key".
func twoWords(s string) bool {
	if !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, "-") {
		return false
	}
	s = s[:len(s)-1]
	w := strings.ToLower(s[len(s)-runBefore(s, text.IsLetter):])
	return slices.Contains([]string{"api", "access", "secret", "private", "account", "auth", "encryption", "master", "unseal", "license", "deploy", "webhook", "service"}, w)
}

// bareKey reports whether "key" alone is the name of a secret: in a query, or in
// "the key: …".
func bareKey(s string, start int) bool {
	if inQuery(s, start) && s[start-1] != ' ' {
		return true
	}
	w := strings.TrimRight(s[max(0, start-maxName):start], " ")
	return len(w) < start && listed("the my your our this new", strings.ToLower(w[len(w)-runBefore(w, text.IsLetter):]))
}

// storesSecret reports whether the name at offset at is that of a secret which a
// command stores.
func storesSecret(s string, at int) bool {
	if !strings.HasPrefix(s[at:], "key=") {
		return false
	}
	line := command(s[:at])
	return containsAny(line, "vault kv put ", "vault write ", "vault kv patch ", "--from-literal")
}

// lineStarts reports whether the name at offset start begins its line, apart from
// indentation, the marks of diffs and lists, line numbers and "export".
func lineStarts(s string, start int) bool {
	line := s[max(0, start-maxName):start]
	if i := strings.LastIndexAny(line, "\r\n"); i >= 0 {
		line = line[i+1:]
	} else if i := strings.LastIndex(line, `\n`); i >= 0 {
		line = line[i+2:]
	} else if len(line) == maxName {
		return false
	}
	line = strings.TrimSuffix(strings.TrimRight(line, " \t\"'"), "export")
	return strings.Trim(line, " \t+-*>|\"'0123456789:→│") == ""
}

// findValue finds the value of the name s[start:end] in any syntax.
func findValue(s string, start, end int) (pair, bool) {
	if p, ok := element(s, start, end); ok {
		return p, true
	}
	if p, ok := argumentAfter(s, start, end); ok && !endsWithNameKey(s[:start]) {
		return p, true
	}
	if p, ok := defaultOf(s, start, end); ok {
		return p, true
	}
	if p, ok := setter(s, start, end); ok {
		return p, true
	}
	p, ok := separator(s, end)
	if !ok {
		return attribute(s, start, end)
	}
	option := strings.HasPrefix(s[start:], "--") || start > 0 && s[start-1] == '-'
	switch p.op {
	case '=':
		p.certain = p.name == end && (option || inQuery(s, start))
	case ' ':
		if p.certain = afterLogin(s[:start]); !p.certain && !option {
			return p, setByCommand(s[:start])
		}
		if option && !p.certain {
			_, _, p.certain = findProgram(command(s[:start]), passwordPrograms())
		}
	}
	return p, true
}

// setByCommand reports whether s ends with a command that sets a configuration
// value: aws configure set, npm config set.
func setByCommand(s string) bool {
	s = s[max(0, len(s)-maxCommand):]
	if i := strings.LastIndexByte(s, ' ') + 1; i > 0 && i < len(s) {
		s = s[:i]
	}
	return setsVariable(s) || strings.HasSuffix(s, "configure set ") || strings.HasSuffix(s, "config set ")
}

// setsVariable reports whether s ends with a command that takes a variable's name
// and its value: setx, setenv, fish's set -x.
func setsVariable(s string) bool {
	s = strings.TrimRight(s, " \"'")
	for _, w := range []string{"setx", "setenv", "set -x", "set -gx", "set -Ux", "set -lx", "set -xg", "set -xU"} {
		if strings.HasSuffix(s, w) && borderBefore(s, len(s)-len(w)) {
			return true
		}
	}
	return false
}

// sameName reports whether the byte before i belongs to the same name, unlike the
// n of an escaped newline.
func sameName(s string, i int) bool {
	return !(i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r'))
}

// secretSuffix reports whether a name with the suffix t after the word is secret:
// TOKEN_2 and SECRET_KEY are, token_count and passwordField are not.
func (n named) secretSuffix(t string) bool {
	if n.word == "passw" && t != "" {
		endings := []string{"ord", "d", "ort"}
		i := slices.IndexFunc(endings, func(w string) bool { return text.HasPrefixFold(t, w) })
		if i < 0 {
			return false
		}
		t = t[len(endings[i]):]
	}
	for t != "" {
		t = strings.TrimLeft(t, "_-")
		n := cmp.Or(run(t, text.IsDigit), neutralWord(t))
		if n == 0 {
			return t == ""
		}
		t = t[n:]
	}
	return true
}

// neutralWord returns the length of a word that can follow in the name of a
// secret.
func neutralWord(t string) int {
	for _, w := range []string{
		"value", "key", "base", "access", "api", "auth", "prod", "production", "dev", "development", "test", "testing", "staging",
		"live", "old", "new", "primary", "secondary", "main", "root", "admin", "token", "secret", "password",
		"string", "plain", "raw", "b64", "base64",
	} {
		if n := len(w); text.HasPrefixFold(t, w) && (len(t) == n || !text.IsLower(t[n])) {
			return n
		}
	}
	return 0
}

// inQuery reports whether the name at offset start belongs to a query or
// connection string: after ?, & or ;, or among the blank-separated pairs of libpq
// (host=db user=me password=…).
func inQuery(s string, start int) bool {
	if start == 0 {
		return false
	}
	switch s[start-1] {
	case '?', '&', ';':
		return true
	case ' ':
		line := s[max(0, start-maxCommand):start]
		line = line[strings.LastIndexAny(line, "\n\r,(")+1:]
		return slices.ContainsFunc([]string{"host=", "dbname=", "user=", "server=", "hostaddr="}, func(w string) bool {
			i := strings.Index(line, w)
			return i >= 0 && borderBefore(line, i)
		})
	}
	return false
}

// afterLogin reports whether s ends like a .netrc entry before its password:
// machine HOST login NAME, or default login NAME, on one or several lines.
func afterLogin(s string) bool {
	s = s[max(0, len(s)-maxCommand):]
	if !strings.Contains(s, "login ") {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(s, `\n`, " "))
	n := len(words)
	return n >= 3 && words[n-2] == "login" && (words[n-3] == "default" || n >= 4 && words[n-4] == "machine")
}

// pgpass matches the password of a .pgpass line, host:5432:database:user:secret,
// of which the database is at offset at.
func pgpass(s string, at int) (finding, bool) {
	i := at
	for range 2 { // the database and the user
		n := run(s[i:min(len(s), i+maxName)], func(c byte) bool { return isURLSafe(c) || c == '*' || c == '.' })
		if n == 0 || i+n >= len(s) || s[i+n] != ':' {
			return finding{}, false
		}
		i += n + 1
	}
	return chosen(s, i, i+argument(s[i:], ""))
}

// passVariable matches DB_PASS=secret. _PASSWORD is matched by name.
func passVariable(s string, at int) (finding, bool) {
	end := at + len("_PASS")
	end += run(s[end:min(len(s), end+maxName)], func(c byte) bool { return text.IsDigit(c) || c == '_' })
	p, ok := separator(s, end)
	if !ok || p.op != '=' || p.name != end || runBefore(s[:at], isConstant) == 0 {
		return finding{}, false
	}
	p.env = true
	f, ok := p.value(s)
	return f, ok && mixOf(s[f.start:f.end]).digit < f.end-f.start // a number counts tests
}

// passOfAccount matches ansible_become_pass=secret and db_pass: "secret". The word
// before distinguishes a password from a passed test.
func passOfAccount(s string, at int) (finding, bool) {
	before := s[at-runBefore(s[:at], text.IsLetter) : at]
	if !accountWord(before) {
		return finding{}, false
	}
	p, ok := separator(s, at+len("_pass"))
	if !ok || p.op == ' ' {
		return finding{}, false
	}
	return p.value(s)
}

// accountWord reports whether w, in a name before "pass" or "pw", says whose password
// it is.
func accountWord(w string) bool {
	return listed("become ssh sudo db database user admin root smtp mail email ftp proxy redis mysql pg postgres http auth login vault wifi ldap mqtt rabbitmq imap pop pop3 remote bind my app sql rpc", strings.ToLower(w))
}

// passField matches "pass": "…" in JSON and pass: '…' in code if the value looks
// random; otherwise it may be a test that passed.
func passField(s string, at int) (finding, bool) {
	p, ok := separator(s, at+len("pass"))
	if !ok || p.op == ' ' || p.quote == "" || !borderBefore(s, at) {
		return finding{}, false
	}
	f, ok := p.value(s)
	return f, ok && !wordLike(s[f.start:f.end]) && hasDigit(s[f.start:f.end])
}

// userInfo matches the registry credentials of npm and docker: base64 of
// user:password after _auth= or "auth":.
func userInfo(s string, at int) (finding, bool) {
	p, ok := separator(s, at+len("_auth"))
	if !ok || p.op == ' ' {
		return finding{}, false
	}
	n := run(s[p.from:min(len(s), p.from+maxBare)], isBase64)
	return finding{"basic-auth", p.from, p.from + n}, isUserInfo(s[p.from : p.from+n])
}

// isUserInfo reports whether v is base64 of user:password.
func isUserInfo(v string) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	colon := strings.IndexByte(string(text), ':')
	return err == nil && colon >= 1 && colon <= len(text)-3 && run(string(text), func(c byte) bool { return c >= ' ' && c < 0x7f }) == len(text)
}
