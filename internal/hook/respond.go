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

// maxInjected limits a response, in UTF-16 units. The client replaces a text of
// more than 10,000 units by a file reference, regardless of the configuration.
const maxInjected = 9900

// respond writes the response to the event: the hook's own text, followed by the
// injectors' texts.
func (r *run) respond(ctx context.Context) error {
	if r.idx != nil {
		blocked, err := r.block(ctx, r.idx)
		if blocked {
			return err
		}
		if err != nil {
			r.log.Error("decide whether to block the compaction", "error", err)
		}
	}
	own, err := r.own(ctx)
	return errors.Join(err, r.write(ctx, r.collect(ctx, own)))
}

// own returns the hook's own text, if there is an index. At a compaction, an index in
// memory takes the place of one that fails.
func (r *run) own(ctx context.Context) (named, error) {
	var failed error
	if r.idx != nil {
		own, err := r.composed(ctx, r.idx)
		if err == nil {
			return own, nil
		}
		failed = err
	}
	if !r.payload.answersCompaction() || r.env.Temporary == nil {
		return named{}, failed
	}
	own, err := r.composedFromLog(ctx)
	return own, errors.Join(failed, err)
}

// composedFromLog is composed with an index in memory of the session alone.
func (r *run) composedFromLog(ctx context.Context) (own named, err error) {
	idx, err := r.env.Temporary(ctx)
	if err != nil {
		return own, err
	}
	defer func() { err = errors.Join(err, idx.Close()) }()
	if err := r.env.Capture.Index(ctx, idx, r.payload.subject()); err != nil {
		return own, err
	}
	return r.composed(ctx, idx)
}

// composed is compose as an injection; none after an error.
func (r *run) composed(ctx context.Context, idx *Index) (named, error) {
	block, event, err := r.compose(ctx, idx)
	if err != nil {
		return named{}, err
	}
	return named{event: event, Injection: Injection{
		Text: block.Text, Handles: block.Handles, Refs: archive.RefsOf(r.payload.subject(), block.Handles), How: archive.AccessRestored,
	}}, nil
}

// compose returns the hook's own text for the event, and the event's name in the
// journal.
func (r *run) compose(ctx context.Context, idx *Index) (compact.Output, string, error) {
	p, cfg := r.payload, r.env.Config
	switch {
	case p.Event == "PreCompact":
		// This compaction is the client's own: discard the note of an answer that
		// it did not use.
		r.env.Answered.Take(p.subject(), r.env.Now())
		instructions := r.env.Journal.Redact(p.Instructions)
		if err := r.env.Underway.Begin(p.subject(), instructions); err != nil {
			r.log.Error("note the pending compaction", "error", err)
		}
		if aside, err := r.env.Pace.Begin(p.subject(), p.Trigger, r.env.Now()); aside || err != nil {
			return compact.Output{}, "", err
		}
		if cfg.Gateway.Active && cfg.Gateway.Compact || p.hooks.Steers == 0 {
			return compact.Output{}, "", nil // no summarizer reads the text
		}
		text, err := compact.Preserve(ctx, idx, compact.Request{
			Session: p.subject(), Budget: min(cfg.Compaction.InstructionBudget, maxInjected, p.hooks.Steers), Summaries: r.summaries(ctx, idx),
			Instructions: instructions, Now: r.env.Now(), Changes: r.changes, Brief: p.Trigger == "manual",
			Log: r.conversation, Redact: r.env.Journal.Redact,
		})
		return compact.Output{Text: text}, "PreCompact/" + p.Trigger, err
	case p.afterCompaction():
		instructions, err := r.env.Underway.End(p.subject(), r.env.Now())
		if err != nil {
			r.log.Error("read the compaction's instructions", "error", err)
		}
		if r.env.Answered.Take(p.subject(), r.env.Now()) {
			return compact.Output{}, "", nil
		}
		if aside, first, err := r.env.Pace.Aside(p.subject(), r.env.Now()); aside || err != nil {
			if first {
				r.notice = usage.AsideNotice
			}
			return compact.Output{Text: r.notice}, "SessionStart/aside", err
		}
		block, err := r.restore(ctx, idx, compact.Request{Session: p.subject(), Role: p.role(), Instructions: instructions, Prompted: p.hooks.KeepsPrompts})
		return block, "SessionStart/compact", err
	case p.Event != "SessionStart":
		return compact.Output{}, "", nil
	}
	mode := map[string]config.Mode{"clear": cfg.Restore.OnClear, "startup": cfg.Restore.OnStartup, "new": cfg.Restore.OnStartup}[p.Source]
	block, err := r.begin(ctx, idx, mode)
	return block, "SessionStart/" + p.Source, err
}

