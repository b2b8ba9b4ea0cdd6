package recall

import (
	"time"

	"strandline/internal/archive"
)

// Request is a query with its filters.
type Request struct {
	Query    string   // as the user typed it, filters included
	Text     string   // the words to look for, filters taken out
	Phrases  []string // quoted parts of Text; a hit that holds one verbatim ranks higher
	Session  string   // handle or prefix of the one session to search, empty: all
	Project  string   // what project: named, for the caller to resolve into Projects
	Projects []string // project keys, empty: all projects
	Files    []string // a hit touches one of these paths; a part of the path is enough
	Kinds    []archive.PassageKind
	Since    time.Time // zero: no limit
	Until    time.Time
	Agents   bool // include sub-agents' sessions
	Dead     bool // include branches that a rewind left behind
	Limit    int  // 0: 10
}

// Parse reads a query.
func Parse(q string, now time.Time) (Request, error) {
	return Request{Query: q, Text: q}, nil
}
