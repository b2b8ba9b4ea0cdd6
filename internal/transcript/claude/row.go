package claude

import (
	"time"

	"strandline/internal/archive"
)

// The row types that the fold knows; others pass through as they are.
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
	typeBlank      = "blank"     // a line of white space
	typeMalformed  = "malformed" // a line that is no JSON object
)

// row is what one line says. Byte slices alias the chunk and are valid as long
// as it is; those called raw are JSON values, still quoted.
type row struct {
	line    int
	kind    string // the "type" of the row
	subtype string

	uuid, parent, promptID       []byte
	sessionID, agentID           []byte
	cwd, branch, version         []byte
	messageID, model, stopReason []byte
	operation                    []byte // of a queue-operation
	rawContent                   []byte // of a queue-operation or a system row; a malformed line whole

	time  time.Time // zero when the row is not dated
	usage archive.Usage

	meta       bool // isMeta: the client's own words in the user's name
	sidechain  bool
	summary    bool // isCompactSummary
	repeats    bool // repeatsCompactSummary
	apiError   bool
	root       bool // parentUuid is null, which is more than absent
	provenance bool // says where a prompt came from; only human prompts do

	// parts are scanner.parts[partFrom:partTo].
	partFrom, partTo int

	result  resultFacts
	compact *compactFacts
	attach  *attachFacts
	cost    *archive.Cost

	// What prepare found out before the fold.
	class userClass
	own   bool // holds a block that Strandline put there
	// standsFor: one of them stands for a conversation.
	standsFor bool
	text      string // of a user row, cleaned, not redacted
	key       uint64 // identity, 0 if the row has none
}

// partKind classes the content blocks of a message.
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
	id      []byte // tool_use id, also of a result
	raw     []byte // text, thinking, input or content as raw JSON, may be empty
	isError bool
}

// resultFacts are what toolUseResult says beyond the content block.
type resultFacts struct {
	duration    time.Duration
	exit        int
	hasExit     bool
	interrupted bool
	background  bool
	nonzero     bool // the client explains a non-zero code that is no failure
	taskID      []byte
	refused     bool // "success" is false
}

// compactFacts is the compactMetadata of a boundary.
type compactFacts struct {
	trigger   string
	pre, post int64
	duration  time.Duration
	kept      int
	segment   bool // preservedSegment or preservedMessages is there
}

// attachFacts is what the fold needs of an attachment.
type attachFacts struct {
	kind   string
	mode   string // commandMode of a queued command
	meta   bool
	prompt []byte // raw
	text   []byte // raw, what other attachments hold
}
