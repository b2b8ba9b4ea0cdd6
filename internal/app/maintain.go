package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/recall"
	"strandline/internal/redact"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// Maintain does a maintenance run. compacting drops the index's copy of texts
// outside the hot set.
func (a *App) Maintain(ctx context.Context, compacting bool) (stages []Stage, err error) {
	if cfg, cerr := a.Settings(); cerr == nil && !exists(cfg.Paths.Home) {
		return nil, nil
	}
	err = a.locked("maintain", "maintenance run", func(w Workspace) error {
		stages, err = a.maintain(ctx, w, effort{embed: a.embedAll, compacting: compacting})
		return err
	})
	return stages, err
}

// MaintainInBackground does a short maintenance run at low priority, unless another
// process does one. Errors are written to the error log as well.
func (a *App) MaintainInBackground(ctx context.Context) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	a.System.LowerPriority()
	lock, err := state.TryLock(w.File("maintain.lock"))
	if errors.Is(err, state.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	stages, err := a.maintain(ctx, w, effort{embed: a.embedNewest, learn: backgroundLearn})
	if err = errors.Join(err, StageErrors(stages)); err != nil && ctx.Err() == nil { // else the next run does it
		w.Logger().Error("maintenance", "event", "maintain", "error", err)
	}
	return err
}

// effort is how much a maintenance run does.
type effort struct {
	embed      func(context.Context, Archive) (int, error)
	learn      int // see Runner.LearnLimit
	compacting bool
}

// backgroundLearn limits the compactions that a background run learns from. Each
// takes some hundredths of a second.
const backgroundLearn = 20

