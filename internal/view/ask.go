package view

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
