// Package sqlite keeps the archive's index in one SQLite file, through the pure
// Go driver modernc.org/sqlite.
//
// The index is derived: everything in it can be made again from the session
// logs and the journal, and holds no fact of its own. It may therefore be
// deleted at any time, but a reader must never see half of a batch, so each
// batch is one transaction, synced to disk (WAL, synchronous=FULL).
//
// Sessions have a number inside the file, which all rows carry; ids and project
// keys stand once, in the tables sessions and projects. A passage's number is
// its rowid in the table passages and in the full-text table words at once, and
// says by itself which session and kind it is of (see docID), so that a search
// can narrow its candidates without reading their rows.
//
// A Store holds one connection. Its methods may be called concurrently and run
// one after the other.
package sqlite
