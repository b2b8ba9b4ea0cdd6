package recall

import (
	"time"

	"strandline/internal/archive"
)

// Result is what a search prints with --json.
type Result struct {
	Query  string  `json:"query"`
	TookMS float64 `json:"took_ms"`
	Hits   []Hit   `json:"hits"`
	// Relaxed says what was given up because nothing matched, empty if nothing was.
	Relaxed string `json:"relaxed,omitempty"`
}

// Hit is one place that matched.
type Hit struct {
	Handle   string              `json:"handle"`
	Session  string              `json:"session"`
	Project  string              `json:"project"`
	Kind     archive.PassageKind `json:"kind"`
	Time     time.Time           `json:"time"`
	LineFrom int                 `json:"line_from"` // 0-based line of the transcript, -1: in no transcript
	LineTo   int                 `json:"line_to"`   // one past the last line
	Score    float64             `json:"score"`     // higher is better, comparable within one answer
	Text     string              `json:"text"`      // the passage whole
	// Ref is the place as the store names it.
	Ref archive.Ref `json:"-"`
	// Passage and Where it stands, for callers that render or read on.
	Passage archive.Passage `json:"-"`
}
