package claude

import (
	"time"

	"strandline/internal/archive"
)

// stateVersion is the first byte of a serialised state.
//
//  1. The first.
//  2. Items of the to-do list keep their id, so that one that a new list drops
//     can be named. A state of version 1 is read; its items are not known to be
//     dropped.
const stateVersion = 2

// Bounds of the state. Whatever exceeds them is forgotten oldest first, by the
// sequence of rows alone, so that reading in pieces forgets the same.
const (
	maxSteps        = 8        // steps that may still grow
	maxTools        = 64       // calls of a step whose ids are known
	maxPending      = 256      // calls without a result
	maxPendingBytes = 48 << 10 // their texts
	maxRecent       = 128      // rows whose turn is known
	maxQueue        = 16       // prompts typed ahead
	maxTodos        = 128      // items of the to-do list
)

// state is the fold's memory between two reads.
type state struct {
	facts   facts
	turn    turnState
	steps   []stepState // that may still grow, oldest first
	pending []callState // calls without a result, oldest first
	cut     cutState
	recent  []recentRow // oldest first
	queue   []queued
	taken   []uint64 // content of the prompts that were last taken from the queue
	todos   []todo
	echo    echoState
}

// facts are what a session's row holds beyond what the caller knows.
type facts struct {
	cwd, branch, version, model, title string
	first, last                        time.Time
	turns, steps, calls, compacts      int
	usage                              archive.Usage
	cost                               archive.Cost
}

// turnState is the running turn.
type turnState struct {
	open bool
	row  archive.Turn
	seq  int    // of the turn's next passage outside a step
	tail uint64 // hash of the last row's uuid, 0 before there is one
}

// stepState is a response that may get more lines or results.
type stepState struct {
	key   uint64
	row   archive.Step
	seq   int // of the next passage
	calls int
	tools []uint64 // hashes of the calls' ids, of which a block written twice is known
	dirty bool     // changed in this read; not kept
}

// callState is a call that waits for its result.
type callState struct {
	row    archive.Call
	seq    int // of its passage
	time   time.Time
	brief  string // what was asked, redacted: a command's description, other tools' input
	task   archive.TaskEvent
	side   bool
	copied bool // the step was seen before: the result is no news

	// Places in the batch of this read, -1 elsewhere; not kept.
	batchCall, batchPassage int
}

// cutState is the last compaction.
type cutState struct {
	row      archive.Compaction
	boundary uint64    // hash of the boundary's uuid
	promptID string    // of the rows that stand for the conversation a plugin wrote
	time     time.Time // of the boundary
	turn     int       // in which it stands
	open     bool      // no summary has come yet
	copying  bool      // a plugin answered: copied rows may follow
}

// recentRow remembers in which turn a row stands.
type recentRow struct {
	uuid uint64
	turn int
}

// queued is a prompt that was typed while the model worked.
type queued struct {
	text string // redacted, empty when it is not the user's
	hash uint64
	line int
	time time.Time
}

// todo is an item of the to-do list with its last status.
type todo struct {
	id     uint64
	status string
	name   string // the event's TaskID
}

// open reports whether a list that drops the item leaves work undone.
func (t todo) open() bool { return t.status == "pending" || t.status == "in_progress" }

// echoState is the slash command that was echoed last.
type echoState struct {
	uuid uint64
	text string
}

// encode serialises the state.
func (st *state) encode() []byte {
	c := &codec{buf: make([]byte, 0, 2048), version: stateVersion}
	c.buf = append(c.buf, stateVersion)
	st.walk(c)
	return c.buf
}

// decode reads what encode wrote and reports whether it could.
func (st *state) decode(b []byte) bool {
	if len(b) == 0 || b[0] == 0 || b[0] > stateVersion {
		return false
	}
	c := &codec{buf: b[1:], reading: true, version: int(b[0])}
	st.walk(c)
	return !c.bad && len(c.buf) == 0
}

func (st *state) walk(c *codec) {
	st.facts.walk(c)
	t := &st.turn
	c.bools(&t.open)
	walkTurn(c, &t.row)
	c.ints(&t.seq)
	c.hash(&t.tail)
	list(c, &st.steps, (*codec).step)
	list(c, &st.pending, (*codec).call)
	st.cut.walk(c)
	list(c, &st.recent, func(c *codec, r *recentRow) {
		c.hash(&r.uuid)
		c.ints(&r.turn)
	})
	list(c, &st.queue, func(c *codec, q *queued) {
		c.strings(&q.text)
		c.hash(&q.hash)
		c.ints(&q.line)
		c.times(&q.time)
	})
	list(c, &st.taken, (*codec).hash)
	list(c, &st.todos, func(c *codec, t *todo) {
		c.hash(&t.id)
		c.strings(&t.status)
		if c.version > 1 {
			c.strings(&t.name)
		}
	})
	c.hash(&st.echo.uuid)
	c.strings(&st.echo.text)
}

func (f *facts) walk(c *codec) {
	c.strings(&f.cwd, &f.branch, &f.version, &f.model, &f.title)
	c.times(&f.first, &f.last)
	c.ints(&f.turns, &f.steps, &f.calls, &f.compacts)
	c.usage(&f.usage)
	c.float(&f.cost.USD)
	c.duration(&f.cost.APITime)
	c.duration(&f.cost.Duration)
	c.ints(&f.cost.Turns, &f.cost.LinesAdded, &f.cost.LinesGone)
}

func (s *cutState) walk(c *codec) {
	r := &s.row
	c.ints(&r.Index, &r.Line, &r.SummaryLine, &r.Kept, &r.Turn)
	c.strings(&r.Trigger)
	c.times(&r.Time)
	c.int64(&r.PreTokens)
	c.int64(&r.PostTokens)
	c.duration(&r.Duration)
	c.bools(&r.Ours)
	c.hash(&s.boundary)
	c.strings(&s.promptID)
	c.times(&s.time)
	c.ints(&s.turn)
	c.bools(&s.open, &s.copying)
}