// maintain does a run. Then, with the index closed, it completes interrupted
// deletions and deletes expired sessions.
func (a *App) maintain(ctx context.Context, w Workspace, how effort) (stages []Stage, err error) {
	sessions, failed := w.OpenForgets(ctx) // before anything is captured
	parts, perr := w.OpenParts(ctx)
	failed = errors.Join(failed, perr)
	var expired []string
	older := false // the index was written with older rules
	err = a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
		rules, err := x.Index.Rules(ctx)
		if older = err == nil && rules < redact.Rules; err != nil {
			return err
		}
		Schedule(w.Config.Paths.Maintained()).Begin(a.Now())
		stages = a.fullRunner(x, how).Run(ctx, x.Index)
		if failed == nil {
			expired, failed = w.Expired(ctx, x.Index, w.retention(how.compacting), a.Now())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	forget := func(ctx context.Context, _ *Index, st *Stage) error {
		err := failed
		if n := len(sessions) + len(parts) + len(expired); err == nil && n > 0 {
			err = a.proveSpace(ctx, w, nil)
		}
		for _, session := range expired {
			if err == nil {
				err = w.BeginForget(ctx, session, archive.ForgetOld)
			}
		}
		sessions = append(sessions, expired...)
		if err != nil || len(sessions)+len(parts) == 0 {
			return err
		}
		if st.Done = len(sessions) + len(parts); len(sessions) > 0 {
			st.Before = treeSize(w.File("log"))
			defer func() { st.After = treeSize(w.File("log")) }()
		}
		_, err = a.erase(ctx, w, sessions, parts, nil)
		return err
	}
	stages = append(stages, Step{"forget", forget}.do(ctx, nil, a.Now))
	if older {
		stages = append(stages, Step{"redact", func(ctx context.Context, _ *Index, st *Stage) error {
			out, err := a.rebuildIndex(ctx, w, nil)
			st.Done = out.Built.Sessions
			return err
		}}.do(ctx, nil, a.Now))
	}
	return stages, nil
}

// fullRunner returns a runner with all stages.
func (a *App) fullRunner(x Archive, how effort) Runner {
	r := a.runner(x.Workspace)
	r.Embed = func(ctx context.Context) (int, error) { return how.embed(ctx, x) }
	r.Measure = func(ctx context.Context, c archive.Compaction) (compact.Outcome, error) {
		return measureCompaction(ctx, x, c)
	}
	r.Teach = func(ctx context.Context, c archive.Compaction) (map[string]archive.Tally, error) {
		return compact.Learn(ctx, x.Index, c, compact.Request{Log: x.Capture.Conversation, Redact: x.Redact})
	}
	r.Synthetic = func(ctx context.Context, session string) (archive.Compaction, bool, error) {
		return compact.SyntheticCompaction(ctx, x.Index, session)
	}
	r.LearnLimit, r.Retention = how.learn, x.retention(how.compacting)
	r.Extra = []Step{
		{"segments", func(ctx context.Context, _ *Index, st *Stage) (err error) {
			st.Done, err = a.pruneSegments(ctx, x)
			return err
		}},
		{"moved projects", func(ctx context.Context, _ *Index, st *Stage) (err error) {
			st.Done, err = a.mergeMoved(ctx, x, nil)
			return err
		}},
	}
	if x.Config.Postgres.Auto && a.Stores.LinksTeam() {
		r.Extra = append(r.Extra, Step{"sync", func(ctx context.Context, _ *Index, st *Stage) error {
			report, err := a.sync(ctx, x, Push{})
			if archive.ErrorCode(err) == archive.CodeBusy {
				return nil // another process syncs
			}
			st.Done = report.Sessions + len(report.Deleted)
			return err
		}})
	}
	return r
}

// runner returns a runner without the stages that need an open index.
func (a *App) runner(w Workspace) Runner {
	r := Runner{Workspace: w, Now: a.Now, IdleAfter: DefaultIdle}
	if a.Monitor != nil {
		r.Monitor = a.Monitor(w.Config)
	}
	return r
}

// retention returns the retention rules of the settings.
func (w Workspace) retention(compacting bool) Retention {
	return Retention{
		Rule: recall.ConfidenceWithDecay(w.Config.Lifecycle.Decay),
		Age:  time.Duration(w.Config.Retention.Days) * 24 * time.Hour, MaxBytes: w.Config.Retention.MaxBytes,
		Delete: w.Config.Retention.Delete, Compact: compacting,
		Sizes: func() (index, logs int64) {
			return w.indexBytes() + treeSize(w.Config.Paths.Vectors()), treeSize(w.File("log")) + treeSize(w.Config.Paths.Journal())
		},
	}
}

// Runner does maintenance runs. A nil Measure or Teach skips its stage.
type Runner struct {
	Workspace
	Now func() time.Time
	// IdleAfter is how long a session must be idle before its log is sealed and
	// its last compaction is measured.
	IdleAfter time.Duration
	// Measure returns the restored places of a compaction and those used later.
	Measure func(ctx context.Context, c archive.Compaction) (compact.Outcome, error)
	// Teach returns which kinds of names were needed after a compaction; nil if
	// too little happened afterwards. Synthetic returns a made-up compaction of a
	// session that has none, false if the session is too short.
	Teach     func(ctx context.Context, c archive.Compaction) (map[string]archive.Tally, error)
	Synthetic func(ctx context.Context, session string) (archive.Compaction, bool, error)
	// LearnLimit is how many compactions a run learns from before it stops at the
	// end of a session; 0 means all.
	LearnLimit int
	Retention  Retention
	// Embed computes missing vectors and returns how many passages it processed.
	Embed func(context.Context) (int, error)
	// Monitor counts the usage of the sessions that CatchUp captures; nil counts none.
	Monitor *usage.Monitor
	// Extra stages run after the others and before health.
	Extra []Step
}

// Step is a stage of a run.
type Step struct {
	Name string
	// Run does the work and fills in st, except for name and time.
	Run func(ctx context.Context, idx *Index, st *Stage) error
}

// DefaultIdle spans a night: a session is usually resumed within a day's work.
// A log that is sealed too early is only sealed again.
const DefaultIdle = 6 * time.Hour

// Stage is the outcome of one stage.
type Stage struct {
	Name   string `json:"stage"`
	Done   int    `json:"done"`             // things changed
	Before int64  `json:"before,omitempty"` // bytes on disk
	After  int64  `json:"after,omitempty"`
	Error  string `json:"error,omitempty"`
	TookMS int64  `json:"took_ms"`

	err error
}

// do runs the step and reports it.
func (s Step) do(ctx context.Context, idx *Index, now func() time.Time) Stage {
	st, start := Stage{Name: s.Name}, now()
	if err := s.Run(ctx, idx, &st); err != nil {
		st.Error, st.err = err.Error(), err
	}
	st.TookMS = now().Sub(start).Milliseconds()
	return st
}

// Run does every stage and reports each. A stage that fails does not stop the
// others.
func (r Runner) Run(ctx context.Context, idx *Index) []Stage {
	steps := slices.Concat([]Step{
		{"pending", r.pending}, {"index", r.index}, {"journal", r.journal}, {"posted", r.posted}, {"feedback", r.feedback}, {"learn", r.learn}, {"embed", r.embed},
		{"tiers", r.tiers}, {"compact", r.compact}, {"seal", r.seal}, {"state", r.state},
	}, r.Extra, []Step{{"health", r.health}})
	return archive.Convert(steps, func(s Step) Stage { return s.do(ctx, idx, r.Now) })
}

// StageErrors joins the errors of stages.
func StageErrors(stages []Stage) error {
	failed := archive.Select(stages, func(st Stage) bool { return st.err != nil })
	return errors.Join(archive.Convert(failed, func(st Stage) error { return fmt.Errorf("%s: %w", st.Name, st.err) })...)
}

func (r Runner) pending(ctx context.Context, idx *Index, st *Stage) (err error) {
	st.Done, err = r.CatchUp(ctx, idx)
	return err
}

// CatchUp captures the sessions that hooks deferred and returns how many it
// captured. A session stays pending if the cause may pass (a lock, a full disk,
// the end of ctx). After any other error it is left to its next hook or import,
// so that it does not block the sessions after it. Two processes at once do the
// same work twice, without harm.
func (r Runner) CatchUp(ctx context.Context, idx capture.Index) (done int, err error) {
	work, err := r.Pending().Take()
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, w := range work {
		seen := &capture.Recorder{Index: idx, Session: w.Session}
		captured, err := r.Capture.CatchUp(ctx, seen, w)
		if captured {
			done++
		}
		if errs = append(errs, err); captured || len(seen.Batches) > 0 {
			errs = append(errs, r.observe(ctx, w, seen.Batches))
		}
		if code := archive.ErrorCode(err); ctx.Err() == nil && code != archive.CodeBusy && code != archive.CodeDenied {
			errs = append(errs, r.Pending().Done(w))
		}
	}
	return done, errors.Join(errs...)
}

// observe counts the usage in the batches of a session, as its hooks do. Without a batch
// it reads the transcript: the client may have ended a hook that had indexed its rows.
func (r Runner) observe(ctx context.Context, w capture.PendingWork, batches []archive.Batch) error {
	if r.Monitor == nil {
		return nil
	}
	seen := usage.Observation{Session: w.Session, Transcript: w.Transcript, Now: r.Now(), Batches: batches}
	if n := len(batches); n > 0 {
		seen.Captured = batches[n-1].Cursor.Offset
	} else if file, err := os.Stat(w.Transcript); err == nil {
		seen.Captured = file.Size()
	} else {
		return nil // deleted since: there is nothing to count
	}
	of := *r.Monitor
	of.Client = r.Capture.ClientOf(w.Client)
	return of.Observe(ctx, seen)
}

func (r Runner) index(ctx context.Context, idx *Index, st *Stage) error {
	report, err := r.Index(ctx, idx)
	st.Done = report.Sessions + report.Agents
	return errors.Join(err, errors.Join(archive.Convert(report.Failed, func(f capture.FileError) error { return fmt.Errorf("%s: %w", f.Path, f.Err) })...))
}

// Index reads every log that is ahead of the index. Logs that cannot be read are
// in the report's Failed.
func (r Runner) Index(ctx context.Context, idx LogIndex) (capture.Report, error) {
	var ahead []capture.Job
	err := r.eachLog(ctx, idx, func(j capture.Job, cur archive.Cursor) {
		if cur.Offset < j.Size || j.Size == 0 { // 0: an unreadable log, which Bulk reports
			ahead = append(ahead, j)
		}
	})
	if err != nil {
		return capture.Report{}, err
	}
	return r.Capture.Bulk(ctx, idx, idx, ahead, nil)
}

// Unindexed counts the logged sessions that are missing from the index, for
// example after its file was lost and a hook created a new one.
func (r Runner) Unindexed(ctx context.Context, idx LogIndex) (n int, err error) {
	err = r.eachLog(ctx, idx, func(j capture.Job, cur archive.Cursor) {
		if missing(cur, j) {
			n++
		}
	})
	return n, err
}

// missing reports whether the index has no row of a logged session.
func missing(cur archive.Cursor, j capture.Job) bool { return cur.Generation == 0 && j.Size > 0 }

// eachLog calls visit with every session and the number of its bytes that are indexed,
// in the cursor's Offset.
func (r Runner) eachLog(ctx context.Context, idx LogIndex, visit func(j capture.Job, cur archive.Cursor)) error {
	jobs, err := r.Capture.LoggedJobs(ctx)
	if err != nil {
		return err
	}
	at, err := idx.Positions(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		cur := at[j.Session]
		if cur.Generation == j.Generation {
			cur.Offset += j.Earlier // those before it are indexed
		}
		visit(j, cur)
	}
	return nil
}

func (r Runner) journal(ctx context.Context, idx *Index, _ *Stage) error {
	err := r.Journal.Sync(ctx, idx)
	damage, verr := journalDamage(ctx, r.Workspace)
	return errors.Join(err, damage, verr)
}

func (r Runner) embed(ctx context.Context, _ *Index, st *Stage) (err error) {
	st.Done, err = r.Embed(ctx)
	return err
}

// HealthReport is the archive's health with its counts.
type HealthReport struct {
	usage.Health
	Uncaptured int // client files that hold more than their logs
	Unindexed  int // logged sessions that are missing from the index
	Measured   int // compactions that Used covers
}

// Health computes four shares: of the client's bytes that are logged, of the
// logged bytes that are indexed, of the passages that an embedder has processed,
// and of the restored places that were used. A share of nothing is nil, so is
// that of passages before the first embedding.
func (r Runner) Health(ctx context.Context, idx *Index) (h HealthReport, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("compute the archive's health: %w", err)
		}
	}()
	h.Time = r.Now().UnixMilli()
	if r.Capture, err = r.Capture.Snapshot(); err != nil {
		return h, err
	}
	var files []capture.Job
	var listing errgroup.Group
	listing.Go(func() (err error) { files, err = r.clientFiles(ctx); return err })
	var part, of int64
	err = r.eachLog(ctx, idx, func(j capture.Job, cur archive.Cursor) {
		if missing(cur, j) {
			h.Unindexed++
		}
		part += min(cur.Offset, j.Size)
		of += j.Size
	})
	if err = errors.Join(err, listing.Wait()); err != nil {
		return h, err
	}
	h.Indexed = share(part, of)
	uncaptured, err := r.Capture.Uncaptured(files)
	if err != nil {
		return h, err
	}
	h.Uncaptured, h.Captured = uncaptured.Files, share(uncaptured.Total-uncaptured.Bytes, uncaptured.Total)
	if part, of, err = idx.Embedded(ctx); err != nil {
		return h, err
	}
	h.Embedded = share(part, of)
	sum, err := idx.Feedback(ctx)
	h.Measured, h.Used = sum.Compactions, share(int64(sum.Used), int64(sum.Given))
	return h, err
}

