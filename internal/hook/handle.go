package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/transcript"
	"strandline/internal/usage"
)

// run is the state of handling one event.
type run struct {
	env        Env
	payload    payload
	log        *slog.Logger
	transcript string // path of the client's file, validated
	deferred   bool   // the index does not hold the whole transcript yet
	// unfinished is set until the session's new bytes are logged and indexed.
	unfinished bool
	damaged    bool   // the index is, and has to be rebuilt
	idx        *Index // nil until open is called
	idxErr     error
	notice     string          // for the user, beside the context
	batches    []archive.Batch // the session's batches that were indexed
}

// handle captures the session's new bytes, indexes them and then writes the
// response, so that the response covers the session's current state.
func (r *run) handle(ctx context.Context) error {
	p := r.payload
	if why := p.foreign(); why != "" {
		return r.env.Foreign.Note(ctx, why, r.env.Now())
	}
	if !r.env.Config.Capture.Enabled || p.Session == "" || p.Transcript == "" && p.hooks.Known == nil && !p.hooks.Unnamed {
		return nil
	}
	if p.Transcript == "" && p.hooks.Unnamed {
		p.Transcript = filepath.Join(r.env.Folder, r.env.Client.Place("", p.Session))
	}
	src, err := r.env.Capture.HookSource(p.client, p.Transcript, p.Session, p.agent(), p.Cwd)
	if err != nil {
		return r.env.Foreign.Note(ctx, err.Error(), r.env.Now())
	}
	if r.env.Capture.Forgotten().Has(p.Session) || p.Event == "PostToolUse" && r.throttled() {
		return nil
	}
	var errs []error
	if p.endsTurn() { // first, as the client may end this process
		errs = append(errs, r.env.Detach("catchup", "--client", p.client, "--session", p.transcriptID(), "--transcript", src.Path, "--cwd", src.Cwd))
	}
	errs = append(errs, r.env.Calls.Note(p.Session, r.env.Now()))
	r.transcript, r.unfinished = src.Path, true
	err = r.guard(func() error {
		err := r.answer(ctx, src)
		r.damaged = errors.Is(err, archive.ErrDamagedIndex)
		return err
	})
	if errors.Is(err, capture.ErrForeign) {
		return r.env.Foreign.Note(ctx, "its transcript is another client's", r.env.Now())
	}
	return errors.Join(append(errs, err, r.followUp(src))...)
}

// answer logs the session's new bytes, indexes them and responds. It clears
// unfinished if nothing is left to a background process.
func (r *run) answer(ctx context.Context, src capture.Source) error {
	p := r.payload
	r.env.Journal.Log.Haste.Quick = p.haste().Quick
	errs := []error{r.record(ctx)}
	logs := *r.env.Capture
	logs.Haste = p.haste()
	got, err := logs.LogSession(ctx, src, p.sideEvent())
	if errors.Is(err, capture.ErrForeign) {
		return err
	}
	errs = append(errs, err)
	if p.hooks.Compacted != nil {
		errs = append(errs, r.lookForCompaction(src, got))
		p = r.payload
	}
	unfinished := got.Deferred || ctx.Err() != nil
	r.deferred = err != nil || got.Deferred
	switch {
	case p.indexesLater():
		unfinished = unfinished || got.Added > 0
	case got.Added > 0 || p.needsIndex():
		done, err := r.index(ctx, got.Sessions)
		errs = append(errs, err)
		unfinished = unfinished || !done
		errs = append(errs, r.observe(ctx, src, got))
	}
	r.unfinished = unfinished // what follows only responds
	err = r.respond(ctx)
	if p.late && err == nil && ctx.Err() == nil {
		_, err = r.env.Late.End(p.Session, r.env.Now())
	}
	errs = append(errs, r.segments(ctx), err)
	return errors.Join(errs...)
}

// lookForCompaction notes a compaction in the new rows of a client that tells no hook of it, and
// makes this event restore the context, if it can.
func (r *run) lookForCompaction(src capture.Source, got capture.Captured) (err error) {
	p := r.payload
	for _, s := range got.Sessions {
		if s.Session != p.Session || s.Added == 0 {
			continue
		}
		rows, rerr := readRange(src.Path, s.Position.Raw-s.Added, s.Added)
		if err = rerr; err == nil && p.hooks.Compacted(rows) {
			err = r.env.Late.Begin(p.Session, "")
		}
	}
	if err == nil && p.takesContext() {
		r.payload.late = r.env.Late.Has(p.Session, r.env.Now())
	}
	return err
}

