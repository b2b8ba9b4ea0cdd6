package redact_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/redact"
)

// knownKind is a kind of token in the form that its provider issues: a prefix and
// an alphabet.
type knownKind struct {
	kind, head, body string // the body is longer than the minimum
	shortest         int    // minimum number of characters after the head
	kept             string // public part of the head
}

var upper32 = strings.ToUpper(hex32)

// knownKinds builds the tokens at run time, so that secret scanners find none in
// the source.
func knownKinds() []knownKind {
	long := mixed + mixed
	alnum := long
	return []knownKind{
		{"github-token", fake("gh", "p_"), alnum, 20, ""},
		{"github-token", fake("gh", "o_"), alnum, 20, ""},
		{"github-token", fake("gh", "u_"), alnum, 20, ""},
		{"github-token", fake("gh", "s_"), alnum, 20, ""},
		{"github-token", fake("gh", "r_"), alnum, 20, ""},
		{"github-token", fake("github", "_pat_"), alnum, 20, ""},
		{"gitlab-token", fake("gl", "pat-"), alnum, 16, ""},
		{"gitlab-token", fake("gl", "dt-"), alnum, 16, ""},
		{"gitlab-token", fake("gl", "rt-"), alnum, 16, ""},
		{"gitlab-token", fake("gl", "ptt-"), alnum, 16, ""},
		{"gitlab-token", fake("gl", "cbt-"), alnum, 16, ""},
		{"gitlab-token", fake("gl", "soat-"), alnum, 16, ""},
		{"slack-token", fake("xo", "xa-"), "2-1234567890", 10, ""},
		{"slack-token", fake("xo", "xb-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xo", "xc-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xo", "xd-"), "ab/cd+12+/ab", 10, ""},
		{"slack-token", fake("xo", "xe-"), "1-AbCdEfGhIj", 10, ""},
		{"slack-token", fake("xo", "xe."), "xoxp-1-Mi0yx", 10, ""},
		{"slack-token", fake("xo", "xo-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xo", "xp-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xo", "xr-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xo", "xs-"), "1234567890ax", 10, ""},
		{"slack-token", fake("xa", "pp-"), "1-A012345678", 10, ""},
		{"slack-webhook", fake("hooks.slack", ".com/workflows/"), alnum, 20, fake("hooks.slack", ".com/workflows/")},
		{"slack-webhook", fake("hooks.slack", ".com/triggers/"), alnum, 20, fake("hooks.slack", ".com/triggers/")},
		{"discord-webhook", fake("discordapp", ".com/api/webhooks/"), alnum, 30, fake("discordapp", ".com/api/webhooks/")},
		{"google-api-key", fake("AI", "za"), alnum, 30, ""},
		{"google-oauth-secret", fake("GOC", "SPX-"), alnum, 20, ""},
		{"google-oauth-token", fake("ya", "29."), alnum, 20, ""},
		{"google-oauth-token", fake("1/", "/0"), alnum, 40, ""},
		{"anthropic-key", fake("sk", "-ant-"), alnum, 16, ""},
		{"openai-key", fake("sk", "-svcacct-"), alnum, 16, ""},
		{"openai-key", fake("sk", "-admin-"), alnum, 16, ""},
		{"stripe-key", fake("sk", "_test_"), alnum, 10, ""},
		{"stripe-key", fake("rk", "_test_"), alnum, 10, ""},
		{"stripe-webhook", fake("wh", "sec_"), alnum, 16, ""},
		{"npm-token", fake("np", "m_"), alnum, 30, ""},
		{"pypi-token", fake("py", "pi-Ag"), alnum, 20, ""},
		{"rubygems-key", fake("ruby", "gems_"), hex32 + hex32, 40, ""},
		{"docker-token", fake("dckr", "_pat_"), alnum, 20, ""},
		{"azure-key", fake("Shared", "AccessKey="), alnum, 20, fake("Shared", "AccessKey=")},
		{"digitalocean-token", fake("dop", "_v1_"), hex32 + hex32, 32, ""},
		{"digitalocean-token", fake("doo", "_v1_"), hex32 + hex32, 32, ""},
		{"digitalocean-token", fake("dor", "_v1_"), hex32 + hex32, 32, ""},
		{"huggingface-token", fake("h", "f_"), alnum, 30, ""},
		{"groq-key", fake("gs", "k_"), alnum, 40, ""},
		{"xai-key", fake("xa", "i-"), alnum, 40, ""},
		{"replicate-token", fake("r", "8_"), alnum, 30, ""},
		{"databricks-token", fake("da", "pi"), hex32 + hex32, 32, ""},
		{"vault-token", fake("hv", "s."), alnum, 20, ""},
		{"shopify-token", fake("shp", "at_"), hex32 + hex32, 32, ""},
		{"shopify-token", fake("shp", "ss_"), hex32 + hex32, 32, ""},
		{"linear-key", fake("lin", "_api_"), alnum, 24, ""},
		{"atlassian-token", fake("AT", "ATT3"), alnum, 40, ""},
		{"sentry-token", fake("sntr", "ys_"), alnum, 30, ""},
		{"sentry-token", fake("sntr", "yu_"), hex32 + hex32, 40, ""},
		{"figma-token", fake("fi", "gd_"), alnum, 30, ""},
		{"postman-key", fake("PM", "AK-"), alnum, 40, ""},
		{"tailscale-key", fake("ts", "key-"), alnum, 20, ""},
		{"age-key", fake("AGE-SEC", "RET-KEY-1"), upper32 + upper32, 40, ""},
	}
}

