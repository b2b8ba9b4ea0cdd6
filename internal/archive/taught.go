package archive

import "time"

// JournalTaught records which kinds of names were needed after a compaction, or after any
// other line of a session. Data is TaughtFact.
const JournalTaught JournalKind = "taught"

// Tally is the weight of the names that were expected to be needed after a line, and of
// those that were.
type Tally struct {
	Expected float64 `json:"expected"`
	Needed   float64 `json:"needed"`
}

// TaughtFact is the data of a JournalTaught entry. It contains no names.
type TaughtFact struct {
	Line   int              `json:"line"`   // of the compaction
	Known  time.Time        `json:"known"`  // time of the last line that was examined
	Shapes map[string]Tally `json:"shapes"` // empty if too few names were needed
}
