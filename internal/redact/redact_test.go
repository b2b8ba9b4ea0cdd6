package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"strandline/internal/redact"
)

// The secrets are built at run time, so that secret scanners find none in the
// source.
func fake(parts ...string) string { return strings.Join(parts, "") }

const (
	digits = "0123456789"
	hex32  = "0123456789abcdef0123456789abcdef"
	mixed  = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n"
)

var placeholder = regexp.MustCompile(`\[redacted:([a-z0-9-]+):[0-9a-f]{6}\]`)

// shown replaces the hash of each placeholder, which depends on the key.
func shown(s string) string { return placeholder.ReplaceAllString(s, "<$1>") }

func TestTokensWithKnownPrefixes(t *testing.T) {
	tests := []struct{ kind, secret string }{
		{"aws-access-key", fake("AK", "IA", "IOSFODNN7QXCMPLQ")},
		{"aws-access-key", fake("AS", "IA", "Q3EGLZ7H2ABCD4XY")},
		{"github-token", fake("gh", "p_", mixed[:36])},
		{"github-token", fake("gh", "o_", mixed[:36])},
		{"github-token", fake("gh", "s_", mixed[:36])},
		{"github-token", fake("github", "_pat_", mixed[:22], "_", mixed, mixed[:19])},
		{"gitlab-token", fake("gl", "pat-", mixed[:20])},
		{"slack-token", fake("xo", "xb-", "123456789012-1234567890123-", mixed[:24])},
		{"slack-token", fake("xo", "xp-", "123456789012-", mixed[:24])},
		{"slack-token", fake("xa", "pp-1-A012-", digits, "-", hex32)},
		{"google-api-key", fake("AI", "za", mixed[:35])},
		{"google-oauth-secret", fake("GOC", "SPX-", mixed[:28])},
		{"openai-key", fake("sk", "-", mixed, mixed[:8])},
		{"openai-key", fake("sk", "-proj-", mixed, "_", mixed)},
		{"anthropic-key", fake("sk", "-ant-api03-", mixed, "-", mixed[:20], "AA")},
		{"stripe-key", fake("sk", "_live_", mixed[:24])},
		{"stripe-key", fake("rk", "_live_", mixed[:24])},
		{"stripe-webhook", fake("wh", "sec_", mixed[:32])},
		{"npm-token", fake("np", "m_", mixed[:36])},
		{"pypi-token", fake("py", "pi-AgEIcHlwaS5vcmc", mixed)},
		{"twilio-key", fake("S", "K", hex32)},
		{"sendgrid-key", fake("S", "G.", mixed[:22], ".", mixed, "abc")},
		{"digitalocean-token", fake("dop", "_v1_", hex32, hex32)},
		{"huggingface-token", fake("h", "f_", mixed[:34])},
		{"telegram-token", fake("1234567890", ":AA", mixed[:33])},
		{"discord-token", fake("M", mixed[:23], ".Gh3x9Z.", mixed[:38])},
		{"jwt", fake("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.", mixed)},
		{"jwt", fake("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0")},
	}
	r := redact.New([]byte("test"))
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			for _, frame := range []string{"%", "use % now", "\n%\n", `"%"`, `\n%\n`, "x=%&y", "(%)", "see %.", "`%`,", "%3D%3D%"} {
				text := strings.Replace(frame, "%", tt.secret, 1)
				if frame == "%3D%3D%" { // after a URL-encoded character
					text = "q%3D" + tt.secret
				}
				got := r.String(text)
				if want := strings.Replace(text, tt.secret, "<"+tt.kind+">", 1); shown(got) != want {
					t.Errorf("%q became %q, want %q", text, shown(got), want)
				}
			}
		})
	}
}

func TestOtherThanTokens(t *testing.T) {
	same(t, []string{
		fake("AK", "IA") + " is how it begins",
		fake("AK", "IAIOSFODNN7EXAMPL"),
		"npm_my_http_handler_of_the_2nd_request_and_more",
		fake("gh", "p_") + strings.Repeat("x", 36),
		fake("gh", "p_short"),
		"npm_config_registry npm_package_json_and_more_words_like_it",
		"sk-notification-context-isolation-of-long-names",
		"task-list-5055e5808598 sk-list-5055e5808598",
		"hf_hub_download_from_the_model_repository",
		fake("xo", "xb-your-token-goes-here"),
		"SKIP SKIPPED TASK SKU SK" + strings.Repeat("a", 31),
		"AIza is a prefix",
		"SG.Name and SG.1",
		"10:30:AAA 12345678:AAshort",
		"www.example.com v1.234567.89 a.b.c",
		"eyJust kidding, eyJ.eyJ.eyJ",
		fake("sk", "-ant-..."),
	})
}

