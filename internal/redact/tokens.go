package redact

import (
	"strings"

	"strandline/internal/text"
)

// token is a kind of secret with a known prefix.
type token struct {
	kind     string
	prefixes string          // separated by blanks; ␣ is a blank in one
	set      func(byte) bool // alphabet of the characters after the prefix
	min      int             // minimum number of those characters
	// valid, if set, checks the characters after the prefix.
	valid func(body string) bool
	// inWord decides whether to accept a token after a word character; nil means
	// looksRandom.
	inWord func(body string) bool
	// value reports that the prefix is not part of the secret.
	value bool
	// fixed reports that a word character may follow, because length and alphabet
	// determine the end.
	fixed bool
	// full is the number of characters of a whole token, if all have the same. A
	// shorter one may continue on the next line.
	full int
	// lead is the number of characters before the prefix, 0 if it begins the token.
	lead int
}

// maxBody limits the bytes that decide whether a token is one. The rest of a
// longer token belongs to it as well.
const maxBody = 128

// match matches the token at offset at, whose prefix ends at offset from. The
// whole run belongs to the secret.
func (t token) match(s string, at, from int) (finding, bool) {
	if t.inWord == nil {
		t.inWord = looksRandom
	}
	end := from + run(s[from:min(len(s), from+maxBody)], t.set)
	body := s[from:end]
	if t.full > 0 && len(body) < t.full {
		if joined, ok := t.continued(s, from, end); ok && borderBefore(s, at) {
			return finding{t.kind, at, joined}, true
		}
	}
	if t.lead > 0 {
		return t.around(s, at, end)
	}
	if len(body) < t.min || masked(body) || strings.HasSuffix(body, "EXAMPLE") || t.valid != nil && !t.valid(body) || !t.value && !borderBefore(s, at) && !t.inWord(body) {
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

// around matches a token whose known part is not at its beginning.
func (t token) around(s string, at, end int) (finding, bool) {
	before := 0
	for before < min(t.lead, at) && isURLSafe(s[at-1-before]) {
		before++
	}
	start := at - before
	body := s[start:end]
	known := t.set('a') && t.lead < 36 || before == t.lead // what follows is checked by its length
	if t.set('0') && !t.set('a') {                         // the lead is hexadecimal
		known = known && run(s[start:at], isHex) == before
	}
	return finding{t.kind, start, end}, known && (t.min <= 1 || end-at-2 >= t.min) && before >= min(t.lead, 3) && borderBefore(s, start) && borderAfter(s, end) && looksRandom(body)
}

// continued returns the end of a token that a line break or the joint of two
// string literals divides.
func (t token) continued(s string, from, end int) (int, bool) {
	gap := joint(s[end:])
	if gap == 0 || end-from < 4 {
		return 0, false
	}
	rest := run(s[end+gap:min(len(s), end+gap+maxBody)], t.set)
	after := end + gap + rest
	return after, end-from+rest == t.full && (after == len(s) || !isDotted(s[after])) && looksRandom(s[from:end]+s[end+gap:after])
}

// joint returns the length of a line break with its indentation, or of the quotes
// and operators between two string literals.
func joint(s string) int {
	s = s[:min(len(s), 2*maxGap)]
	if n := newline(s); n > 0 {
		return n
	}
	if n := newline(strings.TrimPrefix(s, "\\")); n > 0 { // a continued command
		return n + 1
	}
	i := 0
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		quote := s[i]
		i++
		for i < len(s) && (isSpace(s[i]) || isBreak(s[i]) || strings.IndexByte("+.\\", s[i]) >= 0) {
			i++
		}
		if i < len(s) && s[i] == quote && i+1 < len(s) && text.IsAlnum(s[i+1]) {
			return i + 1
		}
	}
	return 0
}

// marks are the segments that providers put between their name and the random part
// of a token: acme_live_…, acme-pat-….
func marks() []string {
	var list []string
	for w := range strings.FieldsSeq("live test prod sandbox pat sk key api token secret sec tok oauth at rt") {
		list = append(list, "_"+w+"_", "-"+w+"-")
	}
	return list
}

// prefixed matches a token of a provider that is not listed: a short prefix of
// letters, and after the separator at offset at 32 or more random characters of all
// classes.
func prefixed(s string, at int) (finding, bool) {
	const least = 32
	from := at + 1
	if from+least > len(s) || !isURLSafe(s[from+least/2]) || !isURLSafe(s[from+least/4]) {
		return finding{}, false
	}
	start := at
	for start > 0 && at-start < 20 && isWord(s[start-1]) && sameName(s, start) {
		start--
	}
	n := run(s[from:min(len(s), from+maxBody)], text.IsAlnum)
	prefix := s[start:at]
	if n < least {
		n = run(s[from:min(len(s), from+maxBody)], isURLSafe)
		if m := mixOf(s[from : from+n]); n < least+4 || m.digit*10 < n || m.other*8 > n {
			return finding{}, false
		}
	}
	if n < least || at-start < 2 || !text.IsLower(s[start]) || start > 0 && (isURLSafe(s[start-1]) && sameName(s, start) || strings.IndexByte("/+=%.", s[start-1]) >= 0) ||
		run(prefix, func(c byte) bool { return isLowerAlnum(c) || c == '_' }) < len(prefix) || listed("pk phc pub sha", prefix[:run(prefix, text.IsLower)]) || hasDigit(prefix) && strings.HasPrefix(prefix, "sha") {
		return finding{}, false
	}
	m, end := mixOf(s[from:from+n]), from+n
	end += run(s[end:], isURLSafe)
	return finding{kindToken, start, end}, m.upper > 3 && m.lower > 3 && m.digit > 1 && segments(s[from:from+n])*3 >= n && !wordLike(s[from:from+n]) && (end == len(s) || strings.IndexByte("/+", s[end]) < 0)
}

// mailgun matches <32 hexadecimal digits>-<8>-<8>.
func mailgun(s string, at int) (finding, bool) {
	start, end := at-32, at+18
	if start < 0 || end > len(s) || s[at+9] != '-' || run(s[at+1:end], isHex) != 8 || run(s[at+10:end], isHex) != 8 || run(s[start:at], isHex) != 32 {
		return finding{}, false
	}
	return finding{"mailgun-key", start, end}, borderBefore(s, start) && borderAfter(s, end)
}

// marked matches a token of any provider with such a segment. Its body is random
// and long, unlike the names of tests.
func marked(s string, at, from int) (finding, bool) {
	start := at - runBefore(s[max(0, at-16):at], text.IsAlnum)
	end := from + run(s[from:min(len(s), from+maxBody)], isURLSafe)
	body := s[from:end]
	if at-start < 2 || !borderBefore(s, start) || len(body) < 24 || s[start:at] == "pk" || !text.IsLetter(s[start]) {
		return finding{}, false
	}
	m := mixOf(body)
	return finding{kindToken, start, end}, m.digit >= 3 && (isMixedKey(body) || m.other == 0 && looksRandom(body)) && !isUUID(body[:min(36, len(body))]) && borderAfter(s, end)
}
