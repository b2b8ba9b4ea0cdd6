// Package compact is what happens at a compaction: the text that steers the
// client's summary (Preserve), the block that puts back what the summary lost
// (Restore), and the two lines that a fresh session is greeted with (Pointer).
//
// Restore does not fill in a template. It reads a bounded window of the newest
// rows and treats the block as a knapsack: what a session misses first after a
// compaction are specifics (paths, identifiers, flags, versions, hashes), so the
// worth of a line is the chance that its specifics are needed again, estimated
// from how often, how lately and by whom they were used, plus a prior for what it
// is (an open error, a decision with its reason, the user's own words). Lines are
// taken by worth per character, each specific counting once, and then printed
// under the section and the source they come from, with a handle each. What the
// user asked last, an open error and the last words said stand whatever they are
// worth. Nothing is drawn from rows at or behind the line that a request names.
package compact
