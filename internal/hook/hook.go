// Package hook is the one command that every hook of the client calls: stdin
// holds the event, stdout what the protocol wants, and whatever happens the
// process exits 0 with nothing on stderr.
package hook

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/recall"
	"strandline/internal/usage"
)

// Index is what a hook needs of a store.
type Index interface {
	capture.Index
	compact.Source
	compact.Sessions
	compact.Accesses
	// Facts reads what the journal holds of segments.
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
	recall.Source
	Close() error
}

// Env is the outside world of a hook.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Config *config.Config
	Now    func() time.Time
	// Capture writes the logs.
	Capture *capture.Capture
	// Journal writes the journal.
	Journal capture.Journal
	// Learner gives a restored block what was learned.
	Learner compact.Learner
	// Pending notes what a deadline left undone.
	Pending capture.Pending
	// Answered knows which compactions were Strandline's own.
	Answered capture.Answered
	// Underway knows whose context the client's summarizer is at work on.
	Underway capture.Underway
	// Blocking decides which automatic compactions are put off.
	Blocking usage.Guard
	// OpenIndex opens the index; it waits for a lock until ctx ends.
	OpenIndex func(ctx context.Context) (Index, error)
	// Detach starts this program with the given arguments and does not wait.
	Detach func(args ...string) error
	// UpkeepDue reports that it is time for a pass of upkeep. It is asked at
	// compactions; nil is never.
	UpkeepDue func() bool
	// Changes returns what is not committed in the work tree of a folder,
	// redacted; it takes a fraction of the deadline. Nil says nothing.
	Changes func(ctx context.Context, dir string) string
	// Segments has finished work summarised.
	Segments Segments
	// Autopilot watches how full the window is; nil: nobody does.
	Autopilot *usage.Pilot
	// Speakers may add to what an event is answered with, in this order: recall,
	// the autopilot's report, a reminder of segments.
	Speakers []Speaker
	// Log takes errors; nothing of it reaches the client.
	Log *slog.Logger
	// LastCapture says when a session's log was last written; the zero time if
	// it has none.
	LastCapture func(session string) time.Time
}

// maxPayload is the most that is read of stdin; the fields that matter come
// before the large ones.
const maxPayload = 64 << 20

// Run handles one event. It returns when the work is done or the deadline of the
// configuration has passed; it never fails.
func Run(ctx context.Context, env Env) {
	defer func() {
		if r := recover(); r != nil {
			env.Log.Error("hook panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, env.Config.Hook.Deadline)
	defer cancel()
	data, err := readAll(ctx, env.Stdin)
	if err != nil {
		env.Log.Error("read hook payload", "error", err)
	}
	p := parsePayload(data)
	r := run{env: env, payload: p, log: env.Log.With("event", archive.Clip(p.event, 64), "session", archive.Clip(p.session, 64))}
	switch err := r.handle(ctx); {
	case archive.OnlyBusy(err):
		r.log.Info("the index was in use", "error", err) // what was left undone is caught up
	case err != nil:
		r.log.Error("hook", "error", err)
	}
}

// readAll reads stdin until its end or the deadline. A client that leaves the
// pipe open costs the deadline, not more.
func readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // ends with the process when the pipe stays open
		data, err := io.ReadAll(io.LimitReader(in, maxPayload))
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for stdin: %w", context.Cause(ctx))
	}
}