// Each kind matches from its minimum length on, whole, and with its kind; one
// character less does not match.
func TestMinimumLengths(t *testing.T) {
	r := redact.New([]byte("test"))
	for _, k := range knownKinds() {
		for _, n := range []int{k.shortest, min(k.shortest+1, len(k.body)), len(k.body)} {
			token := k.head + k.body[:n]
			if got, want := shown(r.String("use "+token+" now")), "use "+k.kept+"<"+k.kind+"> now"; got != want {
				t.Errorf("%d characters after %q: %q, want %q", n, k.head, got, want)
			}
		}
		if strings.HasSuffix(k.kept, "=") {
			continue // its name matches shorter values as well
		}
		short := "use " + k.head + k.body[:k.shortest-1] + " now"
		if got := r.String(short); got != short && shown(got) != "use <token> now" { // by its form, if it is long
			t.Errorf("%q is too short to be one, became %q", short, shown(got))
		}
	}
}

// Documentation examples do not match. A key with a letter in front matches,
// unless its prefix is so short that any word may contain it.
func TestMaskedAndPrefixedTokens(t *testing.T) {
	r := redact.New([]byte("test"))
	for _, k := range knownKinds() {
		blanked := k.head + strings.Repeat("x", len(k.body))
		if got := r.String(blanked); got != blanked && !strings.Contains(k.head, "1-") {
			t.Errorf("%q became %q", blanked, shown(got))
		}
		if k.kept != "" {
			continue // a URL or a name may precede it
		}
		alone := slices.Contains([]string{fake("h", "f_"), fake("r", "8_"), fake("1/", "/0"), fake("AI", "za")}, k.head)
		for _, before := range []string{"a", "Z", "0", "_", "日x"} {
			token := k.head + k.body
			if got := shown(r.String(before + token)); strings.Contains(got, "<"+k.kind+">") == alone {
				t.Errorf("after %q: %q", before, got)
			}
		}
	}
}

func TestExactLengths(t *testing.T) {
	id := fake("AK", "IA")
	table(t, []example{
		{id + "ABCDEFGHIJKLMNO2", "<aws-access-key>"},
		{fake("AB", "IA") + "ABCDEFGHIJKLMNO2", "<aws-access-key>"},
		{fake("AC", "CA") + "ABCDEFGHIJKLMNO2", "<aws-access-key>"},
		{fake("S", "K") + hex32, "<twilio-key>"},
		{fake("12345678", ":AA", mixed[:33]), "<telegram-token>"},
		{fake("https://api.telegram.org/bot", "12345678", ":AA", mixed[:33], "/getMe"), "https://api.telegram.org/bot<telegram-token>/getMe"},
	})
	same(t, []string{
		id + "ABCDEFGHIJKLMN2", id + "ABCDEFGHIJKLMNOP2", id + "ABCDEFGHIJKLMNo2",
		fake("S", "K") + hex32[:31], fake("S", "K") + hex32 + "0",
		fake("1234567", ":AA", mixed[:33]), fake("12345678901", ":AA", mixed[:33]),
		fake("12345678", ":AA", mixed[:31]), fake("12345678", ":AA", mixed[:36]),
	})
}

