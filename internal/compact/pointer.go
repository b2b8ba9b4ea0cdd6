package compact

import (
	"context"
	"fmt"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Sessions is the part of a store that Pointer reads.
type Sessions interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
}

// PointerRequest describes the start of a session.
type PointerRequest struct {
	Projects []string // keys of the project and of those merged into it
	Exclude  string   // ID of the starting session
	Now      time.Time
}

// pointerSessions is how many sessions Pointer considers.
const pointerSessions = 8

// Pointer returns two fenced lines that name the project's last session with a
// title and the commands that read it; "" if there is none.
func Pointer(ctx context.Context, src Sessions, req PointerRequest) (string, error) {
	if len(req.Projects) == 0 {
		return "", nil
	}
	sessions, err := src.Sessions(ctx, archive.SessionFilter{Projects: req.Projects, Limit: pointerSessions})
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
	title := `"` + text.Truncate(text.CleanLine(s.Title), 120) + `"`
	body := fmt.Sprintf("The previous session in this project was %s: %s, %s%s.\n", id, title, text.Count(s.Turns, "turn"), when) +
		fmt.Sprintf("To read it: strandline show %s, strandline search \"WORDS\" --session %s.", last, id)
	where := "this project"
	if s.Project.Name != "" {
		where = "project " + text.CleanLine(s.Project.Title())
	}
	return text.Fence(where, body)
}

// since returns an age in one unit, such as "2 hours ago".
func since(d time.Duration) string {
	n, unit := d/(24*time.Hour), "day"
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		n, unit = d/time.Minute, "minute"
	case d < 48*time.Hour:
		n, unit = d/time.Hour, "hour"
	}
	return text.Count(int(n), unit) + " ago"
}
