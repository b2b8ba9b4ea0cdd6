package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/hook"
	"strandline/internal/index/sqlite"
	"strandline/internal/state"
	"strandline/internal/task"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

// maxHookBytes limits the transcript bytes that one hook logs. The rest is left to
// a background process.
const maxHookBytes = 32 << 20

// maxLate is how long a session may be left after a compaction and still get its context.
const maxLate = 30 * 24 * time.Hour

// runHook handles one hook event of a client. The process exits with 0 and writes nothing
// to stderr.
func runHook(client string) {
	limitGC(hookMemory)
	cfg, cfgErr := loadConfig()
	log := slog.New(slog.NewJSONHandler(&state.LogFile{Path: cfg.Paths.Errors()}, nil))
	if cfgErr != nil {
		log.Warn("settings", "error", cfgErr)
	}
	c, journal, err := newCapture(cfg)
	if err != nil {
		log.Error("hook", "error", err)
		return
	}
	c.MaxLog = maxHookBytes
	lost := app.Workspace{Config: cfg}.IndexLost() // the hook creates one with its own session; maintain adds the others
	of := c.ClientOf(client)
	monitor := newMonitor(cfg)
	if monitor != nil {
		monitor.Client = of
	}
	marks := task.CheckStates{Dir: cfg.Paths.CheckStates()}
	hook.Run(context.Background(), hook.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Config: cfg, Now: now, Log: log, Client: of, Folder: of.SettingsFolder(os.Getenv, homeDir()),
		Capture: c, Journal: journal, Pending: capture.Pending{Dir: cfg.Paths.Pending()},
		Answered: capture.OwnCompactions{Dir: cfg.Paths.OwnCompactions()},
		Underway: capture.PendingCompactions{Dir: cfg.Paths.PendingCompactions()},
		Late:     capture.PendingCompactions{Dir: cfg.Paths.LateCompactions(), Lifetime: maxLate},
		Pace:     usage.Pace{Dir: cfg.Paths.Pace()},
		Calls:    capture.HookCalls{Dir: cfg.Paths.HookCalls()},
		Foreign:  capture.ForeignCalls{Dir: cfg.Paths.State()},
		Blocking: usage.Blocker{Mode: cfg.Compaction.BlockAuto, Dir: cfg.Paths.Blocked(), Getenv: os.Getenv, Settings: cfg.Paths.ClientSettings()},
		Learner: compact.Learner{How: cfg.Restore.Learn, Tallies: func() map[string]archive.Tally {
			shapes, _ := app.Learned(cfg.Paths.Learned()).Read()
			return shapes
		}},
		OpenIndex: func(ctx context.Context, readOnly bool) (*hook.Index, error) {
			opt := sqlite.Options{ReadOnly: readOnly, Texts: c.ReadPassages}
			x, err := openIndex(ctx, cfg.Paths.Index(), opt)
			if !readOnly && archive.ErrorCode(err) == archive.CodeDenied { // a full or read-only disk: the context can still be restored
				opt.ReadOnly = true
				x, err = openIndex(ctx, cfg.Paths.Index(), opt)
			}
			if err != nil {
				return nil, err
			}
			return &hook.Index{Index: x, Source: x, Store: x}, nil
		},
		Temporary: func(ctx context.Context) (*hook.Index, error) {
			x, err := openIndex(ctx, "", sqlite.Options{})
			return &hook.Index{Index: x, Source: x, Store: x}, err
		},
		Detach:         detach,
		Monitor:        monitor,
		Segments:       hook.Segments{Usage: usageStore(cfg), Marks: marks},
		Injectors:      injectors(cfg, c, monitor, marks),
		Changes:        changes(cfg),
		MaintenanceDue: func() bool { return app.MaintenanceDue(cfg, now()) },
		LastCapture:    func(session string) time.Time { return lastCapture(c, session) },
	})
	if lost {
		if err := detach("maintain"); err != nil {
			log.Error("rebuild the lost index", "error", err)
		}
	}
}

// lastCapture returns when a session's log was last written.
func lastCapture(c *capture.Capture, session string) time.Time {
	log, err := c.LogOf(session)
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(log)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func usageStore(cfg *config.Config) usage.Store { return usage.Store{Dir: cfg.Paths.State()} }

func zones(cfg *config.Config) usage.Zones {
	return usage.Zones{Warn: cfg.Autopilot.Warn, Prune: cfg.Autopilot.Prune}
}

// newMonitor returns the usage monitor, or nil if it is disabled.
func newMonitor(cfg *config.Config) *usage.Monitor {
	if !cfg.Autopilot.Enabled || cfg.Paths.Home == "" {
		return nil
	}
	return &usage.Monitor{
		Store: usageStore(cfg), Zones: zones(cfg), Window: cfg.Autopilot.Window,
		Always: cfg.Autopilot.Report == config.ReportAlways, Silent: cfg.Autopilot.Report == config.ReportOff,
		Getenv: os.Getenv, Settings: cfg.Paths.ClientSettings(), Conversation: func(chunk []byte) []transcript.Message { return claude.Conversation(chunk, nil) },
		LastUsage: claude.LastUsage,
	}
}

// injectors returns the enabled injectors in the order of their texts.
func injectors(cfg *config.Config, c *capture.Capture, monitor *usage.Monitor, marks task.CheckStates) []hook.Injector {
	var list []hook.Injector
	if cfg.Recall.Unasked {
		list = append(list, hook.Recall(c.Project, redactor(cfg)))
	}
	if monitor != nil {
		list = append(list, hook.UsageReport(*monitor, cfg.Autopilot.Report == config.ReportTools))
	}
	if !cfg.Segments.Disabled {
		list = append(list, hook.Reminder(marks))
	}
	return list
}
