package recall

import (
	"context"
	"strings"
	"time"

	"strandline/internal/archive"
)

// inView is what stands in a session's context window.
type inView struct {
	session string
	turn    int             // the first turn of the session that does
	given   map[string]bool // handles that were put there since
}

// view finds what the context of a request's session holds: what was said since
// its last compaction, and what was given back to it since.
func view(ctx context.Context, idx PromptStore, r PromptRequest) (inView, error) {
	v := inView{session: r.Session, given: map[string]bool{}}
	cuts, err := idx.Compactions(ctx, archive.Span{Session: r.Session, BeforeLine: r.BeforeLine, Newest: true, Limit: 1})
	if err != nil {
		return v, err
	}
	var since time.Time
	if len(cuts) > 0 {
		since = cuts[0].Time
		// A record of our own retells what was before. The client keeps the last
		// messages before its summary, so the turn that was cut counts as seen.
		if !cuts[0].Ours {
			v.turn = cuts[0].Turn
		}
	}
	told, err := idx.Injected(ctx, r.Session)
	if err != nil {
		return v, err
	}
	for _, t := range told {
		// The block that follows a compaction is told moments before its boundary
		// is written.
		if t.Time.Before(since.Add(-boundaryDelay)) {
			continue
		}
		for _, h := range t.Handles {
			v.given[h] = true
			// What was told of a turn unasked is enough of it.
			if turn, _, step := strings.Cut(h, "."); step && strings.HasSuffix(t.Event, "/recall") {
				v.given[turn] = true
			}
		}
	}
	return v, nil
}

// boundaryDelay is how much earlier than a compaction's boundary the hooks of
// this compaction may have spoken.
const boundaryDelay = 10 * time.Second

// hides reports whether a passage is in view already.
func (v inView) hides(p archive.Passage) bool {
	if p.Session == v.session && (p.Turn >= v.turn || p.LineFrom < 0) {
		return true
	}
	ref := archive.Ref{Session: p.Session, Turn: p.Turn, Step: p.Step}
	return v.given[ref.Handle()] || v.given[archive.Ref{Session: p.Session, Turn: p.Turn, Step: -1}.Handle()]
}
