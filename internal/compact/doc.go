// Package compact is what happens at a compaction: the text that steers the
// client's summary, and the block that puts back what the summary lost.
package compact