func TestWebhooksKeepTheirHost(t *testing.T) {
	table(t, []example{
		{fake("https://hooks.slack", ".com/services/T00000000/B00000000/", mixed[:24]), "https://hooks.slack.com/services/<slack-webhook>"},
		{fake("https://discord", ".com/api/webhooks/123456789012345678/", mixed), "https://discord.com/api/webhooks/<discord-webhook>"},
		{fake("AccountName=x;Account", "Key=", mixed, mixed, "==;Endpoint=y"), "AccountName=x;AccountKey=<azure-key>;Endpoint=y"},
	})
}

func TestAWSSecretNearItsKeyID(t *testing.T) {
	id := fake("AK", "IA", "IOSFODNN7QXCMPLQ")
	secret := fake("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzzDUMMYKEY")
	table(t, []example{
		{id + "," + secret, "<aws-access-key>,<aws-secret-key>"},
		{"id " + id + "\nand then " + secret + " done", "id <aws-access-key>\nand then <aws-secret-key> done"},
		{secret + " belongs to " + id, "<aws-secret-key> belongs to <aws-access-key>"},
		{"aws_access_key_id = " + id + "\naws_secret_access_key = " + secret,
			"aws_access_key_id = <aws-access-key>\naws_secret_access_key = <aws-secret-key>"},
		{id + " in commit 0123456789abcdef0123456789abcdef01234567", "<aws-access-key> in commit 0123456789abcdef0123456789abcdef01234567"},
	})
	same(t, []string{secret + " alone could be anything"})
}

type example struct{ text, want string }

func table(t *testing.T, tests []example) {
	t.Helper()
	r := redact.New([]byte("test"))
	for _, tt := range tests {
		t.Run("", func(t *testing.T) {
			if got := shown(r.String(tt.text)); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func same(t *testing.T, texts []string) {
	t.Helper()
	r := redact.New([]byte("test"))
	for _, s := range texts {
		t.Run("unchanged", func(t *testing.T) {
			if got := r.String(s); got != s {
				t.Errorf("%q became %q", s, got)
			}
		})
	}
}

func TestOrdinaryText(t *testing.T) {
	same(t, []string{
		"",
		"a",
		"commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"c3c1517d4e6f8a9b0c1d2e3f4a5b6c7d8e9f0a1b",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"session 7f3a12cd-1b2c-4d3e-8f90-a1b2c3d4e5f6",
		"toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy",
		"/home/user/.config/secrets/token.json and C:\\Users\\me\\token.txt",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		mixed + mixed + mixed,
		"h1:AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef=",
		"integrity sha512-oRu1C0hYw0CFBgVmuP9FdkQZ3xGFqEwBxjTFMcW5uUMxvC0bF0Z8pQ7yq7m==",
		"https://registry.example.org/@scope/pkg and http://localhost:8080/@vite/client and git@github.com:a/b.git",
		"ssh://git@github.com/a/b and https://user@host/path",
		`"usage":{"input_tokens":1234,"output_tokens":56,"cache_read_input_tokens":78900}`,
		"max_tokens=4096 num_tokens: 100000000 tokenizer=cl100k_base",
		"2026-11-20T16:33:18Z 1763656398000",
		"0x80550009",
	})
}

func TestEqualSecretsHaveEqualPlaceholders(t *testing.T) {
	secret, other := fake("gh", "p_", mixed[:36]), fake("gh", "p_", mixed[1:37])
	r := redact.New([]byte("key one"))
	one, two := r.String(secret), r.String("again: "+secret)
	if "again: "+one != two {
		t.Errorf("the same secret became %q and %q", one, two)
	}
	if r.String(other) == one {
		t.Error("two secrets became one placeholder")
	}
	if redact.New([]byte("key two")).String(secret) == one {
		t.Error("the placeholder does not depend on the key")
	}
	if named := r.String("API_TOKEN=" + secret); named != "API_TOKEN="+one {
		t.Errorf("its name changed its placeholder: %q", named)
	}
}

func TestTextWithoutSecretsAllocatesNothing(t *testing.T) {
	r := redact.New([]byte("test"))
	s := strings.Repeat("ordinary text about a token and a password, func(x int) { return }\n", 100)
	r.String(s) // the index is built at first use
	if n := testing.AllocsPerRun(100, func() { r.String(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFindings(t *testing.T) {
	key := fake("gh", "p_", mixed[:36])
	text := "a " + key + " b postgres://u:hunter2@h/d"
	got := redact.Findings(text)
	if len(got) != 2 || got[0].Kind != "github-token" || text[got[0].Start:got[0].End] != key ||
		got[1].Kind != "url-password" || text[got[1].Start:got[1].End] != "hunter2" {
		t.Errorf("%+v", got)
	}
	if got := redact.Findings("nothing"); got != nil {
		t.Errorf("%+v", got)
	}
}
