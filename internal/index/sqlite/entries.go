package sqlite

import (
	"context"
	"errors"
	"strings"

	"strandline/internal/index"
)

// entryColumns are the columns of an earlier system's archive with their names in JSON. The
// first ones are in every archive, the others in some.
func entryColumns() [][2]string {
	return [][2]string{
		{"key", "key"}, {"content", "content"}, {"created_at", "createdAt"}, {"metadata", "metadata"},
		{"id", "id"}, {"type", "type"}, {"namespace", "namespace"}, {"tags", "tags"}, {"access_level", "accessLevel"}, {"updated_at", "updatedAt"},
		{"version", "version"}, {"access_count", "accessCount"}, {"last_accessed_at", "lastAccessedAt"}, {"confidence", "confidence"},
	}
}

// Entries reads the table transcript_entries of an earlier system's archive, oldest first.
// Each entry is a JSON object with the names of that system's own export, such as key,
// content, metadata and createdAt in milliseconds.
func Entries(ctx context.Context, path string) (entries []string, err error) {
	c, err := openConn(dsn(path, true))
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, conn: c, stmts: map[string]statement{}}
	defer func() { err = s.fail("read "+path, errors.Join(err, s.disconnect())) }()
	has := map[string]bool{}
	if err := index.AddColumn(ctx, tx{s, ctx}, has, "SELECT name FROM pragma_table_info('transcript_entries')"); err != nil {
		return nil, err
	}
	var fields []string
	for i, name := range entryColumns() {
		column, field := name[0], name[1]
		value := column
		switch {
		case i > 3 && !has[column]:
			continue
		case column == "metadata" || column == "tags":
			value = "json(iif(json_valid(" + column + "), " + column + ", iif('" + column + "' = 'tags', '[]', '{}')))"
		}
		fields = append(fields, "'"+field+"', "+value)
	}
	query := "SELECT json_object(" + strings.Join(fields, ", ") + ") FROM transcript_entries ORDER BY created_at, chunk_index"
	return entries, tx{s, ctx}.Query(ctx, query, nil, func(scan index.Scan) error {
		var entry string
		err := scan(&entry)
		entries = append(entries, entry)
		return err
	})
}
