package claude

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
)

// The row types that the fold reads; it ignores others.
const (
	typeUser       = "user"
	typeAssistant  = "assistant"
	typeSystem     = "system"
	typeAttachment = "attachment"
	typeQueue      = "queue-operation"
	typeCost       = "cost-state"
	typeResult     = "result"
	typeProgress   = "progress"
	typeSnapshot   = "file-history-snapshot"
	typeTitle      = "custom-title"
	typeAutoTitle  = "ai-title"
	typeSummary    = "summary"   // of older clients: a title of the session with the leaf
	typeBlank      = "blank"     // a line of white space
	typeMalformed  = "malformed" // a line that is not a JSON object
)

const subtypeBoundary = "compact_boundary" // of a system row

// row is one parsed line. Byte slices are parts of the chunk; those of type
// jsontext.Value are still quoted.
type row struct {
	line    int
	kind    string // the row's type
	subtype string

	uuid, parent, promptID       []byte
	sessionID, agentID           []byte
	cwd, branch, version         []byte
	messageID, model, stopReason []byte
	operation                    []byte         // of a queue-operation
	rawContent                   jsontext.Value // of a queue-operation or system row; the whole of a malformed line

	time  time.Time // zero if missing
	usage archive.Usage

	title []byte // that the client gives the session
	leaf  []byte // uuid of a row in the session that a summary row is about

	meta       bool // isMeta: text of the client in a user row
	sidechain  bool
	summary    bool // isCompactSummary
	repeats    bool // repeatsCompactSummary
	apiError   bool
	root       bool // parentUuid is null, not merely missing
	provenance bool // has a field that only the user's prompts have

	// The content blocks are scanner.parts[partFrom:partTo].
	partFrom, partTo int

	result  resultFacts
	compact compactFacts
	attach  attachFacts
	cost    archive.Cost
	hasCost bool // cost is set

	// Set by Reader.identify.
	class   userClass
	text    string // of a user row, cleaned, not redacted
	key     uint64 // identity, 0 if the row has none
	results int    // tool results in a user row
}

// isMessage reports whether a row is part of the conversation.
func (r *row) isMessage() bool { return r.kind == typeUser || r.kind == typeAssistant }

// partKind is the kind of a content block.
type partKind uint8

const (
	partOther partKind = iota
	partText
	partThinking
	partToolUse
	partToolResult
	partImage
)

// part is one content block.
type part struct {
	kind    partKind
	name    []byte // of the tool, or the type of an unknown block
	id      []byte // tool_use id of a call or a result
	raw     []byte // JSON of the text, thinking, input or content; may be empty
	isError bool
}

// resultFacts are the facts in toolUseResult beyond those in the content block.
type resultFacts struct {
	duration    time.Duration
	exit        int
	hasExit     bool
	interrupted bool
	background  bool
	nonzero     bool // the client explains a non-zero exit code that is not a failure
	taskID      []byte
	refused     bool // "success" is false
}

// compactFacts is the compactMetadata of a boundary.
type compactFacts struct {
	trigger   string
	pre, post int64 // tokens
	duration  time.Duration
	kept      int
	segment   bool // has preservedSegment or preservedMessages
}

// attachFacts holds the used fields of an attachment.
type attachFacts struct {
	kind   string
	mode   string // commandMode of a queued command
	meta   bool
	prompt jsontext.Value
	text   jsontext.Value // of other attachments
}
