package archive

import "time"

// JournalSegment is something that happened to a segment: it was queued,
// summarised, archived … Data is SegmentFact.
const JournalSegment JournalKind = "segment"

// Tier says where a segment is looked for.
type Tier string

// The tiers.
const (
	TierHot  Tier = "L1" // in the client's context
	TierWarm Tier = "L2" // summarised; a search finds the summary
	TierCold Tier = "L3" // archived; a search finds the summary, nobody is told of it unasked
)

// Labels of the passages that segments' summaries become.
const (
	LabelSegment  = "segment"
	LabelArchived = "archived segment"
)

// SegmentEvent is what happened to a segment.
type SegmentEvent string

// The events.
const (
	SegmentQueued     SegmentEvent = "queued"     // it went cold and waits for a summary
	SegmentSummarised SegmentEvent = "summarised" // by extraction
	SegmentSaved      SegmentEvent = "saved"      // with a summary that the agent wrote
	SegmentImported   SegmentEvent = "imported"   // from an older tool's files
	SegmentArchived   SegmentEvent = "archived"
	SegmentPruned     SegmentEvent = "pruned" // only the summary's text stays in the index
	SegmentRead       SegmentEvent = "read"   // the summary was given to the model
	SegmentCleared    SegmentEvent = "cleared"
)

// SegmentFact is the data of a JournalSegment entry. Events that carry no summary
// name the segment by its id alone.
type SegmentFact struct {
	Event   SegmentEvent `json:"event"`
	Segment Segment      `json:"segment"`
}

// Segment is a run of steps on one task or topic, with its summary. Names are
// those of the files that older tools keep.
type Segment struct {
	ID        string `json:"segment_id"`
	Session   string `json:"session_id"`
	Task      string `json:"task_id,omitempty"`
	Topic     string `json:"topic"` // redacted
	StartTurn int    `json:"start_turn"`
	EndTurn   int    `json:"end_turn"`
	// Start and End count the session's live steps from 0; End is exclusive.
	Start int `json:"start_step"`
	End   int `json:"end_step"`

	// OriginalTokens is what the segment took in the context, by the API's own
	// count; CompressedTokens estimates the summary; Ratio is their quotient.
	OriginalTokens   int       `json:"original_tokens"`
	CompressedTokens int       `json:"compressed_tokens"`
	Ratio            float64   `json:"compression_ratio"`
	CompressedAt     time.Time `json:"compressed_at,omitzero"`
	LastAccessed     time.Time `json:"last_accessed,omitzero"`
	AccessCount      int       `json:"access_count"`
	// Relevance is from 0 to 1; package task says how it is made.
	Relevance    float64         `json:"relevance_score"`
	Content      string          `json:"compressed_content,omitempty"` // redacted
	KeyDecisions []string        `json:"key_decisions,omitempty"`
	KeyFiles     []string        `json:"key_files,omitempty"`
	Metadata     SegmentMetadata `json:"metadata"`
	// By is "extract", "agent" or the tool that the summary was imported from.
	By string `json:"by,omitempty"`
}

// SegmentMetadata says what a segment holds.
type SegmentMetadata struct {
	ContainsCode   bool `json:"contains_code"`
	ContainsErrors bool `json:"contains_errors"`
	TaskCompleted  bool `json:"task_completed"`
}
