package compact

import (
	"strings"

	"strandline/internal/text"
)

// shape classifies a term by its letters alone: a file of some kind, a flag, a
// hash. How often terms are needed again depends on their shape, see
// Tallies.Weights. Shapes are stored in the journal: do not rename them.
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
		case text.IsDigit(c):
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
			if text.IsLower(c) {
				lower++
			}
			hex = hex && c <= 'f' && text.IsLower(c)
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
		return dottedShape(s)
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
	case upper > 0 && !text.IsLower(s[0]):
		return "CamelCase"
	case upper > 0:
		return "camelCase"
	case digits > 0:
		return "digits"
	}
	return "word"
}

// dottedShape classifies a term with a dot by its file extension.
func dottedShape(s string) string {
	at := strings.LastIndexByte(s, '.')
	stem, ext := s[:at], s[at+1:]
	var kind string
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
		return "dotted.name"
	}
	if strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") {
		return "test file"
	}
	return kind
}
