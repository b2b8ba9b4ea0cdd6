package app

import (
	"time"

	"strandline/internal/archive"
)

// SessionsAsk selects sessions; its zero value selects every main session.
type SessionsAsk struct {
	Project string // name of a project, or a part of its folder's path; "" for all
	Parent  string // only the children of this session
	Agents  bool   // sub-agents' sessions as well
	Since   time.Time
}

// SearchAsk is a search with what stands beside the query. A value here wins over
// a filter in the query.
type SearchAsk struct {
	Query   string
	Project string // as in SessionsAsk
	Session string // handle or id
	Since   time.Time
	Kinds   []archive.PassageKind
	Agents  bool
	Rewound bool // turns that a rewind left behind as well
	Deep    bool // also read the logs for what the index holds only in part
	Explain bool
	Limit   int
}

// FilesAsk asks what was done to a file.
type FilesAsk struct {
	Path    string // whole, or its end at a slash
	Project string // as in SessionsAsk
	Session string // handle or id
	Since   time.Time
	Reads   bool // reads and searches as well
	Limit   int  // at most this many, the newest
}

// ContextAsk asks for what a compaction gets.
type ContextAsk struct {
	Session string // handle or id
	Role    string // "" for the block that is worth most
	AtLine  int    // as if the session had ended before this line, 0: as it is
	Budget  int    // characters, 0: as the settings say
}
