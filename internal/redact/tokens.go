package redact

import "strings"

// token is a secret that its first characters give away.
type token struct {
	kind   string
	prefix string
	set    func(byte) bool // of the characters that follow
	min    int             // how many of them there are at least
	// valid may look closer at those characters.
	valid func(body string) bool
	// value says that the prefix itself is no part of the secret.
	value bool
	// glued decides where a letter stands right before the prefix; nil is drawn.
	glued func(body string) bool
	// fixed says that a letter may stand right behind the token, too: its length
	// and alphabet say where it ends.
	fixed bool
}

// tokens lists the known beginnings. The lengths are a little below what the
// providers give out, since a token that was cut is still one.
func tokens() []token {
	return []token{
		{kind: "aws-access-key", prefix: "AKIA", set: isBase32, min: 16, valid: exactly(16), glued: awsID, fixed: true},
		{kind: "aws-access-key", prefix: "ASIA", set: isBase32, min: 16, valid: exactly(16), glued: awsID, fixed: true},
		{kind: "aws-access-key", prefix: "ABIA", set: isBase32, min: 16, valid: exactly(16), glued: awsID, fixed: true},
		{kind: "aws-access-key", prefix: "ACCA", set: isBase32, min: 16, valid: exactly(16), glued: awsID, fixed: true},
		{kind: "github-token", prefix: "ghp_", set: isWord, min: 20},
		{kind: "github-token", prefix: "gho_", set: isWord, min: 20},
		{kind: "github-token", prefix: "ghu_", set: isWord, min: 20},
		{kind: "github-token", prefix: "ghs_", set: isDotted, min: 20},
		{kind: "github-token", prefix: "ghr_", set: isWord, min: 20},
		{kind: "github-token", prefix: "github_pat_", set: isWord, min: 20},
		{kind: "gitlab-token", prefix: "glpat-", set: isDotted, min: 16},
		{kind: "gitlab-token", prefix: "gldt-", set: isDotted, min: 16},
		{kind: "gitlab-token", prefix: "glrt-", set: isDotted, min: 16},
		{kind: "gitlab-token", prefix: "glptt-", set: isDotted, min: 16},
		{kind: "gitlab-token", prefix: "glcbt-", set: isDotted, min: 16},
		{kind: "gitlab-token", prefix: "glsoat-", set: isDotted, min: 16},
		{kind: "slack-token", prefix: "xoxa-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxb-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxc-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxd-", set: isBearer, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxe-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxe.", set: isDotted, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxo-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxp-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxr-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xoxs-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-token", prefix: "xapp-", set: isURLSafe, min: 10, valid: hasDigit, glued: hasDigit},
		{kind: "slack-webhook", prefix: "hooks.slack.com/services/", set: isBase64, min: 20, value: true},
		{kind: "slack-webhook", prefix: "hooks.slack.com/workflows/", set: isBase64, min: 20, value: true},
		{kind: "slack-webhook", prefix: "hooks.slack.com/triggers/", set: isBase64, min: 20, value: true},
		{kind: "discord-webhook", prefix: "discord.com/api/webhooks/", set: isPath, min: 30, value: true},
		{kind: "discord-webhook", prefix: "discordapp.com/api/webhooks/", set: isPath, min: 30, value: true},
		{kind: "google-api-key", prefix: "AIza", set: isURLSafe, min: 30, glued: exactly(35)},
		{kind: "google-oauth-secret", prefix: "GOCSPX-", set: isURLSafe, min: 20},
		{kind: "google-oauth-token", prefix: "ya29.", set: isURLSafe, min: 20},
		{kind: "google-oauth-token", prefix: "1//0", set: isURLSafe, min: 40, glued: never},
		{kind: "anthropic-key", prefix: "sk-ant-", set: isURLSafe, min: 16},
		{kind: "openai-key", prefix: "sk-proj-", set: isURLSafe, min: 16, valid: hasDigit},
		{kind: "openai-key", prefix: "sk-svcacct-", set: isURLSafe, min: 16, valid: hasDigit},
		{kind: "openai-key", prefix: "sk-admin-", set: isURLSafe, min: 16, valid: hasDigit},
		{kind: "openai-key", prefix: "sk-", set: isURLSafe, min: 20, valid: looksDrawn, glued: never},
		{kind: "stripe-key", prefix: "sk_live_", set: isAlnum, min: 10},
		{kind: "stripe-key", prefix: "sk_test_", set: isAlnum, min: 10},
		{kind: "stripe-key", prefix: "rk_live_", set: isAlnum, min: 10},
		{kind: "stripe-key", prefix: "rk_test_", set: isAlnum, min: 10},
		{kind: "stripe-webhook", prefix: "whsec_", set: isBase64, min: 16},
		{kind: "npm-token", prefix: "npm_", set: isAlnum, min: 30},
		{kind: "pypi-token", prefix: "pypi-Ag", set: isURLSafe, min: 20},
		{kind: "rubygems-key", prefix: "rubygems_", set: isHex, min: 40},
		{kind: "docker-token", prefix: "dckr_pat_", set: isURLSafe, min: 20},
		{kind: "twilio-key", prefix: "SK", set: isHex, min: 32, valid: exactly(32), glued: never},
		{kind: "azure-key", prefix: "AccountKey=", set: isBase64, min: 20, value: true},
		{kind: "azure-key", prefix: "SharedAccessKey=", set: isBase64, min: 20, value: true},
		{kind: "digitalocean-token", prefix: "dop_v1_", set: isHex, min: 32},
		{kind: "digitalocean-token", prefix: "doo_v1_", set: isHex, min: 32},
		{kind: "digitalocean-token", prefix: "dor_v1_", set: isHex, min: 32},
		{kind: "huggingface-token", prefix: "hf_", set: isAlnum, min: 30, glued: never},
		{kind: "groq-key", prefix: "gsk_", set: isAlnum, min: 40},
		{kind: "xai-key", prefix: "xai-", set: isAlnum, min: 40},
		{kind: "replicate-token", prefix: "r8_", set: isAlnum, min: 30, glued: never},
		{kind: "databricks-token", prefix: "dapi", set: isHex, min: 32},
		{kind: "vault-token", prefix: "hvs.", set: isURLSafe, min: 20},
		{kind: "shopify-token", prefix: "shpat_", set: isHex, min: 32},
		{kind: "shopify-token", prefix: "shpss_", set: isHex, min: 32},
		{kind: "linear-key", prefix: "lin_api_", set: isAlnum, min: 30},
		{kind: "atlassian-token", prefix: "ATATT3", set: isBearer, min: 40},
		{kind: "sentry-token", prefix: "sntrys_", set: isBearer, min: 30},
		{kind: "sentry-token", prefix: "sntryu_", set: isHex, min: 40},
		{kind: "figma-token", prefix: "figd_", set: isURLSafe, min: 30},
		{kind: "postman-key", prefix: "PMAK-", set: isURLSafe, min: 40},
		{kind: "tailscale-key", prefix: "tskey-", set: isURLSafe, min: 20, valid: hasDigit},
		{kind: "age-key", prefix: "AGE-SECRET-KEY-1", set: isBase32, min: 40},
	}
}