func share(part, of int64) *usage.Share {
	if of <= 0 {
		return nil
	}
	return &usage.Share{Part: part, Of: of}
}

// health writes the archive's health to the statusline's file.
func (r Runner) health(ctx context.Context, idx *Index, _ *Stage) error {
	h, err := r.Health(ctx, idx)
	if err != nil {
		return err
	}
	return usage.Store{Dir: r.Config.Paths.State()}.WriteHealth(h.Health)
}

// stateLifetime is how long the state of an idle session is kept: as long as the
// client keeps the transcript, so that a resumed session finds its history.
const stateLifetime = 30 * 24 * time.Hour

// leftover is the age from which a temporary file belongs to a killed process.
const leftover = time.Hour

// state removes the statusline's files and the hooks' files of sessions that
// ended long ago, and the temporary files of killed processes. It updates the manifest.
func (r Runner) state(ctx context.Context, _ *Index, st *Stage) (err error) {
	p, before := r.Config.Paths, r.Now().Add(-stateLifetime)
	st.Done, err = usage.Store{Dir: p.State()}.Sweep(before)
	for _, dir := range []string{p.CheckStates(), p.OwnCompactions(), p.PendingCompactions(), p.Blocked(), p.Pace(), p.Outcomes(), p.HookCalls(), p.GuardZones(), r.Capture.LoggedSidesDir()} {
		n, serr := state.Store{Dir: dir}.Sweep(before)
		st.Done += n
		err = errors.Join(err, serr)
	}
	n, terr := r.removeLeftovers()
	st.Done += n
	return errors.Join(err, terr, r.Capture.Manifest().Update(ctx, nil, nil))
}

