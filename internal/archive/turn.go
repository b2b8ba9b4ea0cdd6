package archive

import (
	"slices"
	"strings"
	"time"
)

// Turn is a human prompt and everything until the next one. Turns are numbered from 0 in
// file order and never renumbered.
type Turn struct {
	Session  string    `json:"-"`
	Index    int       `json:"-"`
	PromptID string    `json:"-"`     // the client's ID, not unique: local commands share it
	Title    string    `json:"title"` // first line of the prompt, redacted, at most 200 characters; empty if the turn has no prompt
	Start    time.Time `json:"start"`
	End      time.Time `json:"-"`
	Steps    int       `json:"steps"`          // steps seen so far
	LineFrom int       `json:"line_from"`      // first transcript line, 0-based
	LineTo   int       `json:"line_to"`        // one past the last line seen so far
	Dead     bool      `json:"dead,omitempty"` // on a branch that a rewind abandoned
	// Copy is the turn in which these rows were seen first, if a fork or a plugin's
	// compaction copied them; otherwise nil.
	Copy *Ref `json:"-"`
}

// Ref returns the place of the turn.
func (t Turn) Ref() Ref { return Ref{t.Session, t.Index, -1} }

// Step is one API response with its tool calls and their results. The client writes it as
// several lines.
type Step struct {
	Session          string
	Turn             int
	Index            int // within the turn, from 0
	MessageID, Model string
	Time             time.Time
	LineFrom         int
	LineTo           int // one past the last line, results included
	Usage            Usage
	Stop             string // stop reason
	APIError         bool   // the client's placeholder for a failed request
	// Sidechain marks a sub-agent's response in its parent's transcript, as old clients
	// wrote it. It is not part of the main chain's context.
	Sidechain bool
	Copy      *Ref // see Turn.Copy; a copied step's usage is zero
}

// CallKind groups tools by their effect.
type CallKind string

// The kinds of tool call.
const (
	CallCommand CallKind = "command" // a shell command
	CallEdit    CallKind = "edit"    // writes or changes a file
	CallRead    CallKind = "read"    // reads a file
	CallSearch  CallKind = "search"  // greps, globs, lists
	CallAgent   CallKind = "agent"   // starts a sub-agent
	CallTask    CallKind = "task"    // changes a task list
	CallWeb     CallKind = "web"
	CallOther   CallKind = "other"
)

// Call is one use of a tool.
type Call struct {
	Session    string        `json:"-"`
	Turn, Step int           `json:"-"`
	Seq        int           `json:"-"`       // within the step, from 0
	ToolID     string        `json:"tool_id"` // the client's tool_use id
	Name       string        `json:"name"`
	Kind       CallKind      `json:"kind"`
	Command    string        `json:"command,omitempty"` // redacted, for CallCommand; at most 4,000 characters
	Files      []string      `json:"files,omitempty"`   // paths as the client wrote them, redacted
	Exit       *int          `json:"exit,omitempty"`    // exit code where one is known
	Failed     bool          `json:"failed,omitempty"`  // the result was an error
	Error      string        `json:"error,omitempty"`   // the decisive error line, redacted, at most 500 characters; see NotRun
	Duration   time.Duration `json:"-"`
	LineUse    int           `json:"-"` // line of the tool_use
	// LineResult is the line of the tool_result, -1 if there is none yet.
	LineResult int `json:"-"`
}

// Ref returns the place of the call's step.
func (c Call) Ref() Ref { return Ref{c.Session, c.Turn, c.Step} }

// The Error of calls that were not run begins with one of these.
const (
	ErrorRefused = "refused by the user" // the user's comment may follow
	ErrorDropped = "not run: a call beside it failed"
)

// NotRun reports whether a failed call was not run: the user refused it, or the client
// cancelled it because a parallel call failed.
func (c Call) NotRun() bool {
	return c.Failed && (strings.HasPrefix(c.Error, ErrorRefused) || c.Error == ErrorDropped)
}

// FileTouch is an access of a call to a file.
type FileTouch struct {
	Session    string
	Turn, Step int
	Seq        int // of the call
	Path       string
	Kind       CallKind // CallRead, CallEdit, CallSearch or CallCommand
	Line       int      // line of the tool_use
	Time       time.Time
}

