// Package terms splits text into the terms that an index stores and a query looks up.
// All stores use it, so that they match the same words.
//
// It recognises the names that programmers write. A compound (a name in camelCase,
// snake_case or kebab-case, a dotted name, a file name, an error code, a version) is
// found by its parts and as a whole:
//
//	parseConfigFile   parseconfigfile parse config file
//	parse_config_file the same, so either spelling finds the other
//	store_test.go     storetest.go storetest store test go
//	v1.26.8           1.26.8 26
//	E0382             e0382 0382
//	3f9c2ab07d1e      3f9c2ab07d1e: hashes and UUIDs are one word each
//
// Terms are lower case, without diacritics, at most MaxTerm bytes long, and consist of
// letters, digits and dots. Chinese, Japanese and Korean text becomes overlapping pairs
// of characters and the last character of each run. Symbols and emoji are ignored. Of
// long unstructured runs such as base64 only the first characters are indexed.
//
// English plurals become singular in texts and queries (Harman's S-stemmer), because
// commands and prose mix "test" and "tests". Verb endings stay: removing them would
// merge different identifiers.
package terms

// MaxTerm is the maximal length of a term in bytes.
const MaxTerm = 64

const (
	garbageLen  = 64 // bytes; longer runs are checked for structure
	garbageKeep = 16 // indexed characters of a run without structure
)

// minHash is the minimal length of a hash. Git abbreviates commit IDs to 7 characters.
const minHash = 7
