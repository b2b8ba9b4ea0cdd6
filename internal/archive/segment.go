package archive

import "time"

// JournalSegment is an event of a segment. Data is SegmentFact.
const JournalSegment JournalKind = "segment"

// Tier is the storage tier of a segment.
type Tier string

// The tiers.
const (
	TierHot  Tier = "L1" // in the client's context
	TierWarm Tier = "L2" // summarised; a search finds the summary
	TierCold Tier = "L3" // archived; a search finds the summary, automatic recall does not
)

// The labels of passages that hold segments' summaries.
const (
	LabelSegment  = "segment"
	LabelArchived = "archived segment"
)

// SegmentEvent is an event in the life of a segment.
type SegmentEvent string

// The events.
const (
	SegmentQueued     SegmentEvent = "queued"     // it is inactive and needs a summary
	SegmentSummarised SegmentEvent = "summarised" // by extraction
	SegmentSaved      SegmentEvent = "saved"      // with a summary that the agent wrote
	SegmentImported   SegmentEvent = "imported"   // from an older tool's files
	SegmentArchived   SegmentEvent = "archived"
	SegmentPruned     SegmentEvent = "pruned"  // only the summary's text remains in the index
	SegmentRead       SegmentEvent = "read"    // the model read the summary
	SegmentCleared    SegmentEvent = "cleared" // it is off the queue
	SegmentRemoved    SegmentEvent = "removed" // its summary is no longer used
)

// SegmentFact is the data of a JournalSegment entry. Events without a summary set only the
// segment's ID.
type SegmentFact struct {
	Event   SegmentEvent `json:"event"`
	Segment Segment      `json:"segment"`
}

// Segment is a run of steps on one task or topic, with its summary. The JSON names are
// those of older tools' files.
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

	// OriginalTokens is the segment's size in the context, as reported by the API.
	// CompressedTokens is an estimate for the summary. Ratio is the first divided by the
	// second, 0 if unknown.
	OriginalTokens   int       `json:"original_tokens"`
	CompressedTokens int       `json:"compressed_tokens"`
	Ratio            float64   `json:"compression_ratio"`
	CompressedAt     time.Time `json:"compressed_at,omitzero"`
	LastAccessed     time.Time `json:"last_accessed,omitzero"`
	AccessCount      int       `json:"access_count"`
	// Relevance is from 0 to 1; package task computes it.
	Relevance    float64         `json:"relevance_score"`
	Content      string          `json:"compressed_content,omitempty"` // redacted
	KeyDecisions []string        `json:"key_decisions,omitempty"`
	KeyFiles     []string        `json:"key_files,omitempty"`
	Metadata     SegmentMetadata `json:"metadata"`
	// By is "extract", "agent" or the tool that the summary was imported from.
	By string `json:"by,omitempty"`
}

// SegmentMetadata describes the content of a segment.
type SegmentMetadata struct {
	ContainsCode   bool `json:"contains_code"`
	ContainsErrors bool `json:"contains_errors"`
	TaskCompleted  bool `json:"task_completed"`
}
