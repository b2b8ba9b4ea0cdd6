package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/install"
	"strandline/internal/project"
	"strandline/internal/state"
	"strandline/internal/text"
)

// Finding is a result of Doctor.
type Finding = install.Finding

// Failed reports whether a finding keeps sessions from being recorded or found.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == install.LevelFail })
}

func finding(level install.Level, topic, msg, hint string) Finding {
	return Finding{Level: level, Topic: topic, Msg: msg, Hint: hint}
}

func warn(topic, msg, hint string) Finding { return finding(install.LevelWarn, topic, msg, hint) }

// Doctor checks the client's settings, the program, the disk and the archive, and
// lists the errors of the last week.
func (a *App) Doctor(ctx context.Context) ([]Finding, error) {
	cfg, _ := a.Settings() // rejected settings are findings
	out := install.Check(ctx, install.CheckOptions{
		ClientDir: cfg.ClientDir, ProjectDir: a.ProjectDir(), Home: cfg.Paths.Home, Exe: a.Exe, Version: a.Version,
		Getenv: a.Getenv, LookPath: a.System.LookPath, VersionOf: a.System.VersionOf,
	})
	for _, p := range cfg.Problems() {
		out = append(out, warn("settings", p.Msg, "`strandline config` prints the effective values"))
	}
	if !cfg.Capture.Enabled {
		out = append(out, warn("capture", "recording is switched off (capture.enabled)", "`strandline config` says where"))
	}
	if cfg.Compaction.BlockAuto == config.BlockAlways {
		out = append(out, warn("blocking",
			"automatic compactions are blocked (compaction.block_auto = always): at the window's end the client answers a prompt with an error before one succeeds",
			"headroom blocks only while 5,000 tokens are left before the hard limit; /compact is never blocked"))
	}
	out = slices.Concat(out, a.checkCompanion(ctx), a.checkModel(ctx, cfg), a.checkDisk(cfg.Paths.Home))
	archived, err := a.checkArchive(ctx)
	return append(out, archived...), err
}

// checkCompanion checks that the companion program exists and has this version.
func (a *App) checkCompanion(ctx context.Context) []Finding {
	path, err := a.System.FindCompanion()
	if err != nil {
		return []Finding{warn("program", ErrorText(err), archive.ErrorHint(err))}
	}
	if path == "" {
		return nil
	}
	version, err := a.System.VersionOf(ctx, path)
	if err == nil && version != a.Version {
		err = fmt.Errorf("%s has version %s, this program %s", path, version, a.Version)
	}
	if err != nil {
		return []Finding{warn("program", ErrorText(err), "install strandline again; its two programs belong together")}
	}
	return nil
}

// modelTimeout limits the test of a model: a large one is read from the disk first.
const modelTimeout = 20 * time.Second

// checkModel embeds a word with the chosen model, as a search would. This tests its
// files, its helper program and the helper's runtime.
func (a *App) checkModel(ctx context.Context, cfg *config.Config) []Finding {
	if a.NeedsNetwork() {
		return nil // only the companion program can
	}
	chosen, err := a.chosenModel(cfg)
	if err == nil && chosen.Open == nil {
		return nil
	}
	dim := 0
	if err == nil {
		dim, err = testModel(ctx, chosen)
	}
	if err != nil {
		return []Finding{warn("model",
			fmt.Sprintf("embed.model = %s does not work, searches use the built-in vectors: %s", cfg.Embed.Model, text.OneLine(text.Visible(ErrorText(err)))),
			cmp.Or(archive.ErrorHint(err), "`strandline model use static` does without; embed.helper and embed.library say where a model's programs are"))}
	}
	return []Finding{finding(install.LevelOK, "model", fmt.Sprintf("%s answers with vectors of %d components", cfg.Embed.Model, dim), "")}
}

