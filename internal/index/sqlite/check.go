package sqlite

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Integrity checks the file and the full-text index, and that both hold the same
// passages. It fails with CodeCorrupt. It reads the whole file.
func (s *Store) Integrity(ctx context.Context) error {
	return s.read(ctx, "check the index", func(ctx context.Context, t index.Tx) error {
		fault := ""
		if _, err := t.QueryRow(ctx, "PRAGMA integrity_check(1)", nil, &fault); err != nil {
			return err
		}
		if fault != "ok" {
			return corrupt(fault)
		}
		var rows, indexed, counted int
		// words_docsize has one row for each row of words.
		const query = "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM words_docsize), " +
			"coalesce((SELECT value FROM meta WHERE name = 'passages'), 0)"
		if _, err := t.QueryRow(ctx, query, nil, &rows, &indexed, &counted); err != nil {
			return err
		}
		if rows != indexed || rows != counted {
			return corrupt(fmt.Sprintf("%d passages, %d of them in the full-text index, %d counted", rows, indexed, counted))
		}
		return nil
	})
}

func corrupt(fault string) error {
	return &archive.Error{
		Code: archive.CodeCorrupt, Msg: "the index is damaged: " + archive.Clip(fault, 200),
		Hint: "the logs are not affected; rebuild the index with: strandline reindex",
	}
}
