package hook

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Unasked speaks at a prompt that needs something which is no longer in view, and
// after a compaction of what other sessions did about the work in hand. project
// finds the project of a folder; redact replaces secrets.
func Unasked(project func(dir string) archive.Project, redact func(string) string) Speaker {
	return recaller{project, redact}
}

type recaller struct {
	project func(dir string) archive.Project
	redact  func(string) string
}

// Name implements Speaker.
func (recaller) Name() string { return "recall" }

// Speak implements Speaker.
func (r recaller) Speak(ctx context.Context, m Moment) (Speech, error) {
	look := recall.ForPrompt
	switch {
	case m.Event == "UserPromptSubmit" && recall.Wants(m.Prompt):
	case m.Event == "SessionStart" && m.Source == "compact":
		look = recall.Related
	default:
		return Speech{}, nil
	}
	idx, err := m.Index(ctx)
	if err != nil {
		return Speech{}, fmt.Errorf("look up what a prompt needs: %w", err)
	}
	b, err := look(ctx, idx, recall.PromptRequest{
		Session: m.Session, Project: r.project(m.Cwd).Key, Prompt: m.Prompt, Now: m.Now, Units: m.Room,
	})
	if err != nil || b.Text == "" {
		return Speech{}, err
	}
	return Speech{Text: r.redact(b.Text), Handles: b.Handles, Refs: b.Refs, How: archive.AccessRestored}, nil
}
