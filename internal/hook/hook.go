// Package hook handles every hook event of the client. It reads the event's
// payload from stdin and writes the response that the protocol defines to stdout.
// The process always exits with 0 and writes nothing to stderr.
package hook

import (
	"cmp"
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
	"strandline/internal/state"
	"strandline/internal/transcript"
	"strandline/internal/usage"
)

// Index is an open index. The parts are usually one store.
type Index struct {
	capture.Index
	compact.Source
	Store
}

// Store lists sessions, and finds passages for automatic recall.
type Store interface {
	compact.Sessions
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	Counts(ctx context.Context, q archive.Query) (archive.Counts, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	PassageCount(ctx context.Context) (int, error)
	Close() error
}

// Env holds the dependencies of a hook.
type Env struct {
	Client transcript.Client // that calls the hook
	// Folder is the client\'s folder, "" if it is not known.
	Folder  string
	Stdin   io.Reader
	Stdout  io.Writer
	Config  *config.Config
	Log     *slog.Logger // takes errors; none reaches the client
	Now     func() time.Time
	Capture *capture.Capture
	Journal capture.Journal
	// Learner adds what maintenance learned to a restore request.
	Learner compact.Learner
	// Pending lists the sessions that are not indexed yet.
	Pending capture.Pending
	// Answered lists the compactions that Strandline performed itself.
	Answered capture.OwnCompactions
	// Underway lists the compactions that the client has started.
	Underway capture.PendingCompactions
	// Late lists the compactions that no event followed, until the context is restored.
	Late capture.PendingCompactions
	// Pace detects compactions that follow each other too fast.
	Pace usage.Pace
	// Calls stores that the session has hooks.
	Calls capture.HookCalls
	// Foreign counts the calls of other clients.
	Foreign capture.ForeignCalls
	// Blocking decides which automatic compactions are blocked.
	Blocking usage.Blocker
	// OpenIndex opens the index, for reading only if the event writes nothing to it. It
	// waits for a lock until ctx ends.
	OpenIndex func(ctx context.Context, readOnly bool) (*Index, error)
	// Temporary opens a new index in memory. The context of a compaction is restored with
	// it if the index fails. Nil means never.
	Temporary func(ctx context.Context) (*Index, error)
	// Detach starts this program in the background with the given arguments.
	Detach func(args ...string) error
	// MaintenanceDue reports whether a maintenance run is due. It is called at
	// compactions. Nil means never.
	MaintenanceDue func() bool
	// Changes returns the uncommitted changes in a folder's work tree, redacted.
	// It uses a fraction of ctx's deadline. Nil means none.
	Changes func(ctx context.Context, dir string) string
	// LastCapture returns when a session's log was last written, or the zero time.
	LastCapture func(session string) time.Time
	Segments    Segments
	// Monitor tracks context-window usage. Nil disables it.
	Monitor *usage.Monitor
	// Injectors add text to a response, in this order.
	Injectors []Injector
}

// maxPayload is the most that is read from stdin, in bytes. The fields used here
// precede the large ones.
const maxPayload = 64 << 20

// Run handles one event. It returns when the event is handled or the configured
// deadline has passed. Errors and panics are written to the log.
func Run(ctx context.Context, env Env) {
	defer logPanic(env.Log)
	ctx, cancel := context.WithTimeout(ctx, env.Config.Hook.Deadline)
	defer cancel()
	if env.Capture != nil && env.Capture.Records != nil {
		env.Capture.Records.Until, _ = ctx.Deadline()
	}
	data, err := state.ReadInput(ctx, env.Stdin, maxPayload)
	if err != nil {
		env.Log.Error("read hook payload", "error", err)
	}
	p := parsePayload(data)
	p.hooks, p.client = env.Client.Hooks, env.Client.Name
	p.named, p.Event = p.Event, cmp.Or(p.hooks.Events[p.Event], p.Event)
	p.Session = sessionIn(env.Client, p)
	r := run{env: env, payload: p, log: env.Log.With("event", archive.Clip(p.Event, 64), "session", archive.Clip(p.Session, 64))}
	switch err := r.handle(ctx); {
	case archive.OnlyBusy(err):
		r.log.Info("index busy, indexing deferred", "error", err)
	case err != nil:
		r.log.Error("hook", "error", err)
	}
}

// logPanic recovers from a panic and logs it with its stack. It is called by defer.
func logPanic(log *slog.Logger) {
	if r := recover(); r != nil {
		log.Error("hook panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
	}
}
