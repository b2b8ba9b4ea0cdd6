package redact

import (
	"strings"

	"strandline/internal/text"
)

// token is a kind of secret with a known prefix.
type token struct {
	kind     string
	prefixes string          // separated by blanks
	set      func(byte) bool // alphabet of the characters after the prefix
	min      int             // minimum number of those characters
	// valid, if set, checks the characters after the prefix.
	valid func(body string) bool
	// value reports that the prefix is not part of the secret.
	value bool
	// inWord decides whether to accept a token after a word character; nil means
	// looksRandom.
	inWord func(body string) bool
	// fixed reports that a word character may follow, because length and alphabet
	// determine the end.
	fixed bool
}

// tokens lists the known prefixes. The minimum lengths are below those of the
// providers, because tokens may be truncated.
func tokens() []token {
	return []token{
		{kind: "aws-access-key", prefixes: "AKIA ASIA ABIA ACCA", set: isBase32, min: 16, valid: exactly(16), inWord: isKeyID, fixed: true},
		{kind: "github-token", prefixes: "ghp_ gho_ ghu_ ghr_ github_pat_", set: isWord, min: 20},
		{kind: "github-token", prefixes: "ghs_", set: isDotted, min: 20},
		{kind: "gitlab-token", prefixes: "glpat- gldt- glrt- glptt- glcbt- glsoat-", set: isDotted, min: 16},
		{kind: "slack-token", prefixes: "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", set: isURLSafe, min: 10, valid: hasDigit, inWord: hasDigit},
		{kind: "slack-token", prefixes: "xoxd-", set: isBearer, min: 10, valid: hasDigit, inWord: hasDigit},
		{kind: "slack-token", prefixes: "xoxe.", set: isDotted, min: 10, valid: hasDigit, inWord: hasDigit},
		{kind: "slack-webhook", prefixes: "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", set: isBase64, min: 20, value: true},
		{kind: "discord-webhook", prefixes: "discord.com/api/webhooks/ discordapp.com/api/webhooks/", set: isPath, min: 30, value: true},
		{kind: "google-api-key", prefixes: "AIza", set: isURLSafe, min: 30, inWord: exactly(35)},
		{kind: "google-oauth-secret", prefixes: "GOCSPX-", set: isURLSafe, min: 20},
		{kind: "google-oauth-token", prefixes: "ya29.", set: isURLSafe, min: 20},
		{kind: "google-oauth-token", prefixes: "1//0", set: isURLSafe, min: 40, inWord: never},
		{kind: "anthropic-key", prefixes: "sk-ant-", set: isURLSafe, min: 16},
		{kind: "openai-key", prefixes: "sk-proj- sk-svcacct- sk-admin-", set: isURLSafe, min: 16, valid: hasDigit},
		{kind: "openai-key", prefixes: "sk-", set: isURLSafe, min: 20, valid: isRandomKey, inWord: never},
		{kind: "stripe-key", prefixes: "sk_live_ sk_test_ rk_live_ rk_test_", set: text.IsAlnum, min: 10},
		{kind: "stripe-webhook", prefixes: "whsec_", set: isBase64, min: 16},
		{kind: "npm-token", prefixes: "npm_", set: text.IsAlnum, min: 30},
		{kind: "pypi-token", prefixes: "pypi-Ag", set: isURLSafe, min: 20},
		{kind: "rubygems-key", prefixes: "rubygems_", set: isHex, min: 40},
		{kind: "docker-token", prefixes: "dckr_pat_", set: isURLSafe, min: 20},
		{kind: "twilio-key", prefixes: "SK", set: isHex, min: 32, valid: exactly(32), inWord: never},
		{kind: "azure-key", prefixes: "AccountKey= SharedAccessKey=", set: isBase64, min: 20, value: true},
		{kind: "digitalocean-token", prefixes: "dop_v1_ doo_v1_ dor_v1_", set: isHex, min: 32},
		{kind: "huggingface-token", prefixes: "hf_", set: text.IsAlnum, min: 30, inWord: never},
		{kind: "groq-key", prefixes: "gsk_", set: text.IsAlnum, min: 40},
		{kind: "xai-key", prefixes: "xai-", set: text.IsAlnum, min: 40},
		{kind: "replicate-token", prefixes: "r8_", set: text.IsAlnum, min: 30, inWord: never},
		{kind: "databricks-token", prefixes: "dapi", set: isHex, min: 32},
		{kind: "vault-token", prefixes: "hvs.", set: isURLSafe, min: 20},
		{kind: "shopify-token", prefixes: "shpat_ shpss_", set: isHex, min: 32},
		{kind: "linear-key", prefixes: "lin_api_", set: text.IsAlnum, min: 30},
		{kind: "atlassian-token", prefixes: "ATATT3", set: isBearer, min: 40},
		{kind: "sentry-token", prefixes: "sntrys_", set: isBearer, min: 30},
		{kind: "sentry-token", prefixes: "sntryu_", set: isHex, min: 40},
		{kind: "figma-token", prefixes: "figd_", set: isURLSafe, min: 30},
		{kind: "postman-key", prefixes: "PMAK-", set: isURLSafe, min: 40},
		{kind: "tailscale-key", prefixes: "tskey-", set: isURLSafe, min: 20, valid: hasDigit},
		{kind: "age-key", prefixes: "AGE-SECRET-KEY-1", set: isBase32, min: 40},
	}
}

// maxBody limits the bytes that decide whether a token is one. It bounds the time
// for hostile text, in which many matchers may read the same run.
const maxBody = 128

// match matches the token at offset at, whose prefix ends at offset from. The
// whole run belongs to the secret.
func (t token) match(s string, at, from int) (finding, bool) {
	if t.inWord == nil {
		t.inWord = looksRandom
	}
	end := from + run(s[from:min(len(s), from+maxBody)], t.set)
	body := s[from:end]
	if len(body) < t.min || masked(body) || t.valid != nil && !t.valid(body) || !t.value && !borderBefore(s, at) && !t.inWord(body) {
		return finding{}, false
	}
	end += run(s[end:], t.set)
	for end > from && (s[end-1] == '.' || s[end-1] == '-') { // of the sentence
		end--
	}
	if t.value {
		return finding{t.kind, from, end}, end-from >= t.min
	}
	return finding{t.kind, at, end}, end-from >= t.min && (borderAfter(s, end) || t.fixed && t.inWord(s[from:end]))
}

func isPath(c byte) bool { return isURLSafe(c) || c == '/' }

func exactly(n int) func(string) bool { return func(body string) bool { return len(body) == n } }

func hasDigit(body string) bool { return mixOf(body).digit > 0 }

// never is for prefixes too short to be recognized within a word: "sk-" is in
// "task-", and any three letters occur in base64.
func never(string) bool { return false }

// isKeyID reports whether a body is random base32, unlike machine code in base64,
// which is full of capitals and A.
func isKeyID(body string) bool {
	return !strings.ContainsAny(body, "0189") && !strings.Contains(body, "AAA")
}

// looksRandom reports whether a body is not the rest of a name, for prefixes that
// can end one, as in npm_my_http_handler.
func looksRandom(body string) bool {
	m := mixOf(body)
	return m.digit > 0 && m.letters() > 0 && !wordLike(body)
}

// isRandomKey distinguishes a key from a name in kebab-case, many of which begin
// with "sk-".
func isRandomKey(body string) bool {
	m, longest := mixOf(body), 0
	for part := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		longest = max(longest, len(part))
	}
	return m.digit > 0 && m.letters() > 0 && (longest >= 20 || m.upper > 0 && m.lower > 0 && len(body) >= 32)
}
