package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Note is a note of the user that matches a query.
type Note struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Time    time.Time `json:"time"`
	Project string    `json:"project,omitempty"` // name, or else key; "" for every project
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
		for _, t := range terms {
			forms := []archive.Term{t}
			for form := range strings.FieldsSeq(t.Forms) {
				forms = append(forms, archive.Term{Text: form})
			}
			if len(Marks(n.Text, forms)) > 0 {
				held += t.Weight
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

// NewNote returns a note as it is printed.
func NewNote(n archive.Note) Note {
	return Note{ID: n.ID, Text: n.Text, Time: n.Time, Project: n.Project.Title()}
}
