package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"strandline/internal/redact"
)

// maxGrowth is the largest growth of a text: the shortest secret is one byte (a
// URL's password), the longest placeholder about 40.
const maxGrowth = 42

func FuzzString(f *testing.F) {
	begin, end := block("RSA PRIVATE KEY")
	for _, s := range []string{
		"", "a", "TOKEN 0", "[redacted:token:0a1b2c]", "[redacted:token:0a1b2c", "password=[redacted:",
		fake("AK", "IA", "IOSFODNN7QXCMPLQ,", mixed), fake("gh", "p_", mixed), fake("sk", "-ant-", mixed, "[redacted:jwt:012345]"),
		begin + keyLines() + end, begin + keyLines(), keyLines() + end, strings.ReplaceAll(begin+keyLines()+end, "\n", `\n`),
		"postgres://user:pass@host", "http://a:b@c:d@e", "Authorization: Basic " + mixed, "bearer " + mixed,
		`{\"api_key\": \"` + mixed + `\"}`, "TOKEN=abcdef&PASSWORD=b", "token: str = '" + mixed, "pwd=\\\"a", "--password a1b2c3 x",
		"-----BEGIN PRIVATE KEY-----\\\\", "-----END PRIVATE KEY-----", "secret=>", "12345678" + ":AA" + mixed, "M" + mixed[:23] + ".Gh3x9Z." + mixed,
	} {
		f.Add(s)
	}
	r := redact.New([]byte("fuzz"))
	f.Fuzz(func(t *testing.T, s string) {
		got := r.String(s)
		if again := r.String(got); again != got {
			t.Errorf("String is not idempotent:\n%q\n%q\n%q", s, got, again)
		}
		if len(got) > maxGrowth*len(s) {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q became invalid: %q", s, got)
		}
		last := 0
		for _, found := range redact.Findings(s) {
			if found.Start < last || found.End <= found.Start || found.End > len(s) || found.Kind == "" {
				t.Errorf("finding %+v after offset %d of %d", found, last, len(s))
			}
			last = found.End
		}
		if (last == 0) != (got == s) {
			t.Errorf("String and Findings disagree about %q", s)
		}
	})
}
