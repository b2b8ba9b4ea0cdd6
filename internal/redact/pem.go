package redact

import (
	"strings"

	"strandline/internal/text"
)

// The limits of a private key block.
const (
	maxBlock  = 32 << 10 // bytes from BEGIN to END
	maxTail   = 8 << 10  // bytes before an END without a BEGIN
	maxLabel  = 40       // "OPENSSH PRIVATE KEY"
	minRun    = 16       // run of base64 that indicates a key
	minBroken = 32       // base64 of a block without BEGIN or END
)

// privateKey matches a PEM or PGP private key from its BEGIN line to its END line
// or, if that is missing, to the end of its base64. Lines may be separated by real
// or escaped newlines and have a quote, diff sign or line number in front. A BEGIN
// line without key material does not match.
func privateKey(s string, at int) (finding, bool) {
	body, ok := label(s, at+len("-----BEGIN "))
	if !ok {
		return finding{}, false
	}
	rest := s[body:min(len(s), body+maxBlock)]
	if next := strings.Index(rest, "-----BEGIN "); next >= 0 {
		rest = rest[:next]
	}
	if stop := strings.Index(rest, "-----END "); stop >= 0 {
		end, ok := label(s, body+stop+len("-----END "))
		if !ok { // the END line is truncated
			end = body + stop + len("-----END ")
		}
		return finding{kindPrivateKey, at, end}, holdsKey(rest[:stop])
	}
	n, material := keyLines(rest)
	return finding{kindPrivateKey, at, body + n}, material >= minBroken
}

// ssh2Key matches the private key of SSH Communications, whose marks have four
// dashes.
func ssh2Key(s string, at int) (finding, bool) {
	const mark = "PRIVATE KEY ----"
	i := strings.Index(s[at:min(len(s), at+2*maxLabel)], mark)
	if i < 0 {
		return finding{}, false
	}
	i += at + len(mark)
	n, material := keyLines(s[i:])
	return finding{kindPrivateKey, at, i + n}, material >= minBroken
}

// privateKeyTail matches the base64 lines before an END line without BEGIN line.
func privateKeyTail(s string, at int) (finding, bool) {
	end, ok := label(s, at+len("-----END "))
	if !ok {
		return finding{}, false
	}
	from := max(0, at-maxTail)
	if strings.Contains(s[from:at], "-----BEGIN ") { // privateKey matches it
		return finding{}, false
	}
	start, material := at, 0
	for start > from {
		lineEnd := start - newlineBefore(s[from:start])
		n := base64Before(s[from:lineEnd])
		if lineEnd == start || n < minRun && material > 0 || n == 0 {
			break
		}
		start, material = lineEnd-n, material+n
	}
	return finding{kindPrivateKey, start, end}, material >= minBroken
}

// newlineBefore returns the length of the newline, real or escaped, and of the
// indentation at the end of s.
func newlineBefore(s string) int {
	rest := strings.TrimRight(s, " \t\r\n")
	for _, escape := range []string{"n", "r"} {
		if bare := strings.TrimSuffix(rest, `\`+escape); len(bare) < len(rest) {
			rest = strings.TrimRight(bare, `\`)
		}
	}
	return len(s) - len(rest)
}

// base64Before returns the length of the base64 at the end of s.
func base64Before(s string) int {
	i := len(s)
	for i > 0 && isBase64(s[i-1]) {
		i--
	}
	if i > 0 && s[i-1] == '\\' && i < len(s) { // the n of an escaped newline
		i++
	}
	return len(s) - i
}

// label returns the offset after "<words> PRIVATE KEY[ BLOCK]-----" at from.
func label(s string, from int) (int, bool) {
	end := strings.Index(s[from:min(len(s), from+maxLabel)], "-----")
	if end < 0 {
		return 0, false
	}
	words := strings.TrimSuffix(s[from:from+end], " BLOCK")
	return from + end + len("-----"), strings.HasSuffix(words, "PRIVATE KEY") || strings.HasPrefix(words, "OpenVPN Static key")
}

// holdsKey reports whether the text between BEGIN and END contains key material:
// only base64, or a long run with mixed characters.
func holdsKey(body string) bool {
	n, material := keyLines(body)
	if n+newline(body[n:]) == len(body) && material >= minRun {
		return true
	}
	for i := 0; i < len(body); {
		k := run(body[i:], isBase64)
		if m := mixOf(body[i : i+k]); k >= minRun && m.upper > 0 && m.lower > 0 && m.digit+m.other > 0 {
			return true
		}
		i += k + 1
	}
	return false
}

// keyLines returns the length of the key lines at the start of s, and of the
// base64 in them.
func keyLines(s string) (n, material int) {
	for n < len(s) {
		i := n + newline(s[n:])
		if h := headerLine(s[i:]); h > 0 && i > n {
			n = i + h
			continue
		}
		k := run(s[i:], isBase64)
		whole := i+k == len(s) || newline(s[i+k:]) > 0 || s[i+k] == '\\'
		if k == 0 || k < minRun && (i == n || !whole) {
			break
		}
		n = i + k
		material += k
	}
	return n, material
}

// newline returns the length of the newlines at the start of s, real or escaped,
// with the blanks around them; 0 if there is none.
func newline(s string) int {
	i, found := 0, false
	for i < len(s) {
		if isSpace(s[i]) || isBreak(s[i]) {
			found = found || isBreak(s[i])
			i++
			continue
		}
		n := run(s[i:], func(c byte) bool { return c == '\\' })
		if n == 0 || i+n == len(s) || s[i+n] != 'n' && s[i+n] != 'r' {
			break
		}
		i, found = i+n+1, true
	}
	if !found {
		return 0
	}
	return i + lineMark(s[i:])
}

// lineMark returns the length of what listings put before a line: a number, the
// sign of a diff, the mark of a quotation or comment.
func lineMark(s string) int {
	i := run(s[:min(len(s), maxGap)], text.IsDigit)
	if i > 0 {
		gap := run(s[i:min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || c == ':' || c == '|' })
		for _, arrow := range []string{"→", "│", "┊"} {
			if strings.HasPrefix(s[i+gap:], arrow) {
				gap += len(arrow)
			}
		}
		if gap == 0 {
			return 0
		}
		return i + gap
	}
	n := run(s[:min(len(s), maxGap)], func(c byte) bool { return strings.IndexByte("+->|#*\"' ", c) >= 0 })
	if n > 0 && n < len(s) && isBase64(s[n]) {
		return n
	}
	return 0
}

// headerLine returns the length of a header such as "DEK-Info: …", 0 for none.
func headerLine(s string) int {
	if !text.HasAnyPrefix(s, "Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Hash:") {
		return 0
	}
	line, _, _ := strings.Cut(s, "\n")
	line, _, _ = strings.Cut(line, `\n`)
	return len(line)
}

// keyMaterial returns the part of a private key block that is hashed. It is the
// same for any line separator.
func keyMaterial(block string) string {
	var b strings.Builder
	for i := 0; i < len(block); i++ {
		if block[i] == '\\' {
			i += run(block[i:], func(c byte) bool { return c == '\\' })
			continue // with the letter of the escape
		}
		if isBase64(block[i]) {
			b.WriteByte(block[i])
		}
	}
	return b.String()
}
