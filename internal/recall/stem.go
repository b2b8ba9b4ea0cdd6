package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
)

// setForms makes a term match other forms of its word in languages that package terms
// does not inflect: by its stem in Cyrillic, Greek and similar scripts, with its
// prefixed particles in Arabic.
func setForms(t *archive.Term) {
	switch {
	case t.Prefix || hasCJK(t.Text) || utf8.RuneCountInString(t.Text) < minPrefix:
	case has(t.Text, unicode.Arabic):
		for p := range strings.FieldsSeq(arabicParticles) {
			if s, ok := strings.CutPrefix(t.Text, p); ok && utf8.RuneCountInString(s) >= minPrefix {
				t.Text = s
				break
			}
		}
		for p := range strings.FieldsSeq(arabicParticles) {
			t.Forms += " " + p + t.Text
		}
	case has(t.Text, unicode.Letter):
		t.Text, t.Prefix = stem(t.Text), true
	}
}

// stem removes the ending of a word in a script with letters other than Latin.
func stem(word string) string {
	letters := utf8.RuneCountInString(word)
	drop := max(0, min(letters-4, (letters-2)/2, 3))
	word = word[:skipRunes(word, len(word), -drop)]
	if r, size := utf8.DecodeLastRuneInString(word); letters-drop > minPrefix && strings.ContainsRune("аеёиоуыэюяьйіїαεηιουωάέήίόύώ", r) {
		word = word[:len(word)-size]
	}
	return word
}

// arabicParticles are the article and the particles that are written together with a
// word, the longest first.
const arabicParticles = "وال بال لل ال و ب ل"