// block writes the decision to block an automatic compaction, if that is the
// guard's decision. The JSON form needs neither an exit code nor stderr; the
// client shows the reason but adds it to no context.
func (r *run) block(ctx context.Context, idx *Index) (bool, error) {
	p := r.payload
	if p.Event != "PreCompact" || !p.hooks.Blocks || r.deferred && p.Trigger == "auto" {
		return false, nil
	}
	reason, err := r.env.Blocking.Reason(ctx, idx, usage.Attempt{Session: p.subject(), Trigger: p.Trigger})
	if err != nil || reason == "" {
		return false, err
	}
	return true, json.NewEncoder(r.env.Stdout).Encode(map[string]string{"decision": "block", "reason": reason})
}

// changes returns the uncommitted changes in the session's folder.
func (r *run) changes(ctx context.Context) string {
	if r.env.Changes == nil {
		return ""
	}
	return r.env.Changes(ctx, r.payload.Cwd)
}

// restore returns the restored context for req, within the configured budget.
func (r *run) restore(ctx context.Context, idx *Index, req compact.Request) (compact.Output, error) {
	req.Budget, req.Now = min(r.env.Config.Restore.Budget, maxInjected), r.env.Now()
	req.Log, req.Redact = r.conversation, r.env.Journal.Redact
	req.Weights = r.env.Learner.Weights()
	return compact.Restore(ctx, idx, req)
}

// conversation reads messages from a session's log. On an error it logs it and
// returns what could be read.
func (r *run) conversation(ctx context.Context, session string, from, to int, most int64) ([]transcript.Message, error) {
	ms, err := r.env.Capture.Conversation(ctx, session, from, to, most)
	if err != nil {
		r.log.Error("read a session's log", "session", session, "error", err)
	}
	return ms, nil
}

// begin returns the text for a new conversation in the project. Mode "" is off.
func (r *run) begin(ctx context.Context, idx *Index, mode config.Mode) (compact.Output, error) {
	if mode == "" || mode == config.ModeOff {
		return compact.Output{}, nil
	}
	key := r.env.Capture.Project(r.payload.Cwd).Key
	if key == "" {
		return compact.Output{}, nil
	}
	if mode == config.ModePointer {
		text, err := compact.Pointer(ctx, idx, compact.PointerRequest{Projects: []string{key}, Exclude: r.payload.Session, Now: r.env.Now()})
		return compact.Output{Text: text}, err
	}
	sessions, err := idx.Sessions(ctx, archive.SessionFilter{Projects: []string{key}, Limit: 2})
	if err != nil {
		return compact.Output{}, err
	}
	for _, s := range sessions {
		if s.ID != r.payload.Session {
			return r.restore(ctx, idx, compact.Request{Session: s.ID})
		}
	}
	return compact.Output{}, nil
}

// print writes a text in the event's format: JSON, or plain text for PreCompact, which
// Claude Code appends to the summarizer's prompt.
func (r *run) print(text string) error {
	if r.payload.Event == "PreCompact" && r.payload.hooks.Blocks {
		_, err := io.WriteString(r.env.Stdout, text)
		return err
	}
	if r.payload.hooks.Flat {
		return json.NewEncoder(r.env.Stdout).Encode(map[string]string{"additionalContext": text})
	}
	type output struct {
		HookEventName     string `json:"hookEventName"`
		AdditionalContext string `json:"additionalContext"`
	}
	return json.NewEncoder(r.env.Stdout).Encode(struct {
		Output output `json:"hookSpecificOutput"`
		Notice string `json:"systemMessage,omitempty"` // for the user
	}{output{HookEventName: r.payload.named, AdditionalContext: text}, r.notice})
}
