package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/recall"
	"strandline/internal/text"
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
	if err == nil {
		err = addFiles(ctx, x, req, result)
	}
	return err
}

// Limits of the plans, lists of tasks and memories that a search reads, and of the matches
// that it returns. 256 KB take 6 ms.
const maxNoteFiles, maxNoteBytes, maxFileMatches, maxFilePart = 100, 256 << 10, 2, 600

// addFiles adds the parts of sessions' plans, lists of tasks and memories that match a
// search.
func addFiles(ctx context.Context, x Archive, req recall.Request, result *recall.Result) error {
	saved, err := x.Capture.SavedNotes(maxNoteFiles)
	if err != nil || len(saved) == 0 || len(result.Terms) == 0 {
		return err
	}
	var ids []string
	for _, n := range saved {
		ids = append(ids, n.Session)
	}
	sessions, err := x.Index.Sessions(ctx, archive.SessionFilter{IDs: ids, Projects: req.Projects})
	if err != nil {
		return err
	}
	projects := map[string]archive.Project{}
	for _, s := range sessions {
		projects[s.ID] = s.Project
	}
	var parts []archive.Note
	read := 0
	for _, n := range saved {
		p, ok := projects[n.Session]
		if !ok {
			continue
		}
		content, err := n.Text()
		if err != nil {
			continue // verify reports it
		}
		if read += len(content); read > maxNoteBytes {
			break
		}
		for _, part := range noteParts(n.Rel, content) {
			parts = append(parts, archive.Note{ID: archive.ShortID(n.Session) + "/" + n.Rel, Text: part, Time: n.Time, Project: p})
		}
	}
	seen := map[string]bool{}
	for _, m := range recall.MatchNotes(parts, result.Terms) {
		if seen[m.ID] || len(seen) == maxFileMatches {
			continue
		}
		seen[m.ID] = true
		m.ID, m.File, _ = strings.Cut(m.ID, "/")
		m.Text = text.Truncate(x.Redact(m.Text), maxFilePart)
		result.Remembered = append(result.Remembered, m)
	}
	return nil
}

// noteParts splits a note into its paragraphs, with the heading before each, or its strings.
func noteParts(name, content string) (parts []string) {
	var value any
	if strings.HasSuffix(name, ".json") && json.Unmarshal([]byte(content), &value) == nil {
		var list []string
		archive.ChangeTexts(value, func(s string) string {
			list = append(list, s)
			return s
		})
		slices.Sort(list)
		return []string{strings.Join(list, " · ")}
	}
	heading := ""
	for part := range strings.SplitSeq(strings.ReplaceAll(content, "\r\n", "\n"), "\n\n") {
		part = strings.Trim(part, "\n")
		if strings.HasPrefix(part, "#") && !strings.Contains(part, "\n") {
			heading = part + "\n"
		}
		if strings.TrimSpace(part) != "" {
			parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(heading, part+"\n")+part, "\n"))
		}
	}
	return parts
}
