// Package sqlite stores the derived index in one SQLite file, through the pure Go
// driver modernc.org/sqlite.
//
// The index can be rebuilt from the session logs and the journal and may be deleted
// at any time. A reader must never see half of a batch, so each batch is one
// transaction, synced to disk (WAL, synchronous=FULL).
//
// Within the file sessions have numbers, which all rows refer to; session IDs and
// project keys are stored once, in the tables sessions and projects. A passage's ID
// is its rowid both in the table passages and in the full-text table words. It
// contains the session and the kind (see index.ID), so that a search can filter
// candidates without reading their rows.
//
// A Store has one connection. Its methods may be called concurrently and run one
// after the other.
package sqlite