// removeLeftovers removes the temporary files that killed processes left in the archive,
// and the index and the reserve of a killed reindex.
func (r Runner) removeLeftovers() (n int, err error) {
	fresh, reserve := r.Config.Paths.Index()+".new", r.Config.Paths.Index()+".space"
	if exists(fresh) || exists(reserve) {
		if lock, lerr := state.TryLock(filepath.Join(r.Config.Paths.Home, "reindex.lock")); lerr == nil {
			if err = errors.Join(removeIndex(fresh), state.Remove(reserve), lock.Release()); err != nil {
				return 0, err
			}
			n++
		} // else it is being built
	}
	err = filepath.WalkDir(r.Config.Paths.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasPrefix(d.Name(), state.TempPrefix) && !strings.HasSuffix(d.Name(), ".zst.tmp") {
			return nil //nolint:nilerr // the next run lists it again
		}
		if info, err := d.Info(); err == nil && r.Now().Sub(info.ModTime()) > leftover && state.Remove(path) == nil {
			n++
		}
		return nil
	})
	return n, err
}

// Schedule reports when hooks start the next maintenance run. It is the path of an
// empty file whose modification time is the start of the last run.
type Schedule string

// interval separates runs that hooks start. Starting one costs a hook about two
// milliseconds.
const interval = time.Hour

