// Package app is the application layer: one method per use case, for the command
// line, HTTP, MCP and the terminal browser. It loads the settings, opens the index,
// takes locks, syncs the journal and redacts what leaves. Every operation may be
// interrupted and repeated. The JSON of its result types is a contract: fields are
// added, never changed.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// Options are the dependencies of an App.
type Options struct {
	Version string
	Machine string // name of this machine
	Home    string // the user's home folder
	Cwd     string
	Exe     string // path of this program
	Getenv  func(string) string
	Now     func() time.Time
	// NewCapture returns a capture and a journal for a configuration.
	NewCapture func(cfg *config.Config) (*capture.Capture, capture.Journal, error)
	// Redactor returns a function that replaces secrets in a text. It returns the
	// text unchanged if redaction is off.
	Redactor func(cfg *config.Config) func(string) string
	// Changes returns a redacted description of the uncommitted changes in a folder.
	// It may be nil.
	Changes func(cfg *config.Config) func(ctx context.Context, dir string) string
	// Monitor returns the monitor of the sessions' usage, nil if it is off. Monitor may
	// be nil as well.
	Monitor func(cfg *config.Config) *usage.Monitor
	Stores  Stores
	System  System
	// Notice reports that an answer comes from another source than usual. It may
	// be nil.
	Notice func(text string)
	// Network is nil in a program that links no network.
	Network Network
	// Pipe starts a program of PATH and returns its standard input and output. Close ends it
	// and returns its error with what it printed on standard error.
	Pipe func(ctx context.Context, argv []string) (io.ReadWriteCloser, error)
	// Cipher is nil in a program that links no encryption.
	Cipher Cipher
}

// Stores opens databases.
type Stores interface {
	// OpenIndex opens the index file at path, or a new index in memory if path is "".
	OpenIndex(ctx context.Context, path string, mode Mode) (*Index, error)
	// Entries reads the table transcript_entries of an earlier system's database, as JSON.
	Entries(ctx context.Context, path string) ([]string, error)
	// OpenTeam opens the team's archive. It fails with ErrNotLinked in a program
	// that links no driver.
	OpenTeam(ctx context.Context, t TeamAddress) (*TeamStore, error)
	// LinksTeam reports whether OpenTeam can succeed.
	LinksTeam() bool
}

// System is the operating system.
type System interface {
	// DiskFree returns the bytes that may be written below dir; false if unknown.
	DiskFree(dir string) (int64, bool)
	// LowerPriority lowers the priority of this process.
	LowerPriority()
	LookPath(name string) (string, error)
	// VersionOf runs a program with one argument and returns the first version that it prints.
	VersionOf(ctx context.Context, exe, arg string) (string, error)
	// FindCompanion returns the path of the program with the commands that this
	// build leaves out; "" if it leaves out none.
	FindCompanion() (string, error)
	// Detach starts this program in the background with the given arguments.
	Detach(args ...string) error
}

// Network makes requests.
type Network interface {
	// Endpoint returns the embedder of an HTTP endpoint.
	Endpoint(url, model, key string, redact func(string) string, attempts int) (embed.Embedder, error)
	// Fetcher returns the function that downloads model files.
	Fetcher() onnx.Fetch
}

// Cipher encrypts whole files.
type Cipher interface {
	// Encrypt encrypts for public keys, which it checks.
	Encrypt(data []byte, recipients []string) ([]byte, error)
	// Decrypt takes the content of a file of secret keys.
	Decrypt(data, identities []byte) ([]byte, error)
}

// App is the application layer over one archive. Several goroutines may use it;
// each call opens its own index.
type App struct {
	Options
	settings  func() (*config.Config, error)
	workspace func() (Workspace, error)
	redact    func() func(string) string
	embedders *queryEmbedders
	lenient   bool
}

// New returns an App. It reads nothing before the first call.
func New(o Options) *App {
	a := &App{Options: o, embedders: &queryEmbedders{}}
	a.settings = sync.OnceValues(a.LoadSettings)
	a.workspace = sync.OnceValues(func() (Workspace, error) {
		cfg, _ := a.settings()
		c, journal, err := o.NewCapture(cfg)
		return Workspace{Config: cfg, Capture: c, Journal: journal, Redact: a.redact()}, err
	})
	a.redact = sync.OnceValue(func() func(string) string {
		cfg, _ := a.settings()
		return o.Redactor(cfg)
	})
	return a
}

