// Package postgres stores a team's archive in PostgreSQL, through pgx.
//
// It holds the same rows as package sqlite and returns the same results; package
// index implements both. The differences:
//
//   - The lists of passages per term are in the table postings, one row for each term
//     and session. Several people push at once, and would wait for each other if they
//     changed the same rows.
//   - A text must be valid UTF-8 without NUL bytes. Other bytes become U+FFFD.
//   - The database has no session log beside it. Texts are never trimmed, and all
//     turns stay in the hot tier.
//
// Every statement has parameters, and every transaction ends with its context or
// after Options.Timeout. A Store's methods may be called concurrently.
package postgres
