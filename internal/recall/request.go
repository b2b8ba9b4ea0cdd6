package recall

import (
	"time"

	"strandline/internal/archive"
)

// Request is a query with its filters. Parse makes one from what a person
// typed; options of the command line are set on it afterwards.
type Request struct {
	Query    string   // as it was typed, filters included
	Text     string   // the words to look for, filters taken out, quotes kept
	Phrases  []string // what stood between quotes: a hit holds each of them
	Session  string   // handle or prefix of the one session to search, empty: all
	Project  string   // what project: named, for the caller to resolve into Projects
	Projects []string // project keys, empty: all projects
	Files    []string // a hit touches one of these paths; a part of the path is enough
	Kinds    []archive.PassageKind
	Since    time.Time // zero: no limit
	Until    time.Time // zero: no limit
	When     *When     // what Text said about time, taken out of it; a limit where Since and Until are none
	Agents   bool      // include sub-agents' sessions
	Dead     bool      // include branches that a rewind left behind
	Limit    int       // at most this many hits; 0 means DefaultLimit
}

// DefaultLimit is the number of hits that a search gives when none is asked for,
// MaxLimit the most that it ever gives.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
)

func (r Request) limit() int {
	if r.Limit <= 0 {
		return DefaultLimit
	}
	return min(r.Limit, MaxLimit)
}

// MaxQuery is the most bytes of a query that are read; the rest of a pasted log
// would not select anything better.
const MaxQuery = 16 << 10
