// Package compact produces the texts of a compaction: the steering text for the
// client's summarizer (Preserve), the context restored after its summary
// (Restore), a replacement for the whole conversation (Replace), and the pointer
// to a project's last session (Pointer). Measure reports how many of the terms
// that a session used next a compaction preserved.
//
// All of them share two steps. Load (load_*.go) reads a bounded window of the
// session's newest rows, none of them at or after the requested line. Select
// (select_*.go) collects candidate lines and fills a budget with those of the
// highest score, which is value per character.
//
// The value of a line comes from its terms: paths, identifiers, flags, versions
// and hashes, which a session needs first after a compaction and cannot guess. A
// term's value is the probability that it is needed again, estimated from how
// often, how recently and by whom it was used; each term counts once. Lines also
// have a prior value for their kind: an open error, a decision with its
// reason, a prompt. The latest prompt, the newest open error and the last reply
// are required entries.
package compact
