package redact

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// pair is a name with its value, in any syntax.
type pair struct {
	kind      string // kindPassword unless the name says otherwise
	op        byte   // '=', ':' or ' ' (a command line flag)
	name      int    // offset of the operator if it follows the name directly, else -1
	from      int    // offset of the value
	quote     string // around the value, with its backslashes; "" for none
	env       bool   // NAME=value, where any word can be the value
	certain   bool   // the syntax allows only a value: an element, a flag, a query
	attribute bool   // the name is itself a value: {"name": …, "value": …}
	weak      bool   // only a random value is secret
	constant  bool   // the name is in capitals
	line      bool   // the name begins its line
	cred      bool   // the name is that of a user and password
	start     int    // offset of the name
}

const (
	maxValue = 4096
	maxBare  = 512 // of a value without quotes
	maxType  = 24  // of a type annotation between name and value
	maxGap   = 16  // blanks around the operator
)

// separator parses the text between a name and its value: closing quotes, an
// operator, a type annotation, opening quotes.
func separator(s string, end int) (pair, bool) {
	p := pair{kind: kindPassword, name: -1}
	i := end + closeQuote(s[end:])
	if strings.HasPrefix(s[i:], "[]") { // char password[] = "…"
		i += 2
	}
	gap := blanks(s[i:])
	i += gap
	if i >= len(s) {
		return p, false
	}
	switch s[i] {
	case '=':
		if i == end {
			p.name = end
		}
		p.op = '='
		i++
		if i < len(s) && s[i] == '>' {
			i++
		}
	case ':':
		p.op = ':'
		i++
		if i < len(s) && s[i] == '=' || i+1 < len(s) && s[i] == ':' && s[i+1] == ' ' && i == end+1 { // the second is of LDIF
			i++
		} else if t := annotation(s[i:]); t > 0 && i == end+1 {
			i += t
			p.op = '='
		}
	case '?', '+':
		if i+1 < len(s) && s[i+1] == '=' && s[i] == '?' { // DB_PASSWORD ?= …
			p.op = '='
			i += 2
			break
		}
		fallthrough
	case '|': // process.env.KEY || "…"
		if i+3 >= len(s) || s[i+1] != s[i] {
			return p, false
		}
		i += 2
		if s[i] == '=' {
			i++
		}
		if openQuote(s[i+blanks(s[i:]):]) == 0 {
			return p, false
		}
		p.op = '='
	default:
		if gap == 0 || i-gap != end {
			return p, false
		}
		p.op = ' '
		if t := annotation(s[i:]); t > 0 {
			i += t
			p.op = '='
		}
	}
	if i < len(s) && (s[i] == '=' || s[i] == '~' || s[i] == ':') { // a comparison, a scope
		return p, false
	}
	g := blanks(s[i:])
	if g > 0 {
		p.name = -1
	}
	i += g
	if b := blockScalar(s[i:]); b > 0 && p.op == ':' {
		p.from, p.certain = i+b, true
		return p, true
	}
	if i+1 < len(s) && strings.IndexByte("bBrRuU@fL", s[i]) >= 0 && (s[i+1] == '"' || s[i+1] == '\'') {
		i++
	}
	n := openQuote(s[i:])
	p.quote, p.from = s[i:i+n], i+n
	return p, true
}

// blockScalar returns the length of the mark and line break before the text of a
// YAML block scalar: "|\n  " or ">-\n  ".
func blockScalar(s string) int {
	n := run(s[:min(len(s), 4)], func(c byte) bool { return strings.IndexByte("|>+-12", c) >= 0 })
	if n == 0 || s[0] != '|' && s[0] != '>' {
		return 0
	}
	if b := newline(s[n:min(len(s), n+2*maxName)]); b > 0 {
		return n + b
	}
	return 0
}

