package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"strandline/internal/archive"
)

// Note is a note of the user that matches a query.
type Note struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Time    time.Time `json:"time"`
	Project string    `json:"project,omitempty"` // name, or else key; "" for every project
	// File is set for a part of a session's plan, list of tasks or memory, and ID is the
	// session's.
	File string `json:"file,omitempty"`
}

// maxRemembered is the number of notes that a search returns at most.
const maxRemembered = 3

// MatchNotes returns the notes that contain at least half of the terms' weight, best first.
func MatchNotes(notes []archive.Note, terms []archive.Term) (out []Note) {
	type match struct {
		note  archive.Note
		share float64
	}
	var all float64
	for _, t := range terms {
		all += t.Weight
	}
	var found []match
	for _, n := range notes {
		var held float64
		lower := strings.ToLower(n.Text)
		compact := strings.Map(lettersOnly, lower)
		for _, t := range terms {
			if holds(n.Text, lower, t.Text) || strings.Contains(compact, t.Text) && !strings.Contains(lower, t.Text) {
				held += t.Weight
				continue
			}
			for form := range strings.FieldsSeq(t.Forms) {
				if holds(n.Text, lower, form) {
					held += t.Weight
					break
				}
			}
		}
		if held > 0 && 2*held >= all {
			found = append(found, match{n, held / all})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.share, a.share) })
	for _, m := range found[:min(len(found), maxRemembered)] {
		out = append(out, NewNote(m.note))
	}
	return out
}

// holds reports whether a word or a part of a compound in text begins with a form. lower is
// the text in lower case.
func holds(text, lower, form string) bool {
	return strings.Contains(lower, form) && len(Marks(text, []archive.Term{{Text: form}})) > 0
}

// lettersOnly drops what separates the parts of a compound, whose term is written without.
func lettersOnly(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// NewNote returns a note as it is printed.
func NewNote(n archive.Note) Note {
	return Note{ID: n.ID, Text: n.Text, Time: n.Time, Project: n.Project.Title()}
}