// maxBody is how much of a token is looked at before it is taken for one; only
// then is the whole of it followed. Hostile text can make a matcher look at the
// same run again and again, so what it looks at has to be short.
const maxBody = 128

// trigger makes the token's matcher. The whole run belongs to the secret, so
// that no rest of it is left over.
func (t token) trigger() trigger {
	glued := t.glued
	if glued == nil {
		glued = drawn
	}
	return trigger{lit: t.prefix, match: func(s string, at int) (Finding, bool) {
		from := at + len(t.prefix)
		end := from + run(s[from:min(len(s), from+maxBody)], t.set)
		if body := s[from:end]; len(body) < t.min || blanked(body) || t.valid != nil && !t.valid(body) {
			return Finding{}, false
		}
		if !t.value && !borderBefore(s, at) && !glued(s[from:end]) {
			return Finding{}, false
		}
		end += run(s[end:], t.set)
		for end > from && (s[end-1] == '.' || s[end-1] == '-') { // of the sentence
			end--
		}
		if end-from < t.min {
			return Finding{}, false
		}
		if t.value {
			return Finding{Kind: t.kind, Start: from, End: end}, true
		}
		return Finding{Kind: t.kind, Start: at, End: end}, borderAfter(s, end) || t.fixed && glued(s[from:end])
	}}
}

func isPath(c byte) bool { return isURLSafe(c) || c == '/' }

func exactly(n int) func(string) bool { return func(body string) bool { return len(body) == n } }

func hasDigit(body string) bool { return mixOf(body).digit > 0 }

// never is for prefixes too short to be seen within a word: "sk-" is in task-,
// SK in TASK, and base64 has any three letters now and then.
func never(string) bool { return false }

// awsID reports whether a body is base32 drawn by lot; machine code in base64 is
// full of capitals and A.
func awsID(body string) bool {
	return !strings.ContainsAny(body, "0189") && !strings.Contains(body, "AAA")
}

// drawn reports whether a body cannot be the rest of a name, which matters where
// the prefix is the end of one, as in npm_my_http_handler.
func drawn(body string) bool {
	m := mixOf(body)
	return m.digit > 0 && m.letters() > 0 && !wordLike(body)
}

// looksDrawn tells a key from a name in kebab-case: "sk-" begins many of those.
func looksDrawn(body string) bool {
	m := mixOf(body)
	if m.digit == 0 || m.letters() == 0 {
		return false
	}
	longest := 0
	for part := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		longest = max(longest, len(part))
	}
	return longest >= 20 || m.upper > 0 && m.lower > 0 && len(body) >= 32
}
