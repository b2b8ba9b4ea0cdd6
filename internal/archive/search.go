package archive

import "time"

// Query asks a store for passages. The terms come from package terms, so every
// store matches the same words.
type Query struct {
	Terms []Term
	// Sessions limits the answer to these session ids, with the rows that a
	// fork shares with them. Empty: no limit.
	Sessions []string
	Projects []string // project keys, empty: all
	Kinds    []PassageKind
	Since    time.Time // zero: no limit
	Until    time.Time
	// BeforeLine, if positive, hides passages that end behind this line; it goes
	// with a single session.
	BeforeLine int
	Agents     bool // include sub-agents' sessions
	Dead       bool // include branches that a rewind left behind
	Limit      int  // at most this many hits; 0 means 10
}

// Term is one word of a query. A passage that holds more and rarer terms ranks
// higher; a Must term has to be there.
type Term struct {
	Text   string
	Prefix bool    // match every indexed term that starts with Text
	Must   bool    // passages without it are no hits
	Weight float64 // 1 for a word the user typed, less for its parts
}

// Hit is a passage that matched.
type Hit struct {
	Passage
	ID      int64 // the store's own number of the passage, gone when its text changes
	Project Project
	Score   float64 // higher is better; comparable within one answer only
}
