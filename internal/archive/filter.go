package archive

import "time"

// SessionFilter selects sessions. Its zero value selects every main session,
// newest first.
type SessionFilter struct {
	Projects []string // project keys, empty: all
	IDs      []string // only these sessions, empty: all
	Branches []string // git branches at the end of a session, empty: all
	Clients  []string // names of clients, empty: all
	Parent   string   // only the children of this session
	Agents   bool     // include sub-agents' sessions
	// Compacted selects the sessions with a compaction.
	Compacted bool
	Since     time.Time
	Limit     int // 0: no limit
	// Retold sets the sessions' Retold.
	Retold bool
}

// Span selects rows of one session by place. Lines count from 0. With BeforeLine > 0
// only rows that begin before that line are selected, with TurnTo > 0 only those of the
// turns [TurnFrom, TurnTo).
type Span struct {
	Session                      string
	BeforeLine, TurnFrom, TurnTo int
	Limit                        int  // 0: no limit
	Newest                       bool // newest first: with Limit, the newest rows
}

// PassageSpan selects passages of one session.
type PassageSpan struct {
	Span
	Kinds  []PassageKind // empty: all
	Failed bool          // only passages of calls that failed
}

// CallSpan selects calls of one session.
type CallSpan struct {
	Span
	Kinds  []CallKind // empty: all
	Failed bool       // only calls that failed
}

// HookSummary is a compaction's summary that a hook reported before the transcript
// contained it.
type HookSummary struct {
	ID, Session string
	Time        time.Time
	Source      string
	Text        string // redacted
}

// Totals describe a whole archive, or one session.
type Totals struct {
	Sessions    int   `json:"sessions"` // without earlier generations
	Agents      int   `json:"agents"`   // sub-agents' runs, without earlier generations
	Turns       int   `json:"turns"`
	Steps       int   `json:"steps"`
	Calls       int   `json:"calls"`
	Compactions int   `json:"compactions"`
	Bytes       int64 `json:"bytes"`
	Usage
	CostUSD float64   `json:"cost_usd"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	// Older counts earlier generations of rewritten transcripts.
	Older, Passages, Projects int `json:"-"`
}

// ActivitySlot is the length of time that an Activity sums: every time zone's day begins at
// a multiple of it.
const ActivitySlot = 15 * time.Minute

// Activity sums the events of one session within an ActivitySlot. What a fork or a
// compaction copied counts once, where it was first.
type Activity struct {
	Session     string
	Time        time.Time // start of the slot, zero if the rows have no time
	Model       string    // of the responses; "" for turns and compactions
	Long        bool      // the responses had a prompt of more than LongPrompt tokens
	Turns       int
	Compactions int
	Steps       int
	Usage       Usage
}

// LongPrompt is the number of tokens of a prompt above which some models cost more.
const LongPrompt = 100_000

// ToolCalls counts the calls of a tool that ended the same way.
type ToolCalls struct {
	Name   string
	Failed bool
	Error  string // of failed calls, as Call.Error
	Calls  int
}

// ProjectSummary is a project with counts of its sessions, including those recorded
// under a key that was merged into the project's.
type ProjectSummary struct {
	Project  Project   `json:"-"`
	Aliases  []string  `json:"aliases"`  // keys that were merged into this project
	Split    bool      `json:"-"`        // the user took back a merge of it
	Sessions int       `json:"sessions"` // main sessions
	Agents   int       `json:"agents"`   // sub-agents' sessions
	Turns    int       `json:"turns"`
	Bytes    int64     `json:"bytes"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// HistoryFilter selects accesses to a file.
type HistoryFilter struct {
	// Path is the file's path or a suffix of it after a slash: "/w/pay/retry.go",
	// "pay/retry.go", "retry.go".
	Path     string
	Projects []string // project keys, empty: all
	Kinds    []CallKind
	Since    time.Time
}

// Touch is one access of a call to a file.
type Touch struct {
	FileTouch
	Tool    string
	Command string // set if a command names the file; redacted
	Failed  bool
}
