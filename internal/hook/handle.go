package hook

import (
	"context"
	"errors"
	"log/slog"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
)

// run is the handling of one event.
type run struct {
	env     Env
	payload payload
	log     *slog.Logger
	added   int64 // bytes that were new to the logs
	behind  bool  // the index does not hold all that the transcript says
	idx     Index // nil until somebody needed it, see open
	idxErr  error
	batches []archive.Batch // what was indexed of the session
}

// sideEvents are the events after which the session's folder is listed: a
// listing at every prompt would make long sessions slower for nothing.
func (p payload) sideEvent() bool {
	switch p.event {
	case "SubagentStop", "Stop", "StopFailure", "PreCompact", "SessionEnd":
		return true
	case "SessionStart": // of a sub-agent whose context was compacted
		return p.agentID != ""
	}
	return false
}

// needsIndex reports that the index is opened even if the logs took nothing new:
// to answer, to take in the journal, or to make good at a turn's end what a
// killed hook had logged and not indexed. A prompt without anything new costs
// no database.
func (p payload) needsIndex() bool {
	switch p.event {
	case "UserPromptSubmit", "PostToolUse", "PostCompact":
		return false
	}
	return true
}

// subject is the session whose context the event is about. The hooks of a
// sub-agent's compaction come under its parent's session id and transcript, and
// name the agent beside them.
func (p payload) subject() string {
	if !archive.ValidID(p.agentID) {
		return p.session
	}
	return p.session + "~" + p.agentID
}

// role is what the block of the event's subject is shaped for: a sub-agent's type
// tells it, and the session's own block is made of what is worth most.
func (p payload) role() compact.Role {
	if !archive.ValidID(p.agentID) {
		return compact.RoleNone
	}
	return compact.RoleOf(p.agentType)
}

// isSummarizer reports that the event is the end of the client's own summarizer,
// which it runs as a sub-agent without a type.
func (p payload) isSummarizer() bool {
	return p.event == "SubagentStop" && p.agentType == "" && p.lastMessage != ""
}

// handle captures first and speaks afterwards, so that what it says is about the
// session as it is now.
func (r *run) handle(ctx context.Context) error {
	p := r.payload
	if !r.env.Config.Capture.Enabled || p.session == "" {
		return nil
	}
	src, err := capture.TranscriptSource(p.transcript, p.session, p.cwd)
	if err != nil {
		return err
	}
	if r.env.Capture.Forgotten().Has(p.session) {
		return nil
	}
	if p.event == "PostToolUse" && r.throttled() {
		return nil
	}
	var errs []error
	if p.isSummarizer() {
		// Where nobody can tell whose summary it is, the transcript will: better
		// none for a moment than a sub-agent's under its parent's name.
		if subject := r.env.Underway.Of(p.session, r.env.Now()); subject != "" {
			errs = append(errs, r.env.Journal.Record(ctx, archive.JournalSummary, subject,
				archive.SummaryFact{Source: p.event, Text: p.lastMessage}))
		}
	}
	if (p.event == "TaskCreated" || p.event == "TaskCompleted") && p.taskID != "" {
		errs = append(errs, r.env.Journal.Record(ctx, archive.JournalTask, p.session,
			archive.TaskFact{Event: p.event, TaskID: p.taskID, Subject: p.taskSubject, Description: p.taskText}))
	}
	got, err := r.env.Capture.Files(ctx, src, p.sideEvent())
	errs = append(errs, err)
	r.added, r.behind = got.Added, err != nil || got.Deferred
	if got.Added > 0 || p.needsIndex() {
		done, err := r.index(ctx, got.Sessions)
		errs = append(errs, err)
		got.Deferred = got.Deferred || !done
	}
	errs = append(errs, r.watch(ctx, src, got), r.segments(ctx), r.speak(ctx), r.close())
	if got.Deferred {
		errs = append(errs, r.leave(src))
	}
	if p.event == "SessionStart" && p.source == "startup" {
		errs = append(errs, r.sweep(src))
	}
	if p.event == "SessionEnd" {
		errs = append(errs, r.env.Detach("catchup", "--session", src.Session, "--transcript", src.Path, "--cwd", src.Cwd))
	}
	if (p.event == "PreCompact" || p.event == "PostCompact") && r.env.UpkeepDue != nil && r.env.UpkeepDue() {
		errs = append(errs, r.env.Detach("maintain", "--background"))
	}
	return errors.Join(errs...)
}

// throttled reports that the session was captured a moment ago: PostToolUse
// exists so that a long tool loop is captured while it runs, no more.
func (r *run) throttled() bool {
	last := r.env.LastCapture(r.payload.session)
	age := r.env.Now().Sub(last)
	return age >= 0 && age < r.env.Config.Hook.PostToolInterval
}

// index brings the index up to date and reports whether it got there.
func (r *run) index(ctx context.Context, sessions []capture.Touched) (bool, error) {
	idx, err := r.open(ctx)
	if err != nil {
		r.behind = r.behind || len(sessions) > 0
		return len(sessions) == 0, err
	}
	err = r.env.Journal.Sync(ctx, idx)
	done := err == nil
	if r.env.Pending.Any() {
		// Older sessions wait to be indexed. Rows that this one copied from
		// them must be seen there first, so this one queues up behind.
		done = false
	} else {
		seen := &watching{Index: idx, session: r.payload.session}
		if ierr := r.env.Capture.IndexAll(ctx, seen, sessions); ierr != nil {
			done, err = false, errors.Join(err, ierr)
		}
		r.batches = seen.batches
	}
	r.behind = r.behind || !done
	return done, err
}

// sweepLimit is how many transcripts a new session looks at for what others
// left behind; that takes about a millisecond.
const sweepLimit = 16

// sweep notes sessions of the project whose last words no hook has seen: their
// client was killed, or was there before Strandline.
func (r *run) sweep(src capture.Source) error {
	left, err := r.env.Capture.LeftBehind(src, sweepLimit)
	for _, w := range left {
		err = errors.Join(err, r.env.Pending.Add(w))
	}
	if len(left) > 0 {
		err = errors.Join(err, r.env.Detach("catchup"))
	}
	return err
}

// leave hands the session to a process of its own that has no deadline.
func (r *run) leave(src capture.Source) error {
	err := r.env.Pending.Add(capture.PendingWork{Session: src.Session, Transcript: src.Path, Cwd: src.Cwd})
	return errors.Join(err, r.env.Detach("catchup"))
}
