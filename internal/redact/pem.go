package redact

import "strings"

// The limits of a private key block.
const (
	maxBlock  = 32 << 10 // bytes from BEGIN to END
	maxLabel  = 40       // "OPENSSH PRIVATE KEY"
	minRun    = 16       // base64 in one piece that only a key has
	minBroken = 32       // base64 of a block that has lost its other end
)

// privateKey matches a PEM or PGP private key from its BEGIN line to its END
// line, or as far as its base64 goes when the end was cut off. Lines may be
// broken by real or by escaped newlines and carry a quote, a diff sign or a line
// number in front. The bare marker, as code names it, is no key.
func privateKey(s string, at int) (Finding, bool) {
	body, ok := label(s, at+len("-----BEGIN "))
	if !ok {
		return Finding{}, false
	}
	rest := s[body:min(len(s), body+maxBlock)]
	if next := strings.Index(rest, "-----BEGIN "); next >= 0 {
		rest = rest[:next]
	}
	if stop := strings.Index(rest, "-----END "); stop >= 0 {
		end, ok := label(s, body+stop+len("-----END "))
		if !ok { // the END line itself was cut
			end = body + stop + len("-----END ")
		}
		return Finding{Kind: kindPrivateKey, Start: at, End: end}, holdsKey(rest[:stop])
	}
	n, material := keyLines(rest)
	return Finding{Kind: kindPrivateKey, Start: at, End: body + n}, material >= minBroken
}

// privateKeyTail matches the lines before an END line whose BEGIN was cut off.
func privateKeyTail(s string, at int) (Finding, bool) {
	end, ok := label(s, at+len("-----END "))
	if !ok {
		return Finding{}, false
	}
	before := s[max(0, at-maxBlock):at]
	if strings.Contains(before, "-----BEGIN ") { // privateKey has seen it
		return Finding{}, false
	}
	start, material := at, 0
	for {
		line := lineStart(s, start)
		text := strings.TrimRight(s[line:start], "\r\n\\nrt ")
		n := run(text, isBase64)
		if n != len(text) || n < minRun && n > 0 || n == 0 && start != at {
			break
		}
		material += n
		if start = line; line == 0 {
			break
		}
	}
	return Finding{Kind: kindPrivateKey, Start: start, End: end}, material >= minBroken
}

// lineStart goes back from behind a newline, real or escaped, to the start of
// the line before it.
func lineStart(s string, end int) int {
	i := end
	for i > 0 && isBreak(s[i-1]) {
		i--
	}
	if i == end && strings.HasSuffix(s[:i], `\n`) {
		i -= 2
	}
	real := strings.LastIndexByte(s[:i], '\n') + 1
	if escaped := strings.LastIndex(s[real:i], `\n`); escaped >= 0 {
		return real + escaped + 2
	}
	return real
}

// label returns the offset behind "<words> PRIVATE KEY[ BLOCK]-----" at from.
func label(s string, from int) (int, bool) {
	end := strings.Index(s[from:min(len(s), from+maxLabel)], "-----")
	if end < 0 {
		return 0, false
	}
	words := strings.TrimSuffix(s[from:from+end], " BLOCK")
	return from + end + len("-----"), strings.HasSuffix(words, "PRIVATE KEY")
}

// holdsKey reports whether the text between BEGIN and END has the material of a
// key: nothing but base64, or a long piece that no code would have.
func holdsKey(body string) bool {
	n, material := keyLines(body)
	if n == len(body) && material >= minRun {
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

// keyLines returns how far s consists of the lines of a key, and how much
// base64 they hold.
func keyLines(s string) (n, material int) {
	for n < len(s) {
		i := n + lineBreaks(s[n:])
		if h := headerLine(s[i:]); h > 0 {
			n = i + h
			continue
		}
		k := run(s[i:], isBase64)
		if next := i + k; k == 0 || next < len(s) && lineBreaks(s[next:]) == 0 && k < minRun {
			break
		}
		n = i + k
		material += k
	}
	if rest := n + lineBreaks(s[n:]); rest == len(s) {
		n = rest
	}
	return n, material
}

// lineBreaks counts the bytes of newlines, real and escaped, and blanks.
func lineBreaks(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case isBreak(s[n]) || isSpace(s[n]):
			n++
		case s[n] == '\\' && n+1 < len(s) && (s[n+1] == 'n' || s[n+1] == 'r' || s[n+1] == '\\'):
			n++
			if s[n] != '\\' {
				n++
			}
		default:
			return n
		}
	}
	return n
}

// headerLine returns the length of a header such as "DEK-Info: …", 0 for none.
func headerLine(s string) int {
	for _, h := range []string{"Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Hash:"} {
		if strings.HasPrefix(s, h) {
			end := len(s)
			for _, br := range []string{"\n", `\n`} {
				if at := strings.Index(s, br); at >= 0 {
					end = min(end, at)
				}
			}
			return end
		}
	}
	return 0
}

// keyMaterial is what of a private key block goes into the hash, so that a key
// has the same hash whatever its lines are broken by.
func keyMaterial(block string) string {
	var b strings.Builder
	for i := 0; i < len(block); i++ {
		if block[i] == '\\' {
			i++ // of an escape
			continue
		}
		if isBase64(block[i]) {
			b.WriteByte(block[i])
		}
	}
	return b.String()
}
