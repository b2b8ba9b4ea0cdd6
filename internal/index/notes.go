package index

import (
	"context"
	"slices"

	"strandline/internal/archive"
)

// Notes returns the user's notes that are not forgotten, newest first.
func (s *Store) Notes(ctx context.Context) ([]archive.Note, error) {
	return Read(ctx, s.read, "read notes", func(ctx context.Context, tx Tx) (notes []archive.Note, err error) {
		entries, err := journalEntries(ctx, tx, archive.NoteSession, archive.JournalNote)
		if err != nil || len(entries) == 0 {
			return nil, err
		}
		names, err := readProjects(ctx, tx)
		if err != nil {
			return nil, err
		}
		gone := map[string]bool{}
		for i := range slices.Backward(entries) {
			f, ok := archive.FactOf[archive.NoteFact](&entries[i])
			switch {
			case !ok || f.ID == "":
			case f.Gone:
				gone[f.ID] = true
			case !gone[f.ID]:
				n := archive.Note{ID: f.ID, Text: f.Text, Time: entries[i].Time}
				if f.Project != "" {
					n.Project = names.Resolve(archive.Project{Key: f.Project})
				}
				notes = append(notes, n)
			}
		}
		return notes, nil
	})
}
