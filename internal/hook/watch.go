package hook

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/usage"
)

// watching notes what is indexed of a session as it goes by, so that nobody has
// to ask the index for it.
type watching struct {
	capture.Index
	session string
	batches []archive.Batch
}

// Apply implements capture.Index.
func (w *watching) Apply(ctx context.Context, b archive.Batch) error {
	err := w.Index.Apply(ctx, b)
	if err == nil && b.Session.ID == w.session {
		w.batches = append(w.batches, archive.Batch{
			Session: archive.Session{ID: b.Session.ID}, Steps: b.Steps, Compactions: b.Compactions,
			Cursor: archive.Cursor{Generation: b.Cursor.Generation},
		})
	}
	return err
}

// watch tells the autopilot what this hook has seen of the session, if anything.
func (r *run) watch(ctx context.Context, src capture.Source, got capture.Captured) error {
	p := r.payload
	if r.env.Autopilot == nil || p.agentID != "" {
		return nil
	}
	x := usage.Sight{
		Session: p.session, Transcript: src.Path, Now: r.env.Now(), Doubt: r.behind,
		Cut: p.event == "SessionStart" && p.source == "compact", Batches: r.batches,
	}
	if p.event == "SessionStart" {
		x.Context = p.contextTokens
	}
	for _, s := range got.Sessions {
		if s.Session == p.session {
			x.Captured = s.Bytes()
		}
	}
	if got.Added == 0 && len(x.Batches) == 0 && !x.Cut && x.Context == 0 {
		return nil
	}
	return r.env.Autopilot.Watch(ctx, x)
}

// Autopilot speaks at a prompt when there is something to say of the window.
func Autopilot(p usage.Pilot) Speaker { return reporter{p} }

type reporter struct{ pilot usage.Pilot }

// Name implements Speaker.
func (reporter) Name() string { return "autopilot" }

// Speak implements Speaker.
func (r reporter) Speak(_ context.Context, m Moment) (Speech, error) {
	if m.Event != "UserPromptSubmit" {
		return Speech{}, nil
	}
	told := r.pilot.Report(m.Session)
	return Speech{Text: told.Text, Said: told.Told}, nil
}
