package mcpserver

import (
	"context"

	"strandline/internal/archive"
)

// Draft is a summary of a segment as a model wrote it.
type Draft struct {
	Segment string `json:"segment" jsonschema:"id of a segment that waits for a summary, or the beginning of one"`
	Summary string `json:"summary" jsonschema:"decisions, file changes, cures of errors, outcomes, preferences; 80 to 90 percent fewer tokens than the segment"`
	NoFiles string `json:"no_files,omitempty" jsonschema:"why the key files are not named, where they are not"`
	Session string `json:"session,omitempty" jsonschema:"handle of the segment's session, if its id does not tell"`
}

// maxSummary is the most bytes that are looked at; what is refused anyway need
// not be read.
const maxSummary = 64 << 10

// addSegmentSave registers the one tool that writes. It adds a version and takes
// nothing away.
func (s *Server) addSegmentSave() {
	t := back("segment_save", "Save a summary of a segment",
		"Give a finished stretch of work a better summary than the extracted one. It has to be about that segment, short, and name its key files. The previous one is kept as a version.")
	no := false
	t.Annotations.ReadOnlyHint, t.Annotations.DestructiveHint = false, &no
	register(s, t, func(ctx context.Context, in Draft) (answer, error) {
		if in.Segment == "" || len(in.Summary) > maxSummary {
			return answer{}, archive.Invalid("the summary is not taken: it names no segment, or is far too long", "name the segment, and write a few hundred words at most")
		}
		report, err := s.opts.SaveSegment(ctx, in)
		return answer{Note: report}, err
	})
}
