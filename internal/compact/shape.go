package compact

import "strings"

// shape says what a specific looks like, which is what is known of one that was
// never seen before: whether it is a file of some language, a flag, a hash. What
// is needed again differs by it, and that is learned; see Weights. The names are
// part of the journal's facts.
func shape(s string) string {
	if strings.HasPrefix(s, "--") {
		return "flag"
	}
	if strings.IndexByte(s, '/') >= 0 {
		return "path"
	}
	underscore, hyphen := false, false
	hex, letters, digits, dots, lower := true, 0, 0, 0, 0
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			digits++
			continue
		case c == '.':
			dots++
		case c == '_':
			underscore = true
		case c == '-':
			hyphen = true
		default:
			letters++
			if isLower(c) {
				lower++
			}
			hex = hex && c <= 'f' && isLower(c)
			continue
		}
		hex = false
	}
	upper := letters - lower
	switch {
	case hex && digits > 0 && len(s) >= 7:
		return "hash"
	case dots > 0 && !underscore && !hyphen && letters < digits+dots:
		return "version"
	case dots > 0:
		return dotted(s)
	case underscore && lower == 0:
		return "constant"
	case underscore && strings.HasPrefix(s, "test_"):
		return "test name"
	case underscore:
		return "snake_case"
	case upper > 0 && strings.HasPrefix(s, "Test"):
		return "test name"
	case hyphen:
		return "kebab-case"
	case upper > 0 && !isLower(s[0]):
		return "CamelCase"
	case upper > 0:
		return "camelCase"
	case digits > 0:
		return "digits"
	}
	return "word"
}

// dotted tells files, by their language, from names with dots.
func dotted(s string) string {
	at := strings.LastIndexByte(s, '.')
	stem, ext := s[:at], s[at+1:]
	kind := "dotted.name"
	switch ext {
	case "go", "py", "rs", "java", "kt", "rb", "php", "cs", "swift", "c", "h", "cc", "cpp", "hpp", "ts", "tsx", "js", "jsx", "mjs", "vue", "sql", "css", "html", "proto":
		kind = "code file"
	case "md", "rst", "txt", "adoc":
		kind = "text file"
	case "json", "jsonl", "csv", "xml", "log", "lock", "sum":
		kind = "data file"
	case "toml", "yml", "yaml", "ini", "cfg", "mod", "env", "sh":
		kind = "setting file"
	default:
		return kind
	}
	if strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") {
		return "test file"
	}
	return kind
}
