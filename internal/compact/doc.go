// Package compact produces the texts of a compaction: the steering text for the
// client's summarizer (Preserve), the context restored after its summary
// (Restore), a replacement for the whole conversation (Replace), and the pointer
// to a project's last session (Pointer). Measure reports how many of the terms
// that a session used next a compaction preserved.
//
// All of them share two steps. Load (load_*.go) reads a bounded window of the
// session's newest rows, and all of its replies, none of them at or after the
// requested line. Select (select_*.go) collects candidate statements and fills a
// budget with those of the highest score, which is value per character.
//
// A statement is a part of a text that can be read alone (select_statements.go):
// some sentences, or a list with its introduction, without announcements. Its value
// is a density times its length, by its source and age (select_turns.go), plus the
// values of its terms.
//
// A term is a path, identifier, flag, version or hash, which a session needs first
// after a compaction and cannot guess. Its value is the probability that it is needed
// again, estimated from how often, how recently and by whom it was used; each term
// counts once. The names that no statement holds are listed at the end.
//
// The latest prompt, the last reply, the newest open error and the beginning of every
// prompt are required entries.
package compact
