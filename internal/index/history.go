package index

import (
	"slices"
	"strings"
)

// NamesFile reports whether a command names the file: one of its words is the end of
// the path, or ends with it.
func NamesFile(command, file string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()=:;,<>|&{}[]", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimPrefix(w, "./")
		return w != "" && (w == file || strings.HasSuffix(w, "/"+file) || strings.HasSuffix(file, "/"+w))
	})
}
