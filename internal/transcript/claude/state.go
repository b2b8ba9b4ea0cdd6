package claude

import (
	"time"

	"strandline/internal/archive"
)

// stateVersion is the first byte of an encoded state.
//
//  1. The first version.
//  2. To-do items keep their id, so that an item that a new list omits can be
//     named. Version 1 is still read, without these ids.
//  3. The rank of the title. Older states are read, and keep their title unless the
//     client names the session.
const stateVersion = 3

// Limits of the state. The oldest entries beyond them are dropped. That depends
// only on the sequence of rows, so reading in pieces drops the same entries.
const (
	maxSteps        = 8        // steps that may still change
	maxTools        = 64       // calls of a step whose ids are known
	maxPending      = 256      // calls without a result
	maxPendingBytes = 48 << 10 // their texts
	maxRecent       = 128      // rows whose turn is known
	maxQueue        = 16       // queued prompts
	maxTodos        = 128      // to-do items
)

// state is the state of the fold between two reads.
type state struct {
	facts      archive.Session // the fields that the transcript holds
	turn       turnState
	steps      []stepState // that may still change, oldest first
	pending    []callState // calls without a result, oldest first
	compaction compactionState
	recent     []recentRow // oldest first
	queue      []queued
	taken      []uint64 // content hashes of the prompts that last left the queue
	todos      []todo
	echo       echoState
	title      titleRank // of facts.Title
}

// turnState is the current turn.
type turnState struct {
	open bool
	row  archive.Turn
	seq  int    // of the turn's next passage outside a step
	tail uint64 // hash of the last row's uuid, 0 if none
}

// stepState is an API response that may get more lines or results.
type stepState struct {
	key   uint64
	row   archive.Step
	seq   int // of the next passage
	calls int
	tools []uint64 // hashes of the calls' ids, to recognize a block written twice
	dirty bool     // changed in this read; not encoded
}

// callState is a call without a result.
type callState struct {
	row       archive.Call
	seq       int // of its passage
	time      time.Time
	request   string // redacted: a command's description, or another tool's input
	task      archive.TaskEvent
	sidechain bool
	copied    bool // the step is a copy, so its result is one as well

	// Indexes in the batch of this read, -1 if none; not encoded.
	batchCall, batchPassage int
}

// compactionState is the last compaction.
type compactionState struct {
	row      archive.Compaction
	boundary uint64    // hash of the boundary's uuid
	promptID string    // of the rows of a plugin's replacement conversation
	time     time.Time // of the boundary
	turn     int       // of the boundary
	open     bool      // the summary has not followed yet
	copying  bool      // answered by a plugin: copied rows may follow
}

// recentRow is the turn of a row.
type recentRow struct {
	uuid uint64
	turn int
}

// queued is a prompt that was typed while the model worked.
type queued struct {
	text string // redacted; empty if it is not the user's
	hash uint64
	line int
	time time.Time
}

// todo is the last status of a to-do item.
type todo struct {
	id     uint64
	status string
	name   string // the event's TaskID
}

// open reports whether the item is unfinished.
func (t todo) open() bool { return t.status == "pending" || t.status == "in_progress" }

// echoState is the last echoed slash command.
type echoState struct {
	uuid uint64
	text string
}

// encode returns the encoded state.
func (st *state) encode() []byte {
	c := &codec{buf: make([]byte, 0, 2048), version: stateVersion}
	c.buf = append(c.buf, stateVersion)
	st.visit(c)
	return c.buf
}

// decode reads an encoded state and reports whether it is valid.
func (st *state) decode(b []byte) bool {
	if len(b) == 0 || b[0] == 0 || b[0] > stateVersion {
		return false
	}
	c := &codec{buf: b[1:], reading: true, version: int(b[0])}
	st.visit(c)
	return !c.bad && len(c.buf) == 0
}

func (st *state) visit(c *codec) {
	c.facts(&st.facts)
	c.turn(&st.turn)
	list(c, &st.steps, (*codec).step)
	list(c, &st.pending, (*codec).call)
	c.compaction(&st.compaction)
	list(c, &st.recent, (*codec).recent)
	list(c, &st.queue, (*codec).queued)
	list(c, &st.taken, (*codec).hash)
	list(c, &st.todos, (*codec).todo)
	c.hash(&st.echo.uuid)
	c.strings(&st.echo.text)
	if c.version > 2 {
		integers(c, &st.title)
	} else if st.facts.Title != "" {
		st.title = titlePrompt
	}
}

// keepLast removes all but the last n elements of a list.
func keepLast[T any](list []T, n int) []T {
	if drop := len(list) - n; drop > 0 {
		return append(list[:0], list[drop:]...)
	}
	return list
}