// A name in kebab-case with the same prefix does not match.
func TestShortPrefixesNeedRandomBodies(t *testing.T) {
	sk := fake("s", "k-")
	table(t, []example{
		{sk + "abcdefghij0123456789", "<openai-key>"},         // a long piece with digits
		{sk + "abcdefghij-" + mixed[:24], "<openai-key>"},     // long and mixed
		{sk + "or-v1-" + hex32 + hex32, "<openai-key>"},       // a similar one of another provider
		{fake("gs", "k_") + mixed + mixed[:12], "<groq-key>"}, // ends in the same letters
		{fake("x", sk) + "proj", fake("x", sk) + "proj"},      // within a word
		{sk + mixed[:24] + ".", "<openai-key>."},              // the end of a sentence
		{"(" + sk + mixed[:24] + "--)", "(<openai-key>--)"},   // dashes of prose
		{"key=" + sk + mixed[:24] + "&b=c", "key=<openai-key>&b=c"},
	})
	same(t, []string{
		sk + "abcdefghijklmnopqrstuvwxyz",            // no digit
		sk + "01234567890123456789",                  // no letter
		sk + "list-item-42-of-the-other-section",     // words
		sk + "abcde0123456789-abc",                   // too short
		fake("s", "k_") + "live_" + "short1",         // too short
		fake("sk", "-proj-") + "a-project-of-mine-x", // no digit
	})
}

func TestTokensWithSeveralParts(t *testing.T) {
	head, payload := fake("ey", "JhbGciOiJIUzI1NiJ9"), fake("ey", "JzdWIiOiIxMjM0NTY3ODkwIn0")
	sg := fake("S", "G.")
	table(t, []example{
		{head + "." + payload + "." + mixed, "<jwt>"},
		{head + "." + payload + ".", "<jwt>."}, // unsigned, at the end of a sentence
		{head + "." + payload + "..", "<jwt>.."},
		{"x." + head + "." + payload + "." + mixed, "x.<jwt>"},
		{sg + mixed[:16] + "." + mixed[:16], "<sendgrid-key>"},
		{sg + mixed[:22] + "." + mixed + "abc and", "<sendgrid-key> and"},
		{fake("N", mixed[:25], ".", mixed[:6], ".", mixed[:27]), "<discord-token>"},
		{fake("O", mixed[:22], ".", mixed[:7], ".", mixed[:38]), "<discord-token>"},
	})
	same(t, []string{
		head, head + "." + "notjson", head + ".", head + payload, fake("ey", "Jshort") + "." + payload, head + "." + fake("ey", "J1234"),
		sg + mixed[:15] + "." + mixed[:16], sg + mixed[:16] + "." + mixed[:15], sg + mixed[:16] + "-" + mixed[:16], "x" + sg + mixed[:16] + "." + mixed[:16],
		fake("P", mixed[:23], ".", mixed[:6], ".", mixed[:27]),              // another first letter
		fake("M", mixed[:21], ".", mixed[:6], ".", mixed[:27]),              // first part too short
		fake("M", mixed[:23], ".", mixed[:5], ".", mixed[:27]),              // second part too short
		fake("M", mixed[:23], ".", mixed[:8], ".", mixed[:27]),              // too long
		fake("M", mixed[:23], ".", mixed[:6], ".", mixed[:26]),              // third part too short
		fake("M", strings.Repeat("a", 23), ".", mixed[:6], ".", mixed[:27]), // no digit: a package's name
	})
}

func TestAWSSecretNeedsItsKeyID(t *testing.T) {
	id := fake("AK", "IA", "IOSFODNN7QXCMPLQ")
	secret := fake("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzzDUMMYKEY")
	table(t, []example{
		{id + strings.Repeat(" ", 150) + secret, "<aws-access-key>" + strings.Repeat(" ", 150) + "<aws-secret-key>"},
		{id + strings.Repeat(" ", 250) + secret, "<aws-access-key>" + strings.Repeat(" ", 250) + secret},
		{id + " x=" + secret, "<aws-access-key> x=<aws-secret-key>"},
		{id + " " + secret + "A", "<aws-access-key> " + secret + "A"},
		{id + " " + secret[:39], "<aws-access-key> " + secret[:39]},
		{id + " " + mixed, "<aws-access-key> <aws-secret-key>"},
		{"\"" + secret + "\": \"" + id + "\"", "\"<aws-secret-key>\": \"<aws-access-key>\""},
	})
}

