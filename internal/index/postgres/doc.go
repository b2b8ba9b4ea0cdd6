// Package postgres keeps a team's archive in PostgreSQL, through pgx.
//
// It holds the same rows as store/sqlite and gives the same answers: what is
// decided about rows stands in store/rows, ranking in store/lexical, and the words
// of a passage are package terms' and not the database's. Where it differs:
//
//   - The terms of a passage are kept in lists of our own (table postings), one row
//     for each term and session, because people push at the same time: a row that
//     all of them change would make them wait for each other.
//   - A text may not hold a NUL byte, nor bytes that are no UTF-8; both become
//     U+FFFD.
//   - There is no log beside it, so that no text is trimmed and no turn leaves the
//     hot set.
//
// Every statement is parameterised, and every transaction ends with its context or
// after Options.Timeout. A Store's methods may be called concurrently.
package postgres
