// Package sessionlog stores append-only files, above all clients' transcripts, byte
// for byte in compressed logs.
//
// The log is the source of truth: everything else in the archive is derived from it.
// An append returns when its bytes are on disk. A crash loses at most the running
// append: the next Open truncates it, and the caller appends its bytes again. One
// process writes at a time; any number of processes read meanwhile without a lock.
//
// # Format
//
// The standard tool reads a log: "zstd -dc LOG" prints the appended bytes. Data is in
// ordinary zstd frames, without a dictionary and with content size and checksum.
// Everything else is in skippable frames, which zstd decoders ignore. Integers are
// little endian; checksums ("sum") are xxh64.
//
//	log    = header record*
//	record = body footer
//	body   = data frame | tombstone
//
// The header (magic 0x184D2A58) is "SLH", a version byte, the sum of the JSON
// (8 bytes), and the Header as JSON.
//
// A footer (magic 0x184D2A59, 128 bytes with its 8-byte frame header) commits
// the body before it. Offsets are from the start of the frame:
//
//	  8  3  "SLF"
//	 11  1  version
//	 12  1  kind: 1 data, 2 tombstone
//	 13  1  flags: 1 written by Seal
//	 14  2  length of the head
//	 16  2  length of the tail
//	 18  2  zero
//	 20  4  length of the body
//	 24  4  raw bytes of this record
//	 28  4  newlines in this record
//	 32  8  raw bytes up to the end of this record
//	 40  8  newlines up to the end of this record
//	 48  8  sum of the raw bytes
//	 56  8  sum of the body
//	 64  8  head: sum of the first (up to 4096) raw bytes of the log
//	 72  8  tail: sum of the last (up to 4096) raw bytes
//	 80  8  inode of the source, 0 if unknown
//	 88  8  base: file offset of the start of the write with this record
//	 96  8  jump: file offset of an earlier footer, 0 for none
//	104  8  file offset of the newest tombstone's footer before this one, 0 for none
//	112  4  depth: number of records up to this one
//	116  4  depth of the record at jump
//	120  8  sum of the 120 bytes before and of this footer's file offset
//
// The last 128 bytes hold the end state. A record begins where the previous one ends,
// so records are read backwards without an index. The jump pointers (those of a
// skew-binary list) make the search for an offset or a line logarithmic. A footer's
// sum covers its file offset, so a footer within a transcript is never taken for one
// of the log.
//
// A log ends at its last valid footer. Complete frames after it lack only their footers,
// and the next Open writes these again; it truncates the rest, which an append left torn.
//
// # Damage
//
// A footer says where its body begins and which raw bytes and lines it holds, and its sum
// covers its file offset. So after damage a reader finds the next record by searching for
// a valid footer, and knows which raw bytes are between: a hole. A record with a damaged
// footer is used if its frame is intact and fits between its neighbors. In the place of a
// hole readers get spaces and the right number of newlines; Holes and Verify report it,
// Repair fills it from the source, and the log can grow meanwhile. Nothing that holds more
// than an unfinished append is truncated or dropped without a copy beside the log, except
// when lines are deleted for good.
//
// A tombstone (magic 0x184D2A5A) is "SLT", a version byte, one flag byte
// (1: the bytes are removed from the data frames; 2: they were unreadable when the log
// was rewritten), three zero bytes, a 4-byte count
// and that many pairs of 8-byte raw offsets (start, end). Readers return spaces for
// these bytes, except newlines, unless the flag is set. Seal writes the spaces into
// the data frames, Rewrite the replacements of lines; both keep the tombstones and set
// the flag. Head and tail sums still describe the original source; if its bytes are
// removed, they cover fewer than 4096 bytes.
//
// A long append becomes frames of an eighth of its length, from 128 KiB to 1 MiB, so that
// damage costs little, and a last one of 4 KiB, so that the tail is cheap to read. Seal
// writes frames of an eighth of the log, from 128 KiB to 4 MiB.
//
// Footers and tombstones have the version of the log's header. The only version is 1.
package sessionlog