// Equal secrets have equal placeholders in any context; another secret or another
// key gives another one.
func TestPlaceholders(t *testing.T) {
	form := regexp.MustCompile(`^\[redacted:[a-z0-9-]+:[0-9a-f]{6}\]$`)
	one, two := redact.New([]byte("one")), redact.New([]byte("two"))
	seen := map[string]string{}
	for _, k := range knownKinds() {
		token := k.head + k.body
		got := strings.TrimPrefix(one.String(token), k.kept)
		if !form.MatchString(got) {
			t.Errorf("%s: the placeholder %q", k.kind, got)
		}
		if again := one.String("again " + token + "\n"); again != "again "+k.kept+got+"\n" {
			t.Errorf("%s: %q, then %q", k.kind, got, again)
		}
		if strings.TrimPrefix(two.String(token), k.kept) == got {
			t.Errorf("%s: two keys, one placeholder", k.kind)
		}
		hash := got[strings.LastIndexByte(got, ':'):]
		if other, ok := seen[hash]; ok && k.kept == "" {
			t.Errorf("%s has the hash of %s", k.kind, other)
		}
		seen[hash] = k.head
	}
	if a, b := redact.New(nil).String(mixedToken()), redact.New([]byte{}).String(mixedToken()); a != b {
		t.Errorf("without a key: %q and %q", a, b)
	}
}

func mixedToken() string { return fake("gh", "p_", mixed) }

func TestPlaceholdersStay(t *testing.T) {
	same(t, []string{
		"[redacted:token:0a1b2c]", "x[redacted:token:0a1b2c]y", "password=[redacted:password:0a1b2c]",
		`"token": "[redacted:token:0a1b2c]"`, "https://u:[redacted:url-password:0a1b2c]@h/", "Bearer [redacted:jwt:0a1b2c]",
		"[redacted:a:0a1b2c][redacted:b:0a1b2c]",
	})
	// Text that only resembles a placeholder is not protected.
	token := mixedToken()
	for _, near := range []string{"[redacted:", "[redacted:]", "[redacted:token]", "[redacted:token:0a1b2]", "[redacted:token:0a1b2cd]", "[redacted:TOKEN:0a1b2c]", "[redacted:token:0a1b2g]", "[redacted::0a1b2c]"} {
		if got := shown(redact.New(nil).String(near + " " + token)); got != near+" <github-token>" {
			t.Errorf("after %q: %q", near, got)
		}
	}
}

// In any context no secret remains, and only secrets are replaced.
func TestNoSecretRemains(t *testing.T) {
	kinds := knownKinds()
	around := rapid.SampledFrom([]string{" ", "\n", `"`, "'", "(", ") ", ", ", "\t", `\n`, " = ", "\r\n", "` ", "<", "> ", "日本 ", "🙂"})
	r := redact.New([]byte("rapid"))
	rapid.Check(t, func(t *rapid.T) {
		var text, want strings.Builder
		var secrets []string
		for range rapid.IntRange(1, 5).Draw(t, "secrets") {
			k := rapid.SampledFrom(kinds).Draw(t, "kind")
			if k.kept != "" {
				continue
			}
			body := k.body[:rapid.IntRange(k.shortest, len(k.body)).Draw(t, "length")]
			frame := around.Draw(t, "around")
			text.WriteString(frame + k.head + body + " ")
			want.WriteString(frame + "<" + k.kind + "> ")
			secrets = append(secrets, body)
		}
		got := r.String(text.String())
		for _, s := range secrets {
			if strings.Contains(got, s) {
				t.Fatalf("%q survives in %q", s, got)
			}
		}
		if shown(got) != want.String() {
			t.Fatalf("%q became %q, want %q", text.String(), shown(got), want.String())
		}
		if again := r.String(got); again != got {
			t.Fatalf("twice: %q", again)
		}
	})
}