// Due reports whether the last run began more than an interval ago or never. A
// time further in the future is ignored: the clock was wrong.
func (s Schedule) Due(now time.Time) bool {
	info, err := os.Stat(string(s))
	return err != nil || now.Sub(info.ModTime()) >= interval || info.ModTime().Sub(now) > interval
}

// MaintenanceDue reports whether automatic maintenance is due.
func MaintenanceDue(cfg *config.Config, now time.Time) bool {
	return cfg.Lifecycle.Auto && Schedule(cfg.Paths.Maintained()).Due(now)
}

// Begin records the start of a run. If it fails, the next hook starts another
// run, which finds nothing to do.
func (s Schedule) Begin(now time.Time) {
	path := string(s)
	if os.Chtimes(path, now, now) != nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil && os.WriteFile(path, nil, 0o600) == nil {
		_ = os.Chtimes(path, now, now)
	}
}

// clientFiles lists the client's transcripts.
func (w Workspace) clientFiles(ctx context.Context) ([]capture.Job, error) {
	projects := filepath.Join(w.Config.ClientDir, "projects")
	if !exists(projects) {
		return nil, nil
	}
	jobs, _, err := capture.List(ctx, []string{projects})
	return jobs, err
}

// indexBytes is the size of the index on disk.
func (w Workspace) indexBytes() int64 {
	return treeSize(w.Config.Paths.Index()) + treeSize(w.Config.Paths.Index()+"-wal")
}

// treeSize sums up the sizes of the files at or below a path. It skips unreadable
// files.
func treeSize(root string) int64 {
	var n int64
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // skips unreadable files
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
