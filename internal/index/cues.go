package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
)

// Who says something, and whether it is a question, tells as much of a passage
// as one of its words: "What did Ann bake?" is answered by what begins with
// "Ann: ", and by what stands behind "Ann, what did you bake?", not by that.

// maxSpeaker is the longest name in bytes that a passage begins with.
const maxSpeaker = 30

// speakers returns how many words name who speaks in text, as one does in "Ann:
// yes" and two in "Ann Lee: yes"; 0 if it does not begin like that.
func speakers(text string) int {
	name, rest, found := strings.Cut(text[:min(len(text), maxSpeaker)], ":")
	if !found || len(name) < 2 || rest != "" && rest[0] != ' ' {
		return 0
	}
	words := 1
	for i, r := range name {
		switch {
		case r == ' ' && i > 0 && words == 1:
			words++
		case !unicode.IsLetter(r):
			return 0
		}
	}
	return words
}

// endsAsking reports whether a text's last sentence is a question. What stands in
// square brackets behind it, such as the place of a picture, is no sentence.
func endsAsking(text string) bool {
	text = strings.TrimRightFunc(text, isClosing)
	if strings.HasSuffix(text, "]") {
		if open := strings.LastIndexByte(text, '['); open > 0 {
			text = strings.TrimRightFunc(text[:open], isClosing)
		}
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == '?' || r == '？'
}

// isClosing reports whether r may stand between the end of a sentence and that of
// the text.
func isClosing(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'*_)`, r) }

// Follow notes in hits, by their numbers, which of them stand right behind each
// other, and what a question before a hit covers of the query: the answer to
// it holds none of its words as a rule.
func (s Shape) Follow(hits []*archive.Hit) {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b *archive.Hit) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(hits); i++ {
		h, before := hits[i], hits[i-1]
		if s.place(before.ID)+1 != s.place(h.ID) || s.session(before.ID) != s.session(h.ID) {
			continue
		}
		h.Evidence.Follows = before.ID
		if before.Evidence.Question > 0 {
			h.Evidence.Answer = before.Evidence.Covered
		}
	}
}