// Lenient returns an App for background work: a rejected setting is replaced by its
// fallback, as in hooks.
func (a *App) Lenient() *App {
	b := *a
	b.lenient = true
	return &b
}

// LoadSettings reads the settings from their files and the environment.
func (a *App) LoadSettings() (*config.Config, error) {
	return config.Load(config.Inputs{Env: a.Getenv, Home: a.Home, Cwd: a.ProjectDir()})
}

// Settings returns the effective settings, read once. They are usable even with an
// error: a rejected value is replaced by its fallback.
func (a *App) Settings() (*config.Config, error) { return a.settings() }

// ProjectDir is the folder whose .strandline.toml applies.
func (a *App) ProjectDir() string {
	if dir := a.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return a.Cwd
}

// Workspace is the settings and the archive's folder, without an index.
type Workspace struct {
	Config  *config.Config
	Capture *capture.Capture
	Journal capture.Journal
	// Redact replaces the secrets in a text.
	Redact func(string) string
}

// Workspace returns the workspace. A rejected setting is an error unless the App is
// lenient.
func (a *App) Workspace() (Workspace, error) {
	if _, err := a.settings(); err != nil && !a.lenient {
		return Workspace{}, err
	}
	return a.workspace()
}

// Redact replaces the secrets in a text.
func (a *App) Redact(text string) string { return a.redact()(text) }

// Logger writes to the error log in the archive's folder.
func (w Workspace) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(&state.LogFile{Path: w.Config.Paths.Errors()}, nil))
}

// File returns the path of a file in the archive's folder.
func (w Workspace) File(parts ...string) string {
	return filepath.Join(append([]string{w.Config.Paths.Home}, parts...)...)
}

// journalEntries reads the journal's entries of some kinds, of all if none is given.
func journalEntries(ctx context.Context, j capture.Journal, kinds ...archive.JournalKind) ([]archive.JournalEntry, error) {
	entries, _, err := j.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt { // the readable ones are used
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return slices.DeleteFunc(entries, func(e archive.JournalEntry) bool { return len(kinds) > 0 && !slices.Contains(kinds, e.Kind) }), nil
}

// Pending is the list of work that hooks left unfinished.
func (w Workspace) Pending() capture.Pending { return capture.Pending{Dir: w.Config.Paths.Pending()} }

// Marks holds what hooks know of each session's segments.
func (w Workspace) Marks() task.CheckStates {
	return task.CheckStates{Dir: w.Config.Paths.CheckStates()}
}

// SegmentOptions are the settings of the segment check.
func (w Workspace) SegmentOptions() task.Options {
	share := func(percent int) float64 { return float64(percent) / 100 }
	s := w.Config.Segments
	return task.Options{
		Queue: share(s.QueueAt), Summarise: share(s.SummariseAt), Archive: share(s.ArchiveAt),
		ColdAfter: s.ColdAfter, Messages: s.Messages, ArchiveAfter: s.ArchiveAfter, PruneAfter: s.Keep,
	}
}

// Lock takes the named lock without waiting. work names the operation in the error
// if another process holds it.
func (w Workspace) Lock(name, work string) (*state.Lock, error) {
	lock, err := state.TryLock(w.File(name + ".lock"))
	return lock, w.LockError(err, work)
}

// locked calls do with the workspace while it holds the named lock.
func (a *App) locked(name, work string, do func(w Workspace) error) error {
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	lock, err := w.Lock(name, work)
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	return do(w)
}

// LockError converts the error of taking a lock into one for users.
func (w Workspace) LockError(err error, work string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, state.ErrHeld):
		return &archive.Error{Code: archive.CodeBusy, Msg: "another " + work + " is running", Hint: "wait for it to end"}
	}
	return &archive.Error{
		Code: archive.CodeDenied, Msg: "cannot write to " + w.Config.Paths.Home, Err: err,
		Hint: "check its permissions and the free space, or set STRANDLINE_HOME to another folder",
	}
}

