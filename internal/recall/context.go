package recall

import (
	"context"
	"strings"
	"time"

	"strandline/internal/archive"
)

// inContext describes the content of a session's context window: the turns since its
// last compaction, and the handles injected since.
type inContext struct {
	session string
	turn    int             // the first turn
	handles map[string]bool // injected
}

// loadContext reads the content of the context of a request's session.
func loadContext(ctx context.Context, idx PromptStore, r PromptRequest) (inContext, error) {
	c := inContext{session: r.Session, handles: map[string]bool{}}
	compactions, err := idx.Compactions(ctx, archive.Span{Session: r.Session, BeforeLine: r.BeforeLine, Newest: true, Limit: 1})
	if err != nil {
		return c, err
	}
	var since time.Time
	if len(compactions) > 0 {
		since = compactions[0].Time
		// Strandline's replacement conversation repeats the earlier turns. The client keeps
		// the last messages before its summary, so the compacted turn is in the context.
		if !compactions[0].Ours {
			c.turn = compactions[0].Turn
		}
	}
	injections, err := idx.Injected(ctx, r.Session)
	if err != nil {
		return c, err
	}
	for _, in := range injections {
		if in.Time.Before(since.Add(-boundaryDelay)) {
			continue
		}
		for _, h := range in.Handles {
			c.handles[h] = true
			// One automatic recall of a turn is enough.
			if turn, _, step := strings.Cut(h, "."); step && strings.HasSuffix(in.Event, "/recall") {
				c.handles[turn] = true
			}
		}
	}
	return c, nil
}

// boundaryDelay is the largest time by which the injections of a compaction precede
// its boundary in the transcript.
const boundaryDelay = 10 * time.Second

// contains reports whether a passage is in the context.
func (c inContext) contains(p archive.Passage) bool {
	if p.Session == c.session && (p.Turn >= c.turn || p.LineFrom < 0) {
		return true
	}
	turn := archive.Ref{Session: p.Session, Turn: p.Turn, Step: -1}
	return c.handles[passageRef(p).Handle()] || c.handles[turn.Handle()]
}