// TaskEvent is one change of a task. The events before a line give the task's state at that
// line.
type TaskEvent struct {
	Session string
	Line    int
	Seq     int    // order within the line
	TaskID  string // the client's id, or "todo:<hash of subject>" for list items without one
	Subject string // redacted; empty if this event does not change it
	// Status is "pending", "in_progress", "completed", "deleted", or empty if this event
	// does not change it.
	Status     string
	Time       time.Time
	Turn, Step int
}

// Compaction is one compaction of the context.
type Compaction struct {
	Session    string        `json:"-"`
	Turn       int           `json:"-"`     // the turn in which it happened
	Index      int           `json:"index"` // from 0
	Line       int           `json:"line"`  // of the boundary
	Time       time.Time     `json:"time"`
	Trigger    string        `json:"trigger"` // "manual", "auto", "plugin" …
	Ours       bool          `json:"ours"`    // Strandline wrote the replacement conversation
	PreTokens  int64         `json:"pre_tokens"`
	PostTokens int64         `json:"post_tokens"` // 0 if the client did not report it
	Duration   time.Duration `json:"-"`
	// SummaryLine is the line of the client's summary, -1 if there is none: a plugin
	// answered, or the summary is not written yet.
	SummaryLine int `json:"-"`
	// Kept is the number of messages that the client lists as kept verbatim.
	Kept int `json:"-"`
}

// Ref returns the place of the turn in which the compaction happened.
func (c Compaction) Ref() Ref { return Ref{c.Session, c.Turn, -1} }

// PassageKind is the kind of a passage.
type PassageKind string

// The kinds of passage, the values of the search command's --kind flag.
const (
	KindPrompt  PassageKind = "prompt"
	KindReply   PassageKind = "reply"
	KindCommand PassageKind = "command"
	KindEdit    PassageKind = "edit"
	KindOutput  PassageKind = "output"
	KindSummary PassageKind = "summary"
	// KindThinking selects, in a query, the replies that are the model's reasoning. Their
	// kind is KindReply.
	KindThinking PassageKind = "thinking"
)

// LabelThinking is the label of a reply that is the model's reasoning.
const LabelThinking = "thinking"

// PassageKinds lists every kind in display order.
func PassageKinds() []PassageKind {
	return []PassageKind{KindPrompt, KindReply, KindCommand, KindEdit, KindOutput, KindSummary}
}

// QueryKinds lists every kind that a query can select, in display order.
func QueryKinds() []PassageKind { return slices.Insert(PassageKinds(), 2, KindThinking) }

// MaxPassage is the maximal size of a passage's text in bytes. Longer prompts and replies
// become several passages, longer outputs an excerpt.
const MaxPassage = 4096

// Passage is the unit of search: 0.2 to 4 KB of text with its place in the
// transcript. Its identity is (Session, Turn, Step, Seq).
type Passage struct {
	Session string
	Turn    int
	Step    int // -1 for a prompt or a summary
	Seq     int // within the step, from 0, stable while the step grows
	Kind    PassageKind
	// Label is the tool's name, LabelThinking, or "hook" for a summary from a hook.
	Label    string
	Text     string // redacted
	Paths    []string
	LineFrom int // 0-based; -1 for text that is not in the transcript
	LineTo   int // one past the last line
	Time     time.Time
	Partial  bool // the log holds more of this text than the index
}

// Thinking reports whether the passage is the model's reasoning.
func (p *Passage) Thinking() bool { return p.Kind == KindReply && p.Label == LabelThinking }

// Of reports whether the passage is of one of the kinds of a query; none means all.
func (p *Passage) Of(kinds []PassageKind) bool {
	return len(kinds) == 0 || slices.Contains(kinds, p.Kind) || p.Thinking() && slices.Contains(kinds, KindThinking)
}

// Ref refers to a turn or, with Step >= 0, to a step.
type Ref struct {
	Session string `json:"s"`
	Turn    int    `json:"t"`
	Step    int    `json:"p"`
}
