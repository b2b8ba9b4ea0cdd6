package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/hook"
	"strandline/internal/index/sqlite"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// maxHookBytes is how much of a transcript one hook logs; a first hook on a
// larger file leaves it to a process without a deadline.
const maxHookBytes = 32 << 20

// hookMemory is where the garbage collector comes in after all: a hook stays
// below 30 MB.
const hookMemory = 20 << 20

// runHook answers one hook. Whatever happens, the process ends with 0 and says
// nothing on stderr.
func runHook() {
	// A hook lives for milliseconds and allocates a few megabytes: collecting
	// them costs more time than it saves memory.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // config falls back to what the environment names
	}
	cfg, cfgErr := config.Load(config.Inputs{Env: os.Getenv, Home: home, Cwd: os.Getenv("CLAUDE_PROJECT_DIR")})
	logs := &state.LogFile{Path: cfg.Paths.Errors()}
	log := slog.New(slog.NewJSONHandler(logs, nil))
	if cfgErr != nil {
		log.Warn("settings", "error", cfgErr)
	}
	c, journal, err := newCapture(cfg)
	if err != nil {
		log.Error("hook", "error", err)
		return
	}
	c.MaxLog = maxHookBytes
	lost := indexLost(cfg)
	pilot := newPilot(cfg)
	hook.Run(context.Background(), hook.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Config: cfg, Now: now, Log: log,
		Capture: c, Journal: journal, Pending: pending(cfg), Learner: learner(cfg),
		Answered: capture.OwnCompactions{Dir: cfg.Paths.Answered()},
		Underway: capture.PendingCompactions{Dir: cfg.Paths.Underway()},
		Blocking: usage.Blocker{Mode: cfg.Compaction.BlockAuto, Dir: cfg.Paths.Blocked(), Getenv: os.Getenv},
		OpenIndex: func(ctx context.Context) (hook.Index, error) {
			return openIndex(ctx, cfg.Paths.Index(), sqlite.Options{Texts: c.ReadPassages})
		},
		Detach:         detach,
		Monitor:        pilot,
		Segments:       hook.Segments{Usage: gauges(cfg), Marks: marks(cfg)},
		Injectors:      injectors(cfg, c, pilot),
		Changes:        changes(cfg),
		MaintenanceDue: func() bool { return upkeepDue(cfg) },
		LastCapture:    func(session string) time.Time { return lastCapture(c, session) },
	})
	if lost {
		if err := detach("maintain"); err != nil {
			log.Error("index what the lost index held", "error", err)
		}
	}
}

// learner gives restored blocks what passes of upkeep learned.
func learner(cfg *config.Config) compact.Learner {
	return compact.Learner{How: cfg.Restore.Learn, Taught: func() map[string]archive.Tally {
		shapes, _ := maintenance.Learned{Path: cfg.Paths.Learned()}.Read()
		return shapes
	}}
}

// upkeepDue reports that the last pass of upkeep is a while ago and that hooks
// may start one. It costs a look at one file.
func upkeepDue(cfg *config.Config) bool {
	s := maintenance.Schedule{Path: cfg.Paths.Maintained()}
	return cfg.Lifecycle.Auto && s.Due(now())
}

// indexLost reports that there are logs and no index: somebody deleted it. The
// hook makes a new one with its own session, and maintain brings in the others.
func indexLost(cfg *config.Config) bool {
	_, err := os.Stat(cfg.Paths.Index())
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = os.Stat(filepath.Join(cfg.Paths.Home, "log"))
	return err == nil
}

// lastCapture is when a session's log was last written.
func lastCapture(c *capture.Capture, session string) time.Time {
	logs, err := c.Layout.Find(c.Client.Name, session)
	if err != nil || len(logs) == 0 {
		return time.Time{}
	}
	info, err := os.Stat(logs[len(logs)-1].Path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// indexed is an open index under the lock that keeps it from being replaced
// while it is open.
type indexed struct {
	*sqlite.Store
	lock io.Closer
}

func (i indexed) Close() error { return errors.Join(i.Store.Close(), i.lock.Close()) }

// indexWait is how long an index that is being replaced is waited for; that takes
// milliseconds.
const indexWait = 10 * time.Second

// openIndex opens an index file; it waits for other processes until ctx ends, or
// for some seconds if ctx has no deadline.
func openIndex(ctx context.Context, path string, opt sqlite.Options) (indexed, error) {
	wait, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	lock, err := state.WaitLock(wait, path+".lock", true)
	if errors.Is(err, state.ErrHeld) {
		return indexed{}, &archive.Error{Code: archive.CodeBusy, Msg: "the index is being replaced", Hint: "a reindex is at its end; try again in a moment"}
	}
	if opt.ReadOnly && unwritable(err) {
		lock, err = nil, nil // nobody replaces a file there
	}
	if err != nil {
		return indexed{}, &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + filepath.Dir(path), Err: err,
			Hint: "check its permissions and the free space, or set STRANDLINE_HOME to another folder"}
	}
	if deadline, ok := ctx.Deadline(); ok {
		opt.BusyTimeout = time.Until(deadline)
	}
	s, err := sqlite.Open(ctx, path, opt)
	if err != nil {
		return indexed{}, errors.Join(err, lock.Release())
	}
	return indexed{Store: s, lock: closer(lock.Release)}, nil
}

// unwritable reports whether a lock could not be taken because its folder cannot
// be written.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

type closer func() error

func (c closer) Close() error { return c() }
