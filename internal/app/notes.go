package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/recall"
)

// maxNote is the most characters of a note.
const maxNote = 2000

// Remember stores a note of the user, for the project in a folder or, if dir is "", for
// every project. Secrets in it are redacted before the index.
func (a *App) Remember(ctx context.Context, text, dir string) (note recall.Note, err error) {
	if text = strings.TrimSpace(text); text == "" || len(text) > maxNote {
		return note, archive.Invalid(fmt.Sprintf("a note has 1 to %d characters", maxNote), `such as: strandline remember "we deploy from the release branch"`)
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	fact := archive.NoteFact{ID: hex.EncodeToString(random[:]), Text: text}
	err = a.withArchive(ctx, ReadWrite, func(x Archive) error {
		if dir != "" {
			fact.Project = x.ProjectKey(a.Abs(dir))
		}
		if err := a.recordNote(ctx, x, fact); err != nil {
			return err
		}
		notes, err := x.Index.Notes(ctx)
		if i := slices.IndexFunc(notes, func(n archive.Note) bool { return n.ID == fact.ID }); i >= 0 {
			note = recall.NewNote(notes[i])
		}
		return err
	})
	return note, err
}

func (a *App) recordNote(ctx context.Context, x Archive, fact archive.NoteFact) error {
	id := "note:" + fact.ID
	if fact.Gone {
		id += ":gone"
	}
	if err := x.Journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalNote, Session: archive.NoteSession, ID: id, Data: fact}); err != nil {
		return err
	}
	return x.Journal.Sync(ctx, x.Index)
}

// Notes lists the notes that apply in a scope, newest first; All lists all.
func (a *App) Notes(ctx context.Context, s Scope) ([]recall.Note, error) {
	return read(ctx, a, func(x Archive) ([]recall.Note, error) {
		keys, err := a.keys(ctx, x, s)
		if err != nil {
			return nil, err
		}
		notes, err := x.Index.Notes(ctx)
		return archive.Convert(notesIn(notes, keys), recall.NewNote), err
	})
}

// notesIn returns the notes that apply in one of the projects; nil means all.
func notesIn(notes []archive.Note, keys []string) []archive.Note {
	return archive.Select(notes, func(n archive.Note) bool {
		return keys == nil || slices.ContainsFunc(keys, n.In)
	})
}

// ForgetNote removes a note from every list, search and restored context. id may be the
// start of its ID. The journal keeps the note's text.
func (a *App) ForgetNote(ctx context.Context, id string) (note recall.Note, err error) {
	err = a.withArchive(ctx, ReadWrite, func(x Archive) error {
		notes, err := x.Index.Notes(ctx)
		if err != nil {
			return err
		}
		notes = archive.Select(notes, func(n archive.Note) bool { return id != "" && strings.HasPrefix(n.ID, id) })
		switch len(notes) {
		case 0:
			return archive.NotFound(fmt.Sprintf("there is no note %q", id), "`strandline remember --list` lists them")
		case 1:
			note = recall.NewNote(notes[0])
			return a.recordNote(ctx, x, archive.NoteFact{ID: note.ID, Gone: true})
		}
		return archive.Invalid(fmt.Sprintf("%d notes begin with %q", len(notes), id), "give more of the ID")
	})
	return note, err
}

// addNotes adds the notes that match a search.
func addNotes(ctx context.Context, x Archive, req recall.Request, result *recall.Result) error {
	if req.Session != "" || len(req.Kinds) > 0 {
		return nil // notes are in no session and of no kind
	}
	notes, err := x.Index.Notes(ctx)
	if err == nil {
		result.Remembered = recall.MatchNotes(notesIn(notes, req.Projects), result.Terms)
	}
	return err
}
