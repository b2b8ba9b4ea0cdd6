package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	maxEncoded = 16 << 10 // bytes of base64 that are decoded
	minEncoded = 12
)

// encodedWords are words of secrets as they begin in each of the three positions of
// base64, in base64 of base64, of UTF-16 and at the start of base32, and in
// hexadecimal.
func encodedWords() []string {
	var list []string
	inBase64 := func(words ...string) {
		for _, w := range words {
			for skip := range 3 {
				e := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", skip) + w))
				from, to := []int{0, 2, 3}[skip], (skip+len(w))*8/6
				list = append(list, e[from:to])
			}
		}
	}
	inBase64("password", "passwd", "secret", "token", "api_key", "apikey", "PASSWORD", "SECRET", "TOKEN", "API_KEY", "-----BEGIN ", "eyJhbGci",
		"p\x00a\x00s\x00s\x00w\x00", "s\x00e\x00c\x00r\x00e\x00t", "t\x00o\x00k\x00e\x00n", "P\x00a\x00s\x00s\x00w\x00",
		"postgres", "mysql:", "mongodb", "redis:", "amqp:", "https:", "http:")
	tokens := []string{"ghp_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk_live_", "xoxb-", "AKIA", "npm_", "hvs.", "AIza", "dop_v1_"}
	inBase64(tokens...)
	for _, w := range append(tokens, "password", "secret", "token", "eyJhbGci") {
		inner := base64.StdEncoding.EncodeToString([]byte(w))
		inBase64(inner[:len(w)*8/6])
		list = append(list, hex.EncodeToString([]byte(w)), strings.ToUpper(hex.EncodeToString([]byte(w))))
	}
	for _, w := range []string{"password", "PASSWORD", "secret=", "token="} {
		list = append(list, base32.StdEncoding.EncodeToString([]byte(w))[:len(w)*8/5])
	}
	return list
}

// encoded matches base64, base32 or hexadecimal of text. The literal is inside it. It
// is a secret if the text holds one.
func encoded(s string, at int) (f finding, plain string) {
	start := at
	for start > 0 && at-start < maxEncoded/4 && isBase64(s[start-1]) && s[start-1] != '=' && sameName(s, start) {
		start--
	}
	end := at + run(s[at:min(len(s), at+maxEncoded)], isBase64)
	if end-start < minEncoded {
		return finding{}, ""
	}
	body := strings.TrimRight(s[start:end], "=")
	if plain, err := hex.DecodeString(body); err == nil && printable(plain) {
		return finding{kindSecret, start, end}, string(plain)
	}
	if plain, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(body); err == nil && printable(plain) {
		return finding{kindSecret, start, end}, string(plain)
	}
	for shift := range 4 {
		if shift >= len(body) {
			break
		}
		part := body[shift:]
		part = part[:len(part)/4*4+[]int{0, 0, 2, 3}[len(part)%4]]
		plain, err := base64.RawStdEncoding.DecodeString(part)
		if wide := utf16Text(plain); err == nil && wide != "" {
			return finding{kindSecret, start, end}, wide
		}
		if err == nil && printable(plain) {
			return finding{kindSecret, start, end}, string(plain)
		}
	}
	return finding{}, ""
}

// utf16Text returns the text of UTF-16 with characters of one byte, "" for other
// bytes.
func utf16Text(b []byte) string {
	if len(b) < minEncoded || (b[0] == 0) == (b[1] == 0) || (b[2] == 0) == (b[3] == 0) {
		return ""
	}
	var text []byte
	for i := range len(b) / 2 {
		text = append(text, b[2*i]|b[2*i+1]) // one of them is 0
	}
	if !printable(text) {
		return ""
	}
	return string(text)
}

// powerShell matches the encoded command of PowerShell if it contains a secret, the
// name of a user or a password in quotes.
func powerShell(s string, at int) (finding, bool) {
	i := at + run(s[at:], func(c byte) bool { return c > ' ' })
	i += blanks(s[i:])
	end := i + run(s[i:], isBase64)
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[i:end], "="))
	if err != nil || end-i < minEncoded {
		return finding{}, false
	}
	text := utf16Text(plain)
	return finding{kindSecret, i, end}, containsAny(strings.ToLower(text), "/user:", "passw", "securestring", "credential")
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}

// maxManifest is the distance between the kind of a Kubernetes manifest and its
// data.
const maxManifest = 2 << 10

// manifestData matches the values of a Kubernetes secret: the lines or members
// after data.
func manifestData(s string, at int) []finding {
	around := s[max(0, at-maxManifest):min(len(s), at+maxManifest)]
	if !containsAny(around, "kind: Secret", `"kind": "Secret"`, `"kind":"Secret"`, "kind: SealedSecret") {
		return nil
	}
	var found []finding
	i := at + strings.IndexByte(s[at:], ':') + 1
	for range 64 { // members
		i += run(s[i:], func(c byte) bool { return c <= ' ' || strings.IndexByte("{,\"", c) >= 0 })
		name := run(s[i:min(len(s), i+maxName)], isDotted)
		if name == 0 {
			break
		}
		p, ok := separator(s, i+name)
		if !ok || p.op != ':' {
			break
		}
		n := run(s[p.from:], isBase64)
		end := p.from + n
		if n < 4 || end < len(s) && !lineEnds(s, end) {
			break
		}
		if n >= minPassword {
			found = append(found, finding{kindSecret, p.from, end})
		}
		i = end
	}
	return found
}
