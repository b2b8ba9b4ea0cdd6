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
	letters := utf8.RuneCountInString(t.Text)
	switch {
	case t.Prefix || has(t.Text, cjk()...) || letters < minPrefix:
	case has(t.Text, unicode.Arabic):
		stem := t.Text
		for _, p := range arabicParticles() {
			if s, ok := strings.CutPrefix(stem, p); ok && utf8.RuneCountInString(s) >= minPrefix {
				stem = s
				break
			}
		}
		for _, p := range arabicParticles() {
			t.Forms += " " + p + stem
		}
		t.Text = stem
	case has(t.Text, unicode.Letter):
		t.Text, t.Prefix = stem(t.Text), true
	}
}

// stem removes the ending of a word in a script with letters other than Latin.
func stem(word string) string {
	letters := utf8.RuneCountInString(word)
	drop := max(0, min(letters-4, (letters-2)/2, 3))
	word = dropLast(word, drop)
	if r, _ := utf8.DecodeLastRuneInString(word); letters-drop > minPrefix && strings.ContainsRune("аеёиоуыэюяьйіїαεηιουωάέήίόύώ", r) {
		word = dropLast(word, 1)
	}
	return word
}

// arabicParticles returns the article and the particles that are written together with a
// word, the longest first.
func arabicParticles() []string {
	return []string{"وال", "بال", "لل", "ال", "و", "ب", "ل"}
}

// dropLast returns s without its last n characters.
func dropLast(s string, n int) string {
	for range n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
