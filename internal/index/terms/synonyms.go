package terms

import _ "embed" // word lists

// synonymGroups holds, one group per line, words that developers use for the same
// thing. A word is in one group only. Words that often mean something else ("close",
// "run") are in none. All are as Index returns them; for their other forms see Forms.
//
//go:embed synonyms.txt
var synonymGroups string

// maxSynonyms is the number of synonyms of a word. Each costs a search two lookups.
const maxSynonyms = 4

// Synonyms returns other words that developers use for the meaning of a word, which is
// as Index returns it: "login" gives "signin". Most words have none.
func Synonyms(word string) []string {
	words := othersInLine(synonymGroups, word)
	return words[:min(len(words), maxSynonyms)]
}
