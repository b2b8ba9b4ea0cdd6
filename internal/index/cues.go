package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"strandline/internal/archive"
)

// Three cues of a passage count as much as a matching word: its speaker, whether it is a
// question, and whether the passage before it is one. "What did Ann bake?" is answered by
// a passage that begins with "Ann: ", or that follows "Ann, what did you bake?".

// maxSpeaker is the maximal size in bytes of a speaker's name at the start of a passage.
const maxSpeaker = 30

// speakers returns the number of words in the name of the speaker at the start of a text:
// 1 for "Ann: yes", 2 for "Ann Lee: yes", 0 if there is none.
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

// endsAsking reports whether a text's last sentence is a question. A note in square brackets
// after it, such as the placeholder of an image, is ignored.
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

// isClosing reports whether r can follow the last sentence of a text.
func isClosing(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'*_)`, r) }

// Follow sets the evidence of hits that directly follow another hit. If that one is a
// question, Answer is its share of the query's words: the answer itself rarely contains
// them.
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