// argumentAfter parses the value of a quoted name and a comma: define('KEY', '…'),
// getenv("KEY", "…"), set("password", "…").
func argumentAfter(s string, start, end int) (pair, bool) {
	n := openQuote(s[end:])
	tuple := start > 0 && s[start-1] == '{' // {password, "…"}
	if !tuple && n == 0 || start == 0 || !tuple && s[start-1] != s[end+n-1] {
		return pair{}, false
	}
	i := end + n
	i += blanks(s[i:])
	if i >= len(s) || s[i] != ',' {
		return pair{}, false
	}
	i++
	i += run(s[i:min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || isBreak(c) })
	q := openQuote(s[i:])
	return pair{op: ',', name: -1, from: i + q, quote: s[i : i+q]}, q > 0
}

// defaultOf parses the value that a variable has if it is not set:
// ${DB_PASSWORD:-secret}. The name is s[start:end].
func defaultOf(s string, start, end int) (pair, bool) {
	if start < 2 || s[start-2:start] != "${" || end+1 >= len(s) || s[end] != ':' {
		return pair{}, false
	}
	i := end + 1
	if strings.IndexByte("-=", s[i]) >= 0 {
		i++
	}
	return pair{op: '=', name: -1, from: i, quote: "}"}, i < len(s) && strings.IndexByte("?+/", s[i]) < 0
}

// setter parses the value of a call such as setPassword("…") or password("…").
func setter(s string, start, end int) (pair, bool) {
	if end >= len(s) || s[end] != '(' {
		return pair{}, false
	}
	q := openQuote(s[end+1:])
	if q == 0 {
		return pair{}, false
	}
	verb := strings.ToLower(s[start:end])
	verb = verb[strings.LastIndexByte(verb, '.')+1:]
	sets := text.HasAnyPrefix(verb, "set", "with", "use", "add", "put") || text.HasAnyPrefix(verb, "password", "secret", "passphrase", "token", "apikey", "accesstoken", "clientsecret")
	return pair{op: ',', name: -1, from: end + 1 + q, quote: s[end+1 : end+1+q]}, sets
}

func blanks(s string) int { return run(s[:min(len(s), maxGap)], isSpace) }

// openQuote returns the length of a quote with its backslashes, 0 for none.
func openQuote(s string) int { return escaped(s, 0, "\"'`") }

// closeQuote returns the length of the quote and bracket that end a name.
func closeQuote(s string) int {
	n := openQuote(s)
	if n < len(s) && s[n] == ']' {
		n++
	}
	return n
}

// annotation returns the length of a type and the equals sign after it.
func annotation(s string) int {
	i := blanks(s)
	n := run(s[i:min(len(s), i+maxType)], func(c byte) bool {
		return isWord(c) || c == '&' || c == '*' || c == '.' || c == '[' || c == ']' || c == '?'
	})
	if n == 0 {
		return 0
	}
	i += n
	i += blanks(s[i:])
	if i+1 < len(s) && s[i] == '=' && s[i+1] != '=' && s[i+1] != '>' && !isBreak(s[i+1]) {
		return i + 1
	}
	return 0
}

// value matches the value if it is a secret. It reads beyond maxBare or maxValue
// bytes only for a secret.
func (p pair) value(s string) (finding, bool) {
	if p.from >= len(s) || placeholderEnd(s, p.from) > 0 {
		return finding{}, false
	}
	bound := min(len(s), p.from+maxBare)
	ends := p.bareEnd
	if p.quote != "" {
		bound = min(len(s), p.from+maxValue)
		ends = p.quotedEnd
	}
	end := p.from + ends(s[p.from:bound])
	code := p.quote == "" && end < len(s) && strings.IndexByte("([{<", s[end]) >= 0
	prose := p.quote == "" && p.op == ':' && !p.certain && end < bound && !lineEnds(s, end)
	if whole := p.wholeEnd(s); whole > end {
		return finding{p.kind, p.from, whole}, true
	}
	if code || prose || !p.secret(s[p.from:end], end, s) {
		return finding{}, false
	}
	if end == bound {
		end += ends(s[end:])
	}
	return finding{p.kind, p.from, end}, true
}

