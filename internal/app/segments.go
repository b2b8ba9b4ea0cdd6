package app

import (
	"strandline/internal/archive"
	"strandline/internal/task"
)

// Segment is a segment for scripts: the shape of the older tools' files, and
// where it is.
type Segment struct {
	archive.Segment
	Handle   string            `json:"handle"`
	Tier     archive.Tier      `json:"tier"`
	Pending  bool              `json:"pending"`
	Pruned   bool              `json:"pruned,omitempty"`
	Versions []archive.Segment `json:"versions,omitempty"`
}

// NewSegment is a segment as relevant as it is now steps into its session.
func NewSegment(e task.Entry, now int) Segment {
	e.Relevance = task.Relevance(e.Segment, now)
	return Segment{
		Segment: e.Segment, Tier: e.Tier, Pending: e.Pending, Pruned: e.Pruned, Versions: e.Versions,
		Handle: archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}.Handle(),
	}
}

// Segments are those of a state, or only the ones that wait for a summary. now is
// how many steps their session has, 0 where they are of several.
func Segments(state *task.State, pending bool, now int) []Segment {
	out := []Segment{}
	for _, e := range state.Entries {
		if !pending || e.Pending {
			out = append(out, NewSegment(e, now))
		}
	}
	return out
}
