package sqlite

import (
	"database/sql"
	"errors"
)

// CreateVersion1 creates an empty index of version 1.
func CreateVersion1(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec("PRAGMA journal_mode=WAL; " + schema1 + "; PRAGMA user_version=1;")
	return errors.Join(err, db.Close())
}

// Version returns the schema version that this build reads and writes.
func Version() int { return len(migrations()) }