// readRange reads n bytes of a transcript.
func readRange(path string, from, n int64) (rows []byte, err error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("read new rows: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.NewSectionReader(f, from, n))
}

// followUp leaves the rest to background processes and closes the index. Work is
// noted first: closing may take long or panic if the index is damaged, and a
// process that starts before the index is closed waits for it.
func (r *run) followUp(src capture.Source) error {
	p := r.payload
	var errs []error
	var work []capture.PendingWork
	if r.unfinished {
		work = append(work, capture.PendingWork{Client: p.client, Session: p.transcriptID(), Transcript: src.Path, Cwd: src.Cwd})
	}
	if p.Event == "SessionStart" && p.Source == "startup" {
		missed, err := r.env.Capture.UncapturedSiblings(src, maxMissed)
		errs = append(errs, err)
		work = append(work, missed...)
	}
	for _, w := range work {
		errs = append(errs, r.env.Pending.Add(w))
	}
	errs = append(errs, r.guard(r.close))
	catchUp := []string{"catchup"}
	if r.damaged {
		catchUp = append(catchUp, "--reindex")
	}
	if len(work) > 0 && !p.endsTurn() || r.damaged {
		errs = append(errs, r.env.Detach(catchUp...))
	}
	if (p.Event == "PreCompact" || p.Event == "PostCompact") && r.env.MaintenanceDue != nil && r.env.MaintenanceDue() {
		errs = append(errs, r.env.Detach("maintain", "--background"))
	}
	return errors.Join(errs...)
}

// guard logs a panic of step and returns nil then. A damaged index can cause one
// anywhere below; the session must be noted as pending all the same.
func (r *run) guard(step func() error) error {
	defer logPanic(r.log)
	return step()
}

// record writes the facts that only the payload holds to the journal.
func (r *run) record(ctx context.Context) error {
	p := r.payload
	switch {
	case p.isSummarizer():
		// The summary is dropped if it may be another agent's. The transcript
		// supplies it later.
		if subject := r.env.Underway.Subject(p.Session, r.env.Now()); subject != "" {
			return r.env.Journal.Record(ctx, archive.JournalSummary, subject, archive.SummaryFact{Source: p.Event, Text: p.LastMessage})
		}
	case (p.Event == "TaskCreated" || p.Event == "TaskCompleted") && p.TaskID != "":
		return r.env.Journal.Record(ctx, archive.JournalTask, p.Session,
			archive.TaskFact{Event: p.Event, TaskID: p.TaskID, Subject: p.TaskSubject, Description: p.TaskText})
	}
	return nil
}

// throttled reports whether the session was captured less than PostToolInterval
// ago. A client whose compactions only its rows tell of is not throttled.
func (r *run) throttled() bool {
	if r.payload.hooks.Compacted != nil {
		return false
	}
	age := r.env.Now().Sub(r.env.LastCapture(r.payload.Session))
	return age >= 0 && age < r.env.Config.Hook.PostToolInterval
}

// index brings the index up to date and reports whether it is complete.
func (r *run) index(ctx context.Context, sessions []capture.Logged) (bool, error) {
	idx, err := r.open(ctx)
	if err != nil {
		r.deferred = r.deferred || len(sessions) > 0
		return len(sessions) == 0, err
	}
	err = r.env.Journal.Sync(ctx, idx)
	// The first session to hold a row owns it. Sessions that are pending may own rows
	// that this one copied, so they are indexed first.
	pending := r.env.Pending.Others(r.payload.Session)
	if !pending {
		seen := &capture.Recorder{Index: idx, Session: r.payload.Session}
		err = errors.Join(err, r.env.Capture.IndexAll(ctx, seen, sessions))
		r.batches = seen.Batches
	}
	done := err == nil && !pending
	r.deferred = r.deferred || !done
	return done, err
}

// maxMissed is how many transcripts a new session checks for lines that no hook
// captured. That takes about a millisecond.
const maxMissed = 16

// open opens the index at its first call. Later calls return the same result.
func (r *run) open(ctx context.Context) (*Index, error) {
	if r.idx == nil && r.idxErr == nil {
		r.idx, r.idxErr = r.env.OpenIndex(ctx, r.payload.indexesLater())
	}
	return r.idx, r.idxErr
}

// close closes the index if it is open.
func (r *run) close() error {
	if r.idx == nil {
		return nil
	}
	return r.idx.Close()
}

// observe passes the session's new steps and compactions to the monitor.
func (r *run) observe(ctx context.Context, src capture.Source, got capture.Captured) error {
	p := r.payload
	if r.env.Monitor == nil || p.AgentID != "" {
		return nil
	}
	x := usage.Observation{
		Session: p.Session, Transcript: src.Path, Now: r.env.Now(), CaptureFailed: r.deferred,
		Compacted: p.Event == "SessionStart" && p.Source == "compact", Batches: r.batches,
	}
	if p.Event == "SessionStart" {
		x.Context = p.ContextTokens
	}
	for _, s := range got.Sessions {
		if s.Session == p.Session {
			x.Captured = s.Position.Raw
		}
	}
	if got.Added == 0 && len(x.Batches) == 0 && !x.Compacted && x.Context == 0 {
		return nil
	}
	return r.env.Monitor.Observe(ctx, x)
}
