package mcpserver

import (
	"context"

	"strandline/internal/archive"
)

// Draft is a segment's summary written by a model.
type Draft struct {
	Segment string `json:"segment" jsonschema:"id of a segment without a summary, or its beginning"`
	Summary string `json:"summary" jsonschema:"decisions, file changes, fixes of errors, outcomes, preferences; 80 to 90 percent fewer tokens than the segment"`
	NoFiles string `json:"no_files,omitempty" jsonschema:"why the summary does not name the key files, if it does not"`
	Session string `json:"session,omitempty" jsonschema:"handle of the segment's session, if the id is ambiguous"`
}

// maxSummary limits a summary, in bytes.
const maxSummary = 64 << 10

// addSegmentSave registers the only tool that writes. It adds a version and
// deletes none.
func (s *Server) addSegmentSave() {
	t := deferred("segment_save", "Save a segment's summary",
		"Replace the extracted summary of a finished piece of work by a better one. It must describe that segment, be short, and name its key files. The previous summary is kept as a version.")
	destructive := false
	t.Annotations.ReadOnlyHint, t.Annotations.DestructiveHint = false, &destructive
	register(s, t, func(ctx context.Context, in Draft) (answer, error) {
		if in.Segment == "" || len(in.Summary) > maxSummary {
			return answer{}, archive.Invalid("the summary is rejected: it names no segment, or is too long", "name the segment, and write a few hundred words at most")
		}
		report, err := s.opts.SaveSegment(ctx, in)
		return answer{Note: report}, err
	})
}
