package sqlite

import (
	"context"
	"errors"

	"strandline/internal/index"
)

// Entries reads the table transcript_entries of an earlier system's archive, oldest first.
// Each entry is a JSON object with key, content, metadata and createdAt in milliseconds.
func Entries(ctx context.Context, path string) (entries []string, err error) {
	c, err := openConn(dsn(path, true))
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, conn: c, stmts: map[string]statement{}}
	defer func() { err = s.fail("read "+path, errors.Join(err, s.disconnect())) }()
	const query = "SELECT json_object('key', key, 'content', content, 'createdAt', created_at, 'metadata', " +
		"CASE WHEN json_valid(metadata) THEN json(metadata) ELSE json('{}') END) FROM transcript_entries ORDER BY created_at, chunk_index"
	return entries, tx{s, ctx}.Query(ctx, query, nil, func(scan index.Scan) error {
		var entry string
		err := scan(&entry)
		entries = append(entries, entry)
		return err
	})
}