// Findings and String agree.
func TestFindingsAgreeWithString(t *testing.T) {
	r := redact.New([]byte("rapid"))
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(knownKinds()).Draw(t, "kind")
		text := rapid.StringMatching(`[a-z .,\n]{0,30}`).Draw(t, "before") + " " + k.head + k.body + " " + rapid.StringMatching(`[a-z .,\n]{0,30}`).Draw(t, "after")
		var b strings.Builder
		done := 0
		for _, f := range redact.Findings(text) {
			b.WriteString(text[done:f.Start] + r.String(text[f.Start:f.End]))
			done = f.End
		}
		b.WriteString(text[done:])
		if k.kept == "" && b.String() != r.String(text) {
			t.Fatalf("%q: by findings %q, by String %q", text, b.String(), r.String(text))
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	r := redact.New([]byte("test"))
	text := "use " + mixedToken() + " and postgres://u:" + fake("hunter", "2") + "@h/d"
	want := r.String(text)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				if got := r.String(text); got != want {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	wg.Wait()
}

// Further programs that take a password on their command line.
func TestMoreCommandLines(t *testing.T) {
	word := fake("hunter", "2")
	table(t, []example{
		{"curl -su me:" + word + " https://x.y", "curl -su me:<password> https://x.y"},
		{"curl -fsSLu 'me:" + word + "' https://x.y", "curl -fsSLu 'me:<password>' https://x.y"},
		{"curl https://x.y -sU me:" + word, "curl https://x.y -sU me:<password>"},
		{"http --auth me:" + word + " GET x.y", "http --auth me:<password> GET x.y"},
		{"lftp -u me," + word + " sftp://x.y", "lftp -u me,<password> sftp://x.y"},
		{"echo " + word + " | docker login -u me --password-stdin", "echo <password> | docker login -u me --password-stdin"},
		{`echo -n "` + word + `" | helm registry login x.y --password-stdin`, `echo -n "<password>" | helm registry login x.y --password-stdin`},
		{"keytool -list -keystore x -storepass " + word, "keytool -list -keystore x -storepass <password>"},
		{"plink -pw " + word + " me@x.y", "plink -pw <password> me@x.y"},
		{"7z a -p" + word + " x.7z", "7z a -p<password> x.7z"},
		{"zip -P " + word + " x.zip y", "zip -P <password> x.zip y"},
		{"twine upload -u __token__ -p " + word + " dist/*", "twine upload -u __token__ -p <password> dist/*"},
		{"openssl enc -aes-256-cbc -k " + word + " -in x", "openssl enc -aes-256-cbc -k <password> -in x"},
		{"security add-generic-password -a me -s x -w " + word, "security add-generic-password -a me -s x -w <password>"},
		{"snmpwalk -v3 -A " + word + " x.y", "snmpwalk -v3 -A <password> x.y"},
		{"poetry config http-basic.corp me " + word, "poetry config http-basic.corp me <password>"},
		{"poetry config pypi-token.pypi " + word + "ab9", "poetry config pypi-token.pypi <password>"},
		{"npm config set //r.x/:_authToken 0a1b2c3d4e5f", "npm config set //r.x/:_authToken <token>"},
		{"aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzzDUMMYKEY", "aws configure set aws_secret_access_key <secret>"},
		{`-e "ansible_become_pass=` + word + `"`, `-e "ansible_become_pass=<password>"`},
		{"smtp_pass: '" + word + "'", "smtp_pass: '<password>'"},
	})
	same(t, []string{
		"curl -su $USER:$PASS https://x.y", "curl -sSLO https://x.y/a:b", "curl -u", "curl | -su a:b1c2", "curly -su me",
		"echo $TOKEN | docker login -u me --password-stdin", "echo $$TOKEN | docker login --password-stdin", "docker login --password-stdin < file1",
		"cat x | docker login -u me --password-stdin", "plink -p 22 me@x.y", "zip -r x.zip y", "7z x -y x.7z",
		"openssl rsa -k x1y2z3", "security find-generic-password -w", "config set token limits", "git config set user.token name",
		"http-basic.corp me " + word, "the tests_pass: true42", "second_pass = run2(x)", "db_pass=${DB_PASS}", "user_pass = config.pass2",
	})
}
