// Package index is the part of the derived index that SQLite and PostgreSQL
// share: the rows that a batch or a journal entry becomes, the queries that read
// them, and ranking. Packages sqlite and postgres embed a Store and implement Tx:
// they run queries, keep passages with the lists of their terms, and look terms
// up. Both stores therefore return the same rows and the same hits.
//
// A search takes two steps. Merge adds up the lists of all terms into candidates:
// each passage gets, per term, one of two impacts that the index knows without
// reading the text. Then the best candidates are read and scored by BM25 and by
// their neighbours (Ranker, Shape, Weigh).
package index
