package redact_test

import (
	"strings"
	"testing"

	"strandline/internal/redact"
)

func keyLines() string { return mixed + "aaaa1111+/aaaa1111BBBB\n" + mixed + "\nabcd==\n" }

func block(label string) (begin, end string) {
	return fake("-----BE", "GIN ", label, "-----\n"), fake("-----E", "ND ", label, "-----")
}

func TestPrivateKeys(t *testing.T) {
	for _, label := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		begin, end := block(label)
		pem := begin + keyLines() + end
		escaped := strings.ReplaceAll(pem, "\n", `\n`)
		table(t, []example{
			{pem, "<private-key>"},
			{"key:\n" + pem + "\nrest", "key:\n<private-key>\nrest"},
			{strings.ReplaceAll(pem, "\n", "\r\n"), "<private-key>"},
			{`{"private_key": "` + escaped + `\n", "x": 1}`, `{"private_key": "<private-key>\n", "x": 1}`},
			{`{\"k\":\"` + strings.ReplaceAll(pem, "\n", `\\n`) + `\"}`, `{\"k\":\"<private-key>\"}`},
			{"    " + strings.ReplaceAll(pem, "\n", "\n    "), "    <private-key>"},
			{"+" + strings.ReplaceAll(pem, "\n", "\n+"), "+<private-key>"},
			{begin + "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n" + keyLines() + end, "<private-key>"},
			{"two " + pem + "\n" + pem, "two <private-key>\n<private-key>"},
			// Truncated before, after, and in the END line.
			{begin + keyLines(), "<private-key>\n"},
			{"x " + begin + mixed + "\n" + mixed[:20], "x <private-key>"},
			{`"` + strings.ReplaceAll(begin+mixed, "\n", `\n`) + `"`, `"<private-key>"`},
			{keyLines() + end + "\nrest", "<private-key>\nrest"},
			{"text\n" + keyLines() + end, "text\n<private-key>"},
		})
	}
}

func TestOtherThanPrivateKeys(t *testing.T) {
	begin, end := block("RSA PRIVATE KEY")
	marker := strings.TrimSuffix(begin, "\n")
	public, publicEnd := block("PUBLIC KEY")
	cert, certEnd := block("CERTIFICATE")
	same(t, []string{
		marker,
		`if strings.Contains(s, "` + marker + `") {`,
		`begin := "` + marker + `"` + "\n" + `end := "` + end + `"`,
		marker + " and then some words of prose follow the marker",
		begin + "...\n" + end,
		"text before\n" + end,
		public + keyLines() + publicEnd,
		cert + keyLines() + certEnd,
	})
}

func TestPrivateKeyHashIgnoresLineBreaks(t *testing.T) {
	begin, end := block("PRIVATE KEY")
	pem := begin + keyLines() + end
	r := redact.New([]byte("test"))
	want := r.String(pem)
	for _, br := range []string{`\n`, "\r\n", `\\n`, "\n    "} {
		if got := r.String(strings.ReplaceAll(pem, "\n", br)); got != want {
			t.Errorf("with %q between lines: %q, want %q", br, got, want)
		}
	}
}
