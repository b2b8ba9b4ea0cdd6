package archive

import "time"

// JournalTaught says what a cut through a session, a compaction above all, taught
// of the names that are needed afterwards. Data is TaughtFact.
const JournalTaught JournalKind = "taught"

// Tally is a weight of names that was expected to be needed after a cut, and the
// weight that was.
type Tally struct {
	Expected float64 `json:"expected"`
	Needed   float64 `json:"needed"`
}

// TaughtFact is the data of a JournalTaught entry. It holds no name.
type TaughtFact struct {
	Line   int              `json:"line"`   // of the cut
	Known  time.Time        `json:"known"`  // when what was needed behind it was
	Shapes map[string]Tally `json:"shapes"` // empty where too little was needed to tell
}
