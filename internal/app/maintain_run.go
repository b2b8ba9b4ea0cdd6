package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/usage"
)

// MaintainIndex is an open index. The parts are one store.
type MaintainIndex struct {
	capture.Index
	Tiers
	Outcomes
}

// Outcomes stores the results of compactions and of embedding.
type Outcomes interface {
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
	Embedded(ctx context.Context) (part, of int64, err error)
}

// Runner does maintenance runs. A nil function skips its stage.
type Runner struct {
	Capture *capture.Capture
	Journal capture.Journal
	Pending capture.Pending
	Now     func() time.Time
	// IdleAfter is how long a session must be idle before its log is sealed and
	// its last compaction is measured.
	IdleAfter time.Duration
	Schedule  Schedule
	// Usage holds the statusline's files; without a folder, no health is written.
	Usage usage.Store
	// SessionFolders hold one small file per session, written by hooks.
	SessionFolders []string
	// ClientFiles lists the client's transcripts.
	ClientFiles func(ctx context.Context) ([]capture.Job, error)
	// Measure returns the restored places of a compaction and those used later.
	Measure func(ctx context.Context, c archive.Compaction) (compact.Outcome, error)
	// Teach returns which kinds of names were needed after a compaction; nil if
	// too little happened afterwards. Synthetic returns a made-up compaction of a
	// session that has none, false if the session is too short.
	Teach     func(ctx context.Context, c archive.Compaction) (map[string]archive.Tally, error)
	Synthetic func(ctx context.Context, session string) (archive.Compaction, bool, error)
	Learned   Learned
	// LearnLimit is how many compactions a run learns from before it stops at the
	// end of a session; 0 means all.
	LearnLimit int
	Retention  Retention
	// Embed computes missing vectors and returns how many passages it processed.
	Embed func(context.Context) (int, error)
	// Extra stages run after the others and before health.
	Extra []Step
}

// Step is a stage of a run.
type Step struct {
	Name string
	// Run does the work and fills in st, except for name and time.
	Run func(ctx context.Context, idx MaintainIndex, st *Stage) error
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
}

// Run does every stage and reports each. A stage that fails does not stop the
// others.
func (r Runner) Run(ctx context.Context, idx MaintainIndex) []Stage {
	steps := slices.Concat([]Step{
		{"pending", r.pending},
		{"index", r.index},
		{"journal", r.journal},
		{"feedback", r.feedback},
		{"learn", r.learn},
		{"embed", r.embed},
		{"tiers", r.tiers},
		{"compact", r.compact},
		{"seal", r.seal},
		{"state", r.state},
	}, r.Extra, []Step{{"health", r.health}})
	out := make([]Stage, len(steps))
	for i, s := range steps {
		st := &out[i]
		start := r.Now()
		if err := s.Run(ctx, idx, st); err != nil {
			st.Error = err.Error()
		}
		st.Name, st.TookMS = s.Name, r.Now().Sub(start).Milliseconds()
	}
	return out
}

func (r Runner) pending(ctx context.Context, idx MaintainIndex, st *Stage) (err error) {
	st.Done, err = r.CatchUp(ctx, idx)
	return err
}

// CatchUp captures the sessions that hooks deferred and returns how many it
// captured. A session stays pending if the cause may pass (a lock, a full disk,
// the end of ctx). After any other error it is left to its next hook or import,
// so that it does not block the sessions after it. Two processes at once do the
// same work twice, without harm.
func (r Runner) CatchUp(ctx context.Context, idx capture.Index) (done int, err error) {
	work, err := r.Pending.Take()
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, w := range work {
		captured, err := r.Capture.CatchUp(ctx, idx, w)
		if captured {
			done++
		}
		errs = append(errs, err)
		if !temporary(ctx, err) {
			errs = append(errs, r.Pending.Done(w))
		}
	}
	return done, errors.Join(errs...)
}

// temporary reports whether a retry may succeed.
func temporary(ctx context.Context, err error) bool {
	code := archive.ErrorCode(err)
	return ctx.Err() != nil || code == archive.CodeBusy || code == archive.CodeDenied
}

func (r Runner) index(ctx context.Context, idx MaintainIndex, st *Stage) error {
	report, err := r.Index(ctx, idx)
	st.Done = report.Sessions + report.Agents
	errs := []error{err}
	for _, f := range report.Failed {
		errs = append(errs, fmt.Errorf("%s: %w", f.Path, f.Err))
	}
	return errors.Join(errs...)
}

// Index reads every log that is ahead of the index. Logs that cannot be read are
// in the report's Failed.
func (r Runner) Index(ctx context.Context, idx capture.Index) (capture.Report, error) {
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
func (r Runner) Unindexed(ctx context.Context, idx HealthIndex) (n int, err error) {
	err = r.eachLog(ctx, idx, func(j capture.Job, cur archive.Cursor) {
		if missing(cur, j) {
			n++
		}
	})
	return n, err
}

// missing reports whether the index has no row of a logged session.
func missing(cur archive.Cursor, j capture.Job) bool { return cur.Generation == 0 && j.Size > 0 }

// eachLog calls visit with every log and the index's position in it.
func (r Runner) eachLog(ctx context.Context, idx interface {
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
}, visit func(j capture.Job, cur archive.Cursor)) error {
	jobs, err := r.Capture.LoggedJobs(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		cur, err := idx.Cursor(ctx, j.Session)
		if err != nil {
			return err
		}
		visit(j, cur)
	}
	return nil
}

func (r Runner) journal(ctx context.Context, idx MaintainIndex, _ *Stage) error {
	return r.Journal.Sync(ctx, idx)
}

func (r Runner) embed(ctx context.Context, _ MaintainIndex, st *Stage) (err error) {
	if r.Embed != nil {
		st.Done, err = r.Embed(ctx)
	}
	return err
}

// Schedule reports when hooks start the next maintenance run. It is an empty
// file whose modification time is the start of the last run.
type Schedule struct {
	Path string
}

// interval separates runs that hooks start. Starting one costs a hook about two
// milliseconds.
const interval = time.Hour

// Due reports whether the last run began more than an interval ago or never. A
// time further in the future is ignored: the clock was wrong.
func (s Schedule) Due(now time.Time) bool {
	info, err := os.Stat(s.Path)
	return err != nil || now.Sub(info.ModTime()) >= interval || info.ModTime().Sub(now) > interval
}

// Begin records the start of a run. If it fails, the next hook starts another
// run, which finds nothing to do.
func (s Schedule) Begin(now time.Time) {
	if os.Chtimes(s.Path, now, now) == nil {
		return
	}
	if os.MkdirAll(filepath.Dir(s.Path), 0o700) == nil && os.WriteFile(s.Path, nil, 0o600) == nil {
		_ = os.Chtimes(s.Path, now, now)
	}
}
