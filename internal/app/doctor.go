package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/install"
	"strandline/internal/project"
	"strandline/internal/sessionlog"
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
		ClientDir: cfg.ClientDir, Others: ConnectableClients()[1:], OtherDir: a.settingsFolder, ProjectDir: a.ProjectDir(), Home: cfg.Paths.Home, Exe: a.Exe, Version: a.Version,
		Getenv: a.Getenv, LookPath: a.System.LookPath, VersionOf: a.versionOf, ClientVersion: a.clientVersion(ctx, cfg.Paths.Home), Now: a.Now,
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
	for _, e := range (Workspace{Config: cfg}).Exchanges() {
		out = append(out, finding(install.LevelInfo, "machines", fmt.Sprintf("%s: last push %s, last pull %s", e.Place, a.day(e.Pushed), a.day(e.Pulled)), ""))
	}
	if n, _ := (capture.ForeignCalls{Dir: cfg.Paths.State()}).Read(); n.Calls > 0 {
		out = append(out, finding(install.LevelInfo, "neighbours", fmt.Sprintf("%d hook calls of other clients that read the same settings were ignored, the last at %s: %s",
			n.Calls, n.Last.In(a.Now().Location()).Format("2006-01-02 15:04"), n.Why), ""))
	}
	out = slices.Concat(out, a.checkCompanion(ctx), a.checkModel(ctx, cfg), a.checkDisk(cfg.Paths.Home))
	archived, err := a.checkArchive(ctx)
	return append(out, archived...), err
}

// day formats a time for a finding.
func (a *App) day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(a.Now().Location()).Format("2006-01-02 15:04")
}

// Fix removes the causes of findings that Strandline can remove without asking, and
// returns these findings.
func (a *App) Fix(findings []Finding) (fixed []Finding, err error) {
	for _, f := range findings {
		if f.Fix == nil {
			continue
		}
		if ferr := f.Fix(); ferr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Msg, ferr))
			continue
		}
		fixed = append(fixed, f)
	}
	return fixed, err
}

// versionTimeout limits the start of the client, which takes half a second.
const versionTimeout = 5 * time.Second

// clientVersion returns the version of the client in PATH or else, if the hooks recorded
// a session since the plugin was switched on, of that session; "" if unknown. Imported
// sessions do not count: they can be years old.
func (a *App) clientVersion(ctx context.Context, home string) string {
	if exe, err := a.System.LookPath("claude"); err == nil {
		ctx, cancel := context.WithTimeout(ctx, versionTimeout)
		defer cancel()
		if v, err := a.System.VersionOf(ctx, exe, "--version"); err == nil {
			return v
		}
	}
	var list []archive.Session
	err := a.withArchive(ctx, ReadOnly, func(x Archive) (err error) {
		list, err = x.Index.Sessions(ctx, archive.SessionFilter{Limit: 1})
		return err
	})
	if err != nil || len(list) == 0 || !list[0].Last.After(install.PluginSince(home)) {
		return "" // checkArchive reports the error
	}
	return list[0].Version
}

// unanswered is how many compactions in a row the plugin has to miss to be reported.
const unanswered = 3

// checkAnswers reports that the client does not use the plugin, by the last compactions
// since the plugin was switched on. This covers causes that leave no trace elsewhere: the client
// unloads modules for a session after three crashes of their worker.
func (a *App) checkAnswers(ctx context.Context, x Archive) ([]Finding, error) {
	since := install.PluginSince(x.Config.Paths.Home)
	if since.IsZero() {
		return nil, nil
	}
	sessions, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true, Compacted: true, Limit: 2 * unanswered})
	if err != nil {
		return nil, err
	}
	var last []archive.Compaction
	for _, s := range sessions {
		list, err := x.Index.Compactions(ctx, archive.Span{Session: s.ID, Newest: true, Limit: unanswered})
		if err != nil {
			return nil, err
		}
		last = append(last, slices.DeleteFunc(list, func(c archive.Compaction) bool { return c.Time.Before(since) })...)
	}
	slices.SortFunc(last, func(a, b archive.Compaction) int { return b.Time.Compare(a.Time) })
	if last = last[:min(len(last), unanswered)]; len(last) < unanswered || slices.ContainsFunc(last, func(c archive.Compaction) bool { return c.Ours }) {
		return nil, nil
	}
	return []Finding{warn("plugin", fmt.Sprintf("the plugin is switched on, but the last %d compactions were not its own", unanswered),
		"start the client again: it unloads plugin modules for a session after three crashes; `claude --debug` logs why a \"hooks module\" is not loaded")}, nil
}

// versionOf returns the version of another strandline binary.
func (a *App) versionOf(ctx context.Context, exe string) (string, error) {
	return a.System.VersionOf(ctx, exe, "version")
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
	version, err := a.versionOf(ctx, path)
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
			out[len(out)-1].Fix = func() error { _, err := a.Maintain(ctx, false); return err }
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
			out[len(out)-1].Fix = func() error { _, err := a.Import(ctx, ImportOptions{}); return err }
		}
		moved, merr := a.checkMoved(ctx, x)
		out = append(out, moved...)
		cut, cerr := a.checkReach(ctx, x)
		out = append(out, cut...)
		answers, aerr := a.checkAnswers(ctx, x)
		out = append(out, answers...)
		lost, lerr := a.lostLogs(ctx, w, "")
		if len(lost) > 0 {
			out = append(out, finding(install.LevelFail, "logs", LostText(len(lost))+", "+lost[0].Path+" first",
				"`strandline verify` names them; `strandline import` logs the files again that the client still has"))
		}
		return errors.Join(err, merr, cerr, aerr, lerr)
	})
	err = errors.Join(err, w.Journal.Log.Verify(ctx, func(_ string, _ sessionlog.VerifyReport, err error) {
		if err != nil {
			out = append(out, finding(install.LevelFail, "journal", ErrorText(err)+"; its other entries are used", ""))
		}
	}))
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
	known, err := x.Index.Projects(ctx)
	if err != nil {
		return nil, err
	}
	here := x.Capture.Project(a.ProjectDir())
	if !slices.ContainsFunc(known, func(p archive.ProjectSummary) bool { return p.Project.Key == here.Key }) {
		known = append(known, archive.ProjectSummary{Project: here})
	}
	for _, m := range project.Moves(known, mayExist) {
		if m.Into.Key == here.Key {
			return []Finding{finding(install.LevelInfo, "project",
				fmt.Sprintf("this folder has the remote of %s, which no longer exists: it was moved here", ProjectPath(m.From)),
				fmt.Sprintf("the next maintenance run makes them one, or `strandline projects merge %q %q`", ProjectPath(m.From), here.Root))}, nil
		}
	}
	return nil, nil
}

// UncapturedText describes client files that hold more than their logs.
func UncapturedText(n int) string {
	return plural(n, "1 of the client's files holds more than its log", "%d of the client's files hold more than their logs")
}

// LostText describes logs that do not exist any more.
func LostText(n int) string {
	return plural(n, "1 log was deleted or shortened", "%d logs were deleted or shortened")
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
