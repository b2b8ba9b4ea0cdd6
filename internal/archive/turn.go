package archive

import (
	"strings"
	"time"
)

// Turn is a human prompt and all that follows until the next one. Turns are
// numbered from 0 in file order and never renumbered.
type Turn struct {
	Session  string
	Index    int
	Title    string // first line of the prompt, redacted, at most 200 characters; empty for a head without a prompt
	PromptID string // the client's id, not unique: local commands share it
	Start    time.Time
	End      time.Time
	LineFrom int  // first transcript line, 0-based
	LineTo   int  // one past the last line seen so far
	Steps    int  // steps seen so far
	Dead     bool // on a branch that a rewind left behind
	// Copy is the turn that these rows were first seen in when a fork or a
	// plugin's compaction copied them; nil for rows of the session's own.
	Copy *Ref
}

// Step is one API response with its tool calls and their results, though the
// client writes it as several lines.
type Step struct {
	Session   string
	Turn      int
	Index     int // within the turn, from 0
	MessageID string
	Model     string
	Time      time.Time
	LineFrom  int
	LineTo    int // one past the last line, results included
	Usage     Usage
	Stop      string // stop reason
	APIError  bool   // the client's own stand-in for a failed request
	// Sidechain marks a sub-agent's response inside its parent's transcript, as
	// old clients wrote it. It says nothing about the main chain's context.
	Sidechain bool
	Copy      *Ref // see Turn.Copy; a copied step's usage is zero
}

// CallKind groups tools by what they do.
type CallKind string

// The kinds of tool call.
const (
	CallCommand CallKind = "command" // a shell command
	CallEdit    CallKind = "edit"    // writes or changes a file
	CallRead    CallKind = "read"    // reads a file
	CallSearch  CallKind = "search"  // greps, globs, lists
	CallAgent   CallKind = "agent"   // starts a sub-agent
	CallTask    CallKind = "task"    // keeps a task list
	CallWeb     CallKind = "web"
	CallOther   CallKind = "other"
)

// Call is one use of a tool.
type Call struct {
	Session  string
	Turn     int
	Step     int
	Seq      int    // within the step, from 0
	ToolID   string // the client's tool_use id
	Name     string
	Kind     CallKind
	Command  string   // redacted, for CallCommand; at most 4,000 characters
	Files    []string // paths as the client wrote them, redacted
	Exit     *int     // exit code where one is known
	Failed   bool     // the result was an error
	Error    string   // redacted decisive error line, at most 500 characters; see Unrun
	Duration time.Duration
	LineUse  int // line of the tool_use
	// LineResult is the line of the tool_result, -1 while there is none.
	LineResult int
}

// Beginnings of the Error of calls that were never run.
const (
	ErrorRefused = "refused by the user" // what the user said to it may follow
	ErrorDropped = "not run: a call beside it failed"
)

// Unrun reports whether a call that failed was never run, so that nothing came of
// it that would have to be cured: the user refused it, or the client dropped it
// because one beside it failed.
func (c Call) Unrun() bool {
	return c.Failed && (strings.HasPrefix(c.Error, ErrorRefused) || c.Error == ErrorDropped)
}

// FileTouch records that a call touched a file.
type FileTouch struct {
	Session string
	Turn    int
	Step    int
	Seq     int // of the call
	Path    string
	Kind    CallKind // CallRead, CallEdit, CallSearch or CallCommand
	Line    int      // line of the tool_use
	Time    time.Time
}

// TaskEvent is one change of a task; the state of a task at a line is the fold
// of its events before that line.
type TaskEvent struct {
	Session string
	Line    int
	Seq     int    // order within the line
	TaskID  string // the client's id, or "todo:<hash of subject>" for list items without one
	Subject string // redacted, empty when this event does not change it
	// Status is "pending", "in_progress", "completed", "deleted", or empty when
	// this event does not change it.
	Status string
	Time   time.Time
	Turn   int
	Step   int
}

// Compaction is one moment at which the context was cut.
type Compaction struct {
	Session    string
	Index      int // from 0
	Line       int // of the boundary
	Time       time.Time
	Trigger    string // "manual", "auto", "plugin" …
	PreTokens  int64
	PostTokens int64 // 0 when the client did not say
	Duration   time.Duration
	// SummaryLine is the line of the client's summary, -1 when there is none
	// (a plugin answered, or it has not been written yet).
	SummaryLine int
	// Kept counts messages that stayed verbatim, as the client lists them.
	Kept int
	// Ours reports that the replacement conversation was written by Strandline.
	Ours bool
	Turn int // the turn in which it happened
}
