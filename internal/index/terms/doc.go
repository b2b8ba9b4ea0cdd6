// Package terms turns text into the words that a store indexes and a query
// looks up. It runs before any database, so that every store matches the same
// words.
//
// It reads text as programmers write it. A compound (a name in camelCase,
// snake_case or kebab-case, a dotted name, a file name, an error code, a
// version) is found by its parts and as a whole:
//
//	parseConfigFile   parseconfigfile parse config file
//	parse_config_file the same, so either spelling finds the other
//	store_test.go     storetest.go storetest store test go
//	v1.26.8           1.26.8 26
//	E0382             e0382 0382
//	3f9c2ab07d1e      3f9c2ab07d1e: hashes and UUIDs are one word each
//
// Terms are lower case, without diacritics, at most MaxTerm bytes long and
// consist of letters, digits and dots. Chinese, Japanese and Korean text is cut
// into overlapping pairs of characters, and a run's last character also stands
// alone. Symbols and emoji carry no term. Long unstructured runs such as base64
// are kept by their first bytes only.
//
// English plurals are folded to the singular on both sides (Harman's
// S-stemmer), because commands and prose mix "test" and "tests" freely. Verb
// endings are left alone: folding them merges identifiers that differ.
package terms

// MaxTerm is the length in bytes at which a term is clipped.
const MaxTerm = 64

// garbageLen is the length of a run from which it is checked for structure, and
// garbageKeep what is kept of a run that has none.
const (
	garbageLen  = 64
	garbageKeep = 16
)

// minHash is the length from which a mix of hexadecimal digits counts as a hash;
// git abbreviates commit ids to no less.
const minHash = 7
