// Package sessionlog keeps files that only grow, above all a client's
// transcripts, byte for byte in append-only compressed logs.
//
// A log is the truth: everything else in the archive is derived from it. An
// append returns when its bytes are on disk; a crash at any moment costs at most
// the append that was under way, which the next Open cuts off, so that the
// caller can take those bytes from the source again. One process writes at a
// time, any number read meanwhile without a lock.
//
// # Format
//
// The plain tool reads a log: "zstd -dc LOG" prints the bytes that were
// appended. Data is held in ordinary zstd frames, without a dictionary and with
// content size and checksum. All else is held in skippable frames, which every
// zstd decoder passes over. Integers are little endian; sums are xxh64.
//
//	log    = header record*
//	record = body footer
//	body   = data frame | tombstone
//
// The header (magic 0x184D2A58) is "SLH", a version byte, the sum of what
// follows (8 bytes), and the Header as JSON.
//
// A footer (magic 0x184D2A59, 128 bytes with its 8-byte frame header) commits
// the body before it. Offsets count from the start of the frame:
//
//	  8  3  "SLF"
//	 11  1  version
//	 12  1  kind: 1 data, 2 tombstone
//	 13  1  flags: 1 written by Seal
//	 14  2  bytes that the head sum covers
//	 16  2  bytes that the tail sum covers
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
//	 88  8  base: file offset where the write that this record is part of began
//	 96  8  jump: file offset of an earlier footer, 0 for none
//	104  8  file offset of the newest tombstone's footer before this one, 0 for none
//	112  4  depth: number of records up to this one
//	116  4  depth of the record that jump points at
//	120  8  sum of the 120 bytes before and of this footer's own file offset
//
// The end state stands in the last 128 bytes. The record before starts where
// this one's body begins, so records are walked backwards without an index, and
// the jump pointers (those of a skew-binary list) make finding an offset or a
// line logarithmic. As a footer's sum covers its place, a footer that is itself
// part of somebody's transcript is never taken for one of ours.
//
// A log ends at the last footer whose write and the write before it (see base)
// are whole: sums and frame structure of their bodies are right. That is checked
// because a file system may keep a footer and lose the body before it. What
// stands behind that end is torn and is cut off by the next Open.
//
// A tombstone (magic 0x184D2A5A) is "SLT", a version byte, one flag byte
// (1: the bytes are gone from the data frames), three zero bytes, a 4-byte count
// and as many pairs of 8-byte raw offsets (start, end). Readers give spaces for
// these bytes, except newlines, unless the flag says that they are gone. Seal
// writes the spaces into the data frames, Rewrite texts that stand for lines; both
// keep the tombstones and flag them. Head and tail sums go on describing the
// source as it was; where its bytes are gone they cover fewer than 4096 bytes.
//
// A long append becomes frames of at most 1 MiB and ends with one of 4 KiB, so
// that the tail window is always cheap to read; Seal makes frames of 4 MiB.
//
// A log's footers and tombstones have the version of its header. Versions:
//
//	1: the format above.
package sessionlog
