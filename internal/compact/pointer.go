package compact

import (
	"context"
	"fmt"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Sessions is what Pointer reads of a store.
type Sessions interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
}

// PointerRequest says which project a new session starts in.
type PointerRequest struct {
	Projects []string // keys of the project and of those merged into it
	Exclude  string   // id of the session that is just starting
	Now      time.Time
}

// candidates is how many sessions are looked at for one worth pointing at.
const candidates = 8

// Pointer returns two lines, fenced, that name the last session of the project
// and how to recall it, and "" if there is none.
func Pointer(ctx context.Context, src Sessions, req PointerRequest) (string, error) {
	if len(req.Projects) == 0 {
		return "", nil
	}
	sessions, err := src.Sessions(ctx, archive.SessionFilter{Projects: req.Projects, Limit: candidates})
	if err != nil {
		return "", err
	}
	for _, s := range sessions {
		if s.ID != req.Exclude && s.Turns > 0 && s.Title != "" {
			return pointTo(s, req.Now), nil
		}
	}
	return "", nil
}

func pointTo(s archive.Session, now time.Time) string {
	id := archive.ShortID(s.ID)
	last := archive.Ref{Session: s.ID, Turn: s.Turns - 1, Step: -1}.Handle()
	when := ""
	if !s.Last.IsZero() {
		when = fmt.Sprintf(", last active %s (%s)", s.Last.UTC().Format("2006-01-02 15:04"), since(now.Sub(s.Last)))
	}
	title := `"` + text.Truncate(oneLine(s.Title), 120) + `"`
	body := fmt.Sprintf("The last session in this project was %s: %s, %s%s.\n", id, title, count(s.Turns, "turn"), when) +
		fmt.Sprintf("What it did is on record: strandline show %s, strandline search \"WORDS\" --session %s.", last, id)
	where := "this project"
	if s.Project.Name != "" {
		where = "project " + oneLine(s.Project.Name)
	}
	return text.Fence(where, body)
}

func count(n int, noun string) string { return text.Count(n, noun) }

// since says how long ago something was, in one unit.
func since(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return count(int(d/time.Hour), "hour") + " ago"
	}
	return count(int(d/(24*time.Hour)), "day") + " ago"
}
