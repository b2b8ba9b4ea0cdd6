package redact

import (
	"encoding/base64"
	"strings"
)

const (
	maxEncoded = 16 << 10 // bytes of base64 that are decoded
	minEncoded = 12
)

// encodedWords are words for secrets in base64, as they begin in each of the three
// positions.
func encodedWords() []string {
	var list []string
	for _, w := range []string{"password", "passwd", "secret", "token", "api_key", "apikey", "PASSWORD", "SECRET", "TOKEN", "API_KEY", "-----BEGIN ", "eyJhbGci"} {
		for skip := range 3 {
			e := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", skip) + w))
			from, to := []int{0, 2, 3}[skip], (skip+len(w))*8/6
			list = append(list, e[from:to])
		}
	}
	return list
}

// encoded matches base64 of text. The literal is inside it. It is a secret if the
// text holds one.
func encoded(s string, at int) (f finding, plain string) {
	start := at
	for start > 0 && at-start < maxEncoded/4 && isBase64(s[start-1]) && s[start-1] != '=' {
		start--
	}
	end := at + run(s[at:min(len(s), at+maxEncoded)], isBase64)
	if end-start < minEncoded {
		return finding{}, ""
	}
	body := strings.TrimRight(s[start:end], "=")
	for shift := range 4 {
		if shift >= len(body) {
			break
		}
		part := body[shift:]
		part = part[:len(part)/4*4+[]int{0, 0, 2, 3}[len(part)%4]]
		plain, err := base64.RawStdEncoding.DecodeString(part)
		if err == nil && printable(plain) {
			return finding{kindSecret, start, end}, string(plain)
		}
	}
	return finding{}, ""
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