// testModel returns the length of a model's vectors.
func testModel(ctx context.Context, m chosenModel) (dim int, err error) {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	e, closer, err := m.Open(ctx, 1)
	if err != nil {
		return 0, err
	}
	if closer != nil {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	vectors, err := e.Embed(ctx, []string{"strandline"})
	if err != nil {
		return 0, err
	}
	return len(vectors[0]), nil
}

// Limits of free disk space in bytes: below diskFull, recording fails soon; below
// diskLow, a day's work may not fit.
const (
	diskFull = 4 << 20
	diskLow  = 200 << 20
)

func (a *App) checkDisk(home string) []Finding {
	free, ok := a.System.DiskFree(home)
	switch {
	case !ok || free >= diskLow:
		return nil
	case free < diskFull:
		return []Finding{finding(install.LevelFail, "disk", "the disk is full: nothing can be recorded in "+home,
			"free some space; hooks catch up automatically, and the client keeps its own files for 30 days")}
	}
	return []Finding{warn("disk", "only "+text.Size(free)+" are left on the disk of "+home, "`strandline status` shows the size of the archive")}
}

// checkArchive checks the index and its completeness, and lists recent errors.
func (a *App) checkArchive(ctx context.Context) (out []Finding, err error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	err = a.withIndex(ctx, w, ReadOnly, func(x Archive) error {
		if err := x.Index.Integrity(ctx); err != nil {
			return err
		}
		n, err := a.runner(w).Unindexed(ctx, x.Index)
		if err != nil {
			return err
		}
		if n > 0 {
			out = append(out, warn("index", UnindexedText(n), "`strandline maintain` indexes the rest"))
		} else {
			out = append(out, finding(install.LevelOK, "index", "the index is sound", ""))
		}
		jobs, err := w.clientFiles(ctx)
		if err != nil {
			return err
		}
		missing, err := w.Capture.Uncaptured(jobs)
		if missing.Files > 0 {
			out = append(out, warn("capture", UncapturedText(missing.Files), "`strandline import` brings it in"))
		}
		moved, merr := a.checkMoved(ctx, x)
		out = append(out, moved...)
		return errors.Join(err, merr)
	})
	level, hint := install.LevelFail, cmp.Or(archive.ErrorHint(err), "`strandline reindex` rebuilds it from the logs; nothing is lost")
	if archive.ErrorCode(err) == archive.CodeNotFound {
		level = install.LevelInfo
	}
	if err != nil {
		out = append(out, finding(level, "index", ErrorText(err), hint))
	}
	entries, err := state.RecentErrors(w.Config.Paths.Errors(), a.Now().Add(-7*24*time.Hour), 10)
	for _, e := range entries {
		at := e.Time.In(a.Now().Location()).Format("2006-01-02 15:04")
		out = append(out, warn("errors", fmt.Sprintf("%s %s: %s", at, cmp.Or(e.Event, e.Msg), cmp.Or(e.Error, e.Msg)), ""))
	}
	return out, err
}

// checkMoved reports if the current folder may be a project's new location.
func (a *App) checkMoved(ctx context.Context, x Archive) ([]Finding, error) {
	list, err := x.Index.Projects(ctx)
	if err != nil {
		return nil, err
	}
	known := archive.Convert(list, func(p archive.ProjectSummary) archive.Project { return p.Project })
	here := x.Capture.Project(a.ProjectDir())
	before, ok := project.MovedFrom(here, known, exists)
	if !ok {
		return nil, nil
	}
	return []Finding{finding(install.LevelInfo, "project",
		fmt.Sprintf("this folder has the remote of %s, which no longer exists: it may have been moved here", ProjectPath(before)),
		fmt.Sprintf("`strandline projects merge %q %q` makes them one", ProjectPath(before), here.Root))}, nil
}

// UncapturedText describes client files that hold more than their logs.
func UncapturedText(n int) string {
	return plural(n, "1 of the client's files holds more than its log", "%d of the client's files hold more than their logs")
}

// UnindexedText describes logged sessions that are missing from the index.
func UnindexedText(n int) string {
	return plural(n, "1 archived session is not in the index", "%d archived sessions are not in the index")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// LogCheck is the result of verifying a log.
type LogCheck struct {
	Log    string `json:"log"`
	OK     bool   `json:"ok"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256,omitempty"`
	// Torn is the number of bytes after the last complete append. They are from an
	// interrupted append or damaged.
	Torn int64 `json:"torn,omitempty"`
	// Forgotten is the number of bytes that were deleted for good: a marker line
	// replaces each turn or step, blanks replace the rest.
	Forgotten int64 `json:"forgotten_bytes,omitempty"`
	// Source compares the client's file: "same", "ahead" (it has more), "gone",
	// "differs", "superseded" (there is a later generation) or "unread". It is empty
	// for a damaged log.
	Source string `json:"source,omitempty"`
	// SourceError is why the client's file cannot be read. The log may still be OK.
	SourceError string `json:"source_error,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Verify checks every byte of the logs, and compares them with the client's files.
// typed limits it to one session.
func (a *App) Verify(ctx context.Context, typed string) ([]LogCheck, error) {
	w, err := a.Workspace()
	id := ""
	if typed != "" {
		w, id, err = a.loggedSession(ctx, typed)
	}
	if err != nil {
		return nil, err
	}
	checks, err := w.Capture.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	if id != "" && len(checks) == 0 {
		return nil, archive.NotFound("no log of session "+archive.ShortID(id), "`strandline sessions` lists the archived sessions")
	}
	return archive.Convert(checks, func(c capture.Verified) LogCheck { return newLogCheck(w.Config.Paths.Home, c) }), nil
}

func newLogCheck(home string, v capture.Verified) LogCheck {
	rel, err := filepath.Rel(home, v.Log)
	if err != nil {
		rel = v.Log
	}
	c := LogCheck{Log: rel, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source), Torn: v.Report.Torn, Forgotten: v.Report.Blanked}
	if v.Unread != nil {
		c.SourceError = ErrorText(v.Unread)
	}
	// The next capture appends torn bytes again from the client's file.
	recoverable := v.Source == capture.SourceSame || v.Source == capture.SourceAhead
	torn := text.Size(c.Torn) + " at its end are damaged, and the client's file"
	switch {
	case v.Err != nil:
		c.Error = ErrorText(v.Err)
		return c
	case v.Source == capture.SourceDiffers:
		c.Error = "the client's file no longer begins with the logged bytes; the next capture keeps it as a new generation"
	case c.Torn > 0 && v.Unread != nil:
		c.Error = fmt.Sprintf("%s, which may have them, cannot be read: %s", torn, c.SourceError)
	case c.Torn > 0 && !recoverable:
		c.Error = torn + " does not have them"
	default:
		c.OK = true
	}
	c.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
	return c
}
