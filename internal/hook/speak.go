package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/transcript"
	"strandline/internal/usage"
)

// The client moves a text above 10,000 UTF-16 units out of the context and into
// a file, whatever the configuration asks for.
const maxInjected = 9900

// speak answers the event: what the hook itself has to say, if the index is
// open, and what the speakers add. It notes all of it in the journal.
func (r *run) speak(ctx context.Context) error {
	var own voice
	var errs []error
	if r.idx != nil {
		blocked, err := r.block(ctx, r.idx)
		if blocked {
			return err
		}
		if err != nil {
			r.log.Error("compaction is not blocked", "error", err)
		}
		block, event, err := r.compose(ctx, r.idx)
		if err == nil {
			own = voice{event: event, Speech: Speech{
				Text: block.Text, Handles: block.Handles, Refs: archive.RefsOf(r.payload.subject(), block.Handles), How: archive.AccessRestored,
			}}
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, r.say(ctx, r.listen(ctx, own)))...)
}

// compose makes the answer to the event.
func (r *run) compose(ctx context.Context, idx Index) (compact.Block, string, error) {
	p, cfg := r.payload, r.env.Config
	switch {
	case p.event == "PreCompact":
		// The client compacts by itself: it did not take an answer of ours.
		r.env.Answered.Take(p.subject(), r.env.Now())
		asked := r.env.Journal.Redact(p.instructions)
		if err := r.env.Underway.Begin(p.subject(), asked); err != nil {
			r.log.Error("whose summary comes is not noted", "error", err)
		}
		if cfg.Gateway.Active && cfg.Gateway.Compact {
			return compact.Block{}, "", nil // no summarizer listens
		}
		text, err := compact.Preserve(ctx, idx, compact.Request{
			Session: p.subject(), Budget: min(cfg.Compaction.InstructionBudget, maxInjected), Summaries: r.summaries(ctx, idx),
			Instructions: asked, Now: r.env.Now(), Changes: r.changes,
		})
		return compact.Block{Text: text}, "PreCompact/" + p.trigger, err
	case p.event != "SessionStart":
		return compact.Block{}, "", nil
	case p.source == "compact":
		asked, err := r.env.Underway.End(p.subject(), r.env.Now())
		if err != nil {
			r.log.Error("what was asked for with the compaction is not known", "error", err)
		}
		if r.env.Answered.Take(p.subject(), r.env.Now()) {
			return compact.Block{}, "", nil
		}
		block, err := r.restore(ctx, idx, compact.Request{Session: p.subject(), Role: p.role(), Instructions: asked})
		return block, "SessionStart/compact", err
	case p.source == "clear":
		block, err := r.begin(ctx, idx, cfg.Restore.OnClear)
		return block, "SessionStart/clear", err
	case p.source == "startup":
		block, err := r.begin(ctx, idx, cfg.Restore.OnStartup)
		return block, "SessionStart/startup", err
	}
	return compact.Block{}, "", nil
}

// block answers a compaction that is put off. The client takes it as JSON with
// exit code 0, or as exit code 2 with the reason on stderr: a hook that never
// fails and never writes there answers with JSON. Of an automatic compaction the
// reason reaches no context.
func (r *run) block(ctx context.Context, idx Index) (bool, error) {
	p := r.payload
	if p.event != "PreCompact" || r.behind && p.trigger == "auto" {
		return false, nil
	}
	reason, err := r.env.Blocking.Ask(ctx, idx, usage.Attempt{Session: p.subject(), Trigger: p.trigger})
	if err != nil || reason == "" {
		return false, err
	}
	return true, json.NewEncoder(r.env.Stdout).Encode(map[string]string{"decision": "block", "reason": reason})
}

// changes is what is not committed where the session works.
func (r *run) changes(ctx context.Context) string {
	if r.env.Changes == nil {
		return ""
	}
	return r.env.Changes(ctx, r.payload.cwd)
}

// restore makes the block that req asks for, of the size that is set.
func (r *run) restore(ctx context.Context, idx Index, req compact.Request) (compact.Block, error) {
	req.Budget, req.Now = min(r.env.Config.Restore.Budget, maxInjected), r.env.Now()
	req.Log, req.Redact = r.conversation, r.env.Journal.Redact
	if err := r.env.Learner.Into(ctx, &req, idx, req.Now); err != nil {
		r.log.Error("a block is restored without what was learned", "error", err)
	}
	return compact.Restore(ctx, idx, req)
}

// conversation is what the log holds of a session. A log that cannot be read
// costs no more than what the index lacks.
func (r *run) conversation(ctx context.Context, session string, from, to int, most int64) ([]transcript.Message, error) {
	ms, err := r.env.Capture.Conversation(ctx, session, from, to, most)
	if err != nil {
		r.log.Error("the log of a session is not read", "session", session, "error", err)
	}
	return ms, nil
}

// begin answers the start of a new conversation.
func (r *run) begin(ctx context.Context, idx Index, mode config.Mode) (compact.Block, error) {
	if mode == config.ModeOff {
		return compact.Block{}, nil
	}
	key := r.env.Capture.Project(r.payload.cwd).Key
	if key == "" {
		return compact.Block{}, nil
	}
	if mode == config.ModePointer {
		text, err := compact.Pointer(ctx, idx, compact.PointerRequest{
			Projects: []string{key}, Exclude: r.payload.session, Now: r.env.Now(),
		})
		return compact.Block{Text: text}, err
	}
	sessions, err := idx.Sessions(ctx, archive.SessionFilter{Projects: []string{key}, Limit: 2})
	if err != nil {
		return compact.Block{}, err
	}
	for _, s := range sessions {
		if s.ID != r.payload.session {
			return r.restore(ctx, idx, compact.Request{Session: s.ID})
		}
	}
	return compact.Block{}, nil
}

// print writes an answer in the form that its event takes: PreCompact's is
// appended to the compaction prompt as it stands, the others are JSON.
func (r *run) print(text string) error {
	if r.payload.event == "PreCompact" {
		_, err := io.WriteString(r.env.Stdout, text)
		return err
	}
	type output struct {
		HookEventName     string `json:"hookEventName"`
		AdditionalContext string `json:"additionalContext"`
	}
	return json.NewEncoder(r.env.Stdout).Encode(map[string]output{
		"hookSpecificOutput": {HookEventName: r.payload.event, AdditionalContext: text},
	})
}
