package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"strandline/internal/archive"
)

// recallIn holds the arguments of recall.
type recallIn struct {
	Handle   string `json:"handle" jsonschema:"a turn (7f3a12cd/12), a step (7f3a12cd/12.3) or a session (7f3a12cd)"`
	Page     int    `json:"page,omitempty" jsonschema:"page of a long text, from 1"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"characters per page, 500 to 20000 (default 6000)"`
}

func (s *Server) recall(ctx context.Context, idx Index, in recallIn) (answer, error) {
	h, err := archive.ParseHandle(in.Handle)
	if err != nil {
		return answer{}, err
	}
	id, err := idx.Resolve(ctx, h.Session)
	if err != nil {
		return answer{}, err
	}
	if h.Turn < 0 {
		return s.outline(ctx, idx, id, in.Page, in.MaxChars)
	}
	info, err := idx.Session(ctx, id)
	if err != nil {
		return answer{}, err
	}
	h.Session = archive.ShortID(id)
	text, at, err := s.place(ctx, idx, id, h)
	if err != nil {
		return answer{}, err
	}
	out, err := pageOf(fmt.Sprintf("%s, project %s, %s", h, projectName(info.Project), s.stamp(at)), text, in.Page, in.MaxChars)
	if err != nil {
		return answer{}, err
	}
	if out.Pages > 1 && h.Step < 0 {
		if err := s.offerSteps(ctx, idx, id, h, &out); err != nil {
			return answer{}, err
		}
	}
	if err := s.opts.Recalled(ctx, []archive.Ref{{Session: id, Turn: h.Turn, Step: h.Step}}); err != nil {
		s.opts.Log.Error("record a recall", "error", err) // the model gets the text anyway
	}
	return out, nil
}

// place returns the text of a turn or a step, and its start.
func (s *Server) place(ctx context.Context, idx Index, id string, h archive.Handle) (text string, at time.Time, err error) {
	blocks, err := s.opts.Logs.Blocks(ctx, idx, id, h)
	if err != nil {
		return "", at, err
	}
	var b strings.Builder
	for _, x := range blocks {
		if !x.Conversation() {
			continue
		}
		if at.IsZero() {
			at = x.Time
		}
		head := x.Kind
		if x.Name != "" {
			head += " " + x.Name
		}
		if x.Error {
			head += " (error)"
		}
		fmt.Fprintf(&b, "-- %s\n%s\n", head, strings.TrimRight(x.Text, "\n"))
	}
	if b.Len() == 0 {
		return "(no text)\n", at, nil
	}
	return b.String(), at, nil
}

// offerSteps adds the turn's steps to the note.
func (s *Server) offerSteps(ctx context.Context, idx Index, id string, h archive.Handle, out *answer) error {
	steps, err := idx.Steps(ctx, archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1})
	if err != nil {
		return err
	}
	if n := len(steps); n > 1 {
		out.Note = strings.TrimSpace(fmt.Sprintf("%s The turn has %d steps, %s.0 to %s.%d.", out.Note, n, h, h, n-1))
	}
	return nil
}