// wholeEnd returns the end of a generated value that contains characters of code and
// fills the rest of its line, 0 if there is none.
func (p pair) wholeEnd(s string) int {
	if p.quote != "" || !p.env && (!p.line || p.op != ':' && p.name < 0) || p.weak {
		return 0
	}
	end := p.from + run(s[p.from:min(len(s), p.from+maxBody)], func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"'`\\", c) < 0 })
	v := s[p.from:end]
	if end < len(s) && !isBreak(s[end]) || len(v) < 12 || !mingled(v) || !strings.ContainsAny(v, "!#$%^&*?~") || template(v) || masked(v) || containsAny(v, opening, "://", "()") {
		return 0
	}
	return end
}

// quotedEnd returns the offset of the closing quote, or of the line end if the
// value is truncated.
func (p pair) quotedEnd(s string) int {
	quote := p.quote
	for i := 0; i < len(s); i++ {
		if isBreak(s[i]) || s[i] == quote[0] && strings.HasPrefix(s[i:], quote) {
			return i
		}
		if s[i] == '\\' && len(quote) == 1 {
			i++
		}
	}
	return len(s)
}

// bareEnd returns the end of an unquoted value.
func (p pair) bareEnd(s string) int {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n', '"', '\'', '`', '(', ')', '<', '>', '|':
			return i
		case ',', ';', '[', ']', '{', '}', '&':
			if !p.env {
				return i
			}
		case '@': // of a URL
			if !p.env && p.kind != kindPassword {
				return i
			}
		case '\\':
			if i+1 < len(s) && strings.IndexByte("nrt\"'\\", s[i+1]) >= 0 {
				return i
			}
		case '=':
			if !p.env && i+1 < len(s) && isWord(s[i+1]) {
				return i // of the next pair; at the end it is padding
			}
		}
	}
	return len(s)
}

// lineEnds reports whether only a comment or punctuation follows.
func lineEnds(s string, i int) bool {
	i += blanks(s[min(i, len(s)):])
	return i >= len(s) || strings.IndexByte("\r\n\\,;#}])\"'&|", s[i]) >= 0
}

const (
	maxTag       = 80 // attributes between an element's name and its value
	maxAttribute = 48 // distance between a name and the attribute "value"
)

// element parses the value of <name>value</name>, with plain or escaped angle
// brackets. The name is s[start:end].
func element(s string, start, end int) (pair, bool) {
	open, shut := "<", ">"
	if start > 0 && s[start-1] == ':' { // <ns:name>
		start--
		start -= runBefore(s[:start], isURLSafe)
	}
	if strings.HasSuffix(s[:start], "&lt;") {
		open, shut = "&lt;", "&gt;"
	} else if !strings.HasSuffix(s[:start], open) {
		return pair{}, false
	}
	tag := s[end:min(len(s), end+maxTag)]
	n := strings.Index(tag, shut)
	if n < 0 || n > 0 && (!isSpace(tag[0]) || tag[n-1] == '/') || strings.ContainsAny(tag[:n], "\r\n<") {
		return pair{}, false
	}
	from, closing := end+n+len(shut), open+"/"
	if text.HasPrefixFold(s[from:], "<value>") {
		from, closing = from+len("<value>"), "</"
	}
	const cdata = "<![CDATA["
	if strings.HasPrefix(s[from:], cdata) {
		from, closing = from+len(cdata), "]]>"
	}
	if !strings.Contains(s[from:min(len(s), from+maxBare)], closing) {
		return pair{}, false // a type parameter
	}
	return pair{op: '=', name: -1, from: from, quote: closing, certain: true}, true
}