// Archive is a workspace with an open index.
type Archive struct {
	Workspace
	Index *Index
	// Cause is why the index does not serve, but one in memory, of the newest sessions;
	// nil if it serves.
	Cause error
}

// withArchive calls run with an open index. The journal is synced before run if
// mode is ReadWrite or BulkWrite.
func (a *App) withArchive(ctx context.Context, mode Mode, run func(Archive) error) error {
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	return a.withIndex(ctx, w, mode, run)
}

// withIndex is withArchive over a workspace that the caller has. An index that is to be
// written is rebuilt first if it is damaged or missing.
func (a *App) withIndex(ctx context.Context, w Workspace, mode Mode, run func(Archive) error) error {
	use := func() error { return a.useIndex(ctx, w, mode, run) }
	if mode == ReadOnly {
		return use()
	}
	return a.repaired(ctx, w, use)
}

// repaired calls use, which writes to the index. If the index is damaged or missing, it is
// rebuilt before use is called, once more.
func (a *App) repaired(ctx context.Context, w Workspace, use func() error) error {
	err := archive.ErrDamagedIndex
	if !w.IndexLost() {
		err = use()
	}
	if !errors.Is(err, archive.ErrDamagedIndex) {
		return err
	}
	_, err = a.rebuildIndex(ctx, w, nil)
	if archive.ErrorCode(err) == archive.CodeBusy { // another process rebuilds it
		err = a.afterRebuild(ctx, w)
	}
	if err != nil {
		return err
	}
	return use()
}

// rebuildWait is how long a command waits for the rebuild of another process.
const rebuildWait = time.Minute

// afterRebuild waits until no other process rebuilds the index.
func (a *App) afterRebuild(ctx context.Context, w Workspace) error {
	wait, cancel := context.WithTimeout(ctx, rebuildWait)
	defer cancel()
	lock, err := state.WaitLock(wait, w.File("reindex.lock"), false)
	if err != nil {
		return w.LockError(err, "reindex")
	}
	return lock.Release()
}

// IndexLost reports whether there are logs but no index, because it was deleted or emptied.
func (w Workspace) IndexLost() bool {
	info, err := os.Stat(w.Config.Paths.Index())
	return (errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0) && exists(w.File("log"))
}

// useIndex is withIndex, but fails if the index is damaged.
func (a *App) useIndex(ctx context.Context, w Workspace, mode Mode, run func(Archive) error) error {
	if _, err := os.Stat(w.Config.Paths.Index()); mode == ReadOnly && errors.Is(err, os.ErrNotExist) {
		return archive.NotFound("no archive in "+w.Config.Paths.Home+" yet",
			"`strandline import` brings in the sessions that exist, `strandline init` records the coming ones")
	}
	index, err := a.Stores.OpenIndex(ctx, w.Config.Paths.Index(), mode)
	if err != nil {
		return err
	}
	if mode == ReadWrite || mode == BulkWrite {
		if err := w.Journal.Sync(ctx, index); err != nil {
			return errors.Join(err, index.Close())
		}
	}
	return errors.Join(run(Archive{Workspace: w, Index: index}), index.Close())
}

// resolveSession returns the handle that a user typed and the full ID of its session.
func resolveSession(ctx context.Context, index *Index, typed string) (archive.Handle, string, error) {
	h, err := archive.ParseHandle(typed)
	if err != nil {
		return h, "", err
	}
	id, err := index.Resolve(ctx, h.Session)
	return h, id, err
}

// sessionOrLatest resolves a session; "" is the latest session of the current
// project.
func (a *App) sessionOrLatest(ctx context.Context, x Archive, typed string) (string, error) {
	if typed != "" {
		_, id, err := resolveSession(ctx, x.Index, typed)
		return id, err
	}
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{Projects: []string{x.Capture.Project(a.ProjectDir()).Key}, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", archive.NotFound("no session of this project is kept", "name one; `strandline sessions --all` lists them")
	}
	return list[0].ID, nil
}
