package archive

import "time"

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
)

// PassageKinds lists every kind in display order.
func PassageKinds() []PassageKind {
	return []PassageKind{KindPrompt, KindReply, KindCommand, KindEdit, KindOutput, KindSummary}
}

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
	// Label is the tool's name, "thinking", or "hook" for a summary from a hook.
	Label    string
	Text     string // redacted
	Paths    []string
	LineFrom int // 0-based; -1 for text that is not in the transcript
	LineTo   int // one past the last line
	Time     time.Time
	Partial  bool // the log holds more of this text than the index
}

// Ref refers to a turn or, with Step >= 0, to a step.
type Ref struct {
	Session string `json:"s"`
	Turn    int    `json:"t"`
	Step    int    `json:"p"`
}