// attribute parses a value in an attribute next to the name s[start:end]: {"name":
// "DB_PASSWORD", "value": "…"}, <add key="ApiKey" value="…"/> and the same in
// YAML.
func attribute(s string, start, end int) (pair, bool) {
	if p, ok := plistString(s, start, end); ok {
		return p, true
	}
	i := end + openQuote(s[end:])
	start -= runBefore(s[:start], isPath)
	if !endsWithNameKey(s[:start]) && !strings.HasSuffix(s[:start], `variable "`) {
		return pair{}, false
	}
	if i > end && i < len(s) && s[i] == '>' && !text.HasAnyPrefix(s[i+1:], "<", "\n") { // <string name="…">value</string>
		return pair{op: '=', name: -1, from: i + 1, quote: "</", certain: true}, true
	}
	const fallback = "default"
	if d := strings.Index(s[i:min(len(s), i+maxTag+maxAttribute)], fallback); i > end && d > 0 && strings.IndexByte(s[i:i+d], '{') >= 0 && strings.IndexByte(s[i:i+d], '}') < 0 { // variable "name" { default = … }
		return separator(s, i+d+len(fallback))
	}
	const inner = "><value>"
	if v := strings.Index(s[i:min(len(s), i+maxTag)], inner); v >= 0 && strings.IndexByte(s[i:i+v], '>') < 0 {
		return pair{op: '=', name: -1, from: i + v + len(inner), quote: "</", certain: true}, true
	}
	n := valueAttribute(s[i:min(len(s), i+2*maxAttribute)])
	if n < 0 {
		return pair{}, false
	}
	i += n
	const word = "value"
	p, ok := separator(s, i+len(word))
	if p.op == ' ' {
		return pair{}, false
	}
	p.certain, p.attribute = true, true
	return p, ok
}

// valueAttribute returns the offset of the attribute "value" if at most two other
// attributes precede it, else -1.
func valueAttribute(s string) int {
	const word = "value"
	for i := 0; i+len(word) < len(s); i++ {
		switch {
		case s[i] == '{' || s[i] == '}' || s[i] == '<' || s[i] == '>':
			return -1
		case (s[i] == 'v' || s[i] == 'V') && strings.EqualFold(s[i:i+len(word)], word) && borderBefore(s, i) && i > 0:
			return i
		}
	}
	return -1
}

// plistString parses <key>name</key><string>value</string>.
func plistString(s string, start, end int) (pair, bool) {
	const shut, open = "</key>", "<string>"
	if !strings.HasSuffix(s[:start], "<key>") || !strings.HasPrefix(s[end:], shut) {
		return pair{}, false
	}
	i := end + len(shut)
	i += run(s[i:min(len(s), i+maxAttribute)], func(c byte) bool { return isSpace(c) || isBreak(c) })
	return pair{op: '=', name: -1, from: i + len(open), quote: "</", certain: true}, strings.HasPrefix(s[i:], open)
}

// endsWithNameKey reports whether s ends with name=, key: or similar, with
// optional quotes.
func endsWithNameKey(s string) bool {
	s = strings.TrimRight(s[max(0, len(s)-maxAttribute):], "\"'`\\ \t")
	if s == "" || s[len(s)-1] != '=' && s[len(s)-1] != ':' {
		return false
	}
	s = strings.TrimRight(s[:len(s)-1], "\"'`\\ \t")
	return slices.ContainsFunc([]string{"name", "key"}, func(w string) bool {
		n := len(s) - len(w)
		return n >= 0 && strings.EqualFold(s[n:], w) && borderBefore(s, n)
	})
}

// escapedSpace returns the length of a line break or tab written as an escape
// sequence, with any number of backslashes.
func escapedSpace(s string) int { return escaped(s, 1, "nrt") }

// escaped returns the length of at least the given number of backslashes and one of
// the characters after them, 0 for none.
func escaped(s string, backslashes int, characters string) int {
	n := run(s[:min(len(s), maxGap)], func(c byte) bool { return c == '\\' })
	if n >= backslashes && n < len(s) && strings.IndexByte(characters, s[n]) >= 0 {
		return n + 1
	}
	return 0
}

// runBefore returns the length of the suffix of s whose bytes are all in the set,
// at most maxName.
func runBefore(s string, set func(byte) bool) int {
	n := 0
	for n < min(len(s), maxName) && set(s[len(s)-1-n]) {
		n++
	}
	return n
}
