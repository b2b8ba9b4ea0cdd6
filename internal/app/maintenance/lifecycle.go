// Package lifecycle is what happens to the archive between captures: one pass of
// upkeep, in stages that each may run again at any time.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/usage"
)

// Index is what a pass needs of a store.
type Index interface {
	capture.Index
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
	Embedded(ctx context.Context) (part, of int64, err error)
	Tiers
}

// Pass is one pass of upkeep.
type Pass struct {
	Capture *capture.Capture
	Journal capture.Journal
	Pending capture.Pending
	Now     func() time.Time
	// Rest is how long a session must have been left alone before it counts as
	// finished: its log is sealed, and its last compaction is measured.
	Rest     time.Duration
	Schedule Schedule
	// Gauge is where the memory's health is left for the statusline; without a
	// folder it is not measured.
	Gauge usage.Store
	// Notes are folders of small files that hooks leave, one for each session.
	Notes []string
	// ClientFiles lists the client's files.
	ClientFiles func(ctx context.Context) ([]capture.Job, error)
	// Measure tells what a compaction gave back and what of it was used; nil
	// leaves that stage out.
	Measure func(ctx context.Context, cut archive.Compaction) (Outcome, error)
	// Teacher tells what cuts through sessions teach of names, which is added up in
	// Learned; nil leaves that stage out. A pass takes in TeachMost cuts at most and
	// the rest of the session it is at, 0 for all.
	Teacher   Teacher
	Learned   Learned
	TeachMost int
	Retention Retention
	// Embed makes vectors of what has none and returns how many passages it
	// looked at; nil leaves that stage out.
	Embed func(context.Context) (int, error)
	// Further are stages of others, a sync to a server for one. They run when logs
	// and index are as this pass leaves them, and before health tells of them.
	Further []Step
}

// Step is a stage that a pass does.
type Step struct {
	Name string
	// Run does it and notes in the stage what it did; doing it again must be
	// harmless. The stage's name and time are not its business.
	Run func(ctx context.Context, idx Index, st *Stage) error
}

// steps are the stages of a pass in their order.
func (p Pass) steps() []Step {
	return slices.Concat([]Step{
		{"pending", p.pending},
		{"index", p.index},
		{"journal", p.journal},
		{"feedback", p.feedback},
		{"learn", p.learn},
		{"embed", p.embed},
		{"tiers", p.tiers},
		{"compact", p.compact},
		{"seal", p.seal},
		{"state", p.state},
	}, p.Further, []Step{{"health", p.health}})
}

// DefaultRest is a night's sleep: sessions are resumed within a day's work, and
// a log that is sealed too early is only sealed again.
const DefaultRest = 6 * time.Hour

// Stage is the outcome of one stage.
type Stage struct {
	Name   string `json:"stage"`
	Done   int    `json:"done"`             // things changed
	Before int64  `json:"before,omitempty"` // bytes on disk
	After  int64  `json:"after,omitempty"`
	Error  string `json:"error,omitempty"`
	TookMS int64  `json:"took_ms"`
}

// Run does every stage; one that fails is reported and does not keep the
// others from running.
func (p Pass) Run(ctx context.Context, idx Index) []Stage {
	var out []Stage
	for _, s := range p.steps() {
		var st Stage
		start := p.Now()
		if err := s.Run(ctx, idx, &st); err != nil {
			st.Error = err.Error()
		}
		st.Name, st.TookMS = s.Name, p.Now().Sub(start).Milliseconds()
		out = append(out, st)
	}
	return out
}

// pending captures the sessions that a hook left undone.
func (p Pass) pending(ctx context.Context, idx Index, st *Stage) (err error) {
	st.Done, err = p.CatchUp(ctx, idx)
	return err
}

// CatchUp captures the sessions that hooks left undone, and returns how many it
// captured. A session that could not be because something stood in the way for a
// while (a lock, a full disk, the end of ctx) stays noted; any other is left to
// its next hook or import, so that it does not hold up the sessions behind it.
// Two processes at once do the same twice, which changes nothing.
func (p Pass) CatchUp(ctx context.Context, idx capture.Index) (done int, err error) {
	work, err := p.Pending.Take()
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, w := range work {
		captured, err := p.Capture.CatchUp(ctx, idx, w)
		if captured {
			done++
		}
		errs = append(errs, err)
		if !passing(ctx, err) {
			errs = append(errs, p.Pending.Done(w))
		}
	}
	return done, errors.Join(errs...)
}

// passing reports that the same may succeed later.
func passing(ctx context.Context, err error) bool {
	code := archive.ErrorCode(err)
	return ctx.Err() != nil || code == archive.CodeBusy || code == archive.CodeDenied
}

// index reads every log that is ahead of the index.
func (p Pass) index(ctx context.Context, idx Index, st *Stage) error {
	report, err := p.Index(ctx, idx)
	st.Done = report.Sessions + report.Agents
	return errors.Join(err, failures(report.Failed))
}

// Index brings an index up to the logs: it reads every log that is ahead of it.
// One that cannot be read is in the report's Failed.
func (p Pass) Index(ctx context.Context, idx capture.Index) (capture.Report, error) {
	jobs, err := p.Capture.Logged(ctx)
	if err != nil {
		return capture.Report{}, err
	}
	var behind []capture.Job
	for _, j := range jobs {
		cur, err := idx.Cursor(ctx, j.Session)
		if err != nil {
			return capture.Report{}, err
		}
		if cur.Offset < j.Size || j.Size == 0 { // 0: a log that cannot be read, which Bulk reports
			behind = append(behind, j)
		}
	}
	return p.Capture.Bulk(ctx, idx, idx, behind, nil)
}

// Unindexed counts the sessions that are logged and that the index knows nothing
// of, as after its file was lost and a hook began a new one.
func (p Pass) Unindexed(ctx context.Context, idx capture.Index) (int, error) {
	jobs, err := p.Capture.Logged(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, j := range jobs {
		cur, err := idx.Cursor(ctx, j.Session)
		if err != nil {
			return 0, err
		}
		if lost(cur, j) {
			n++
		}
	}
	return n, nil
}

// lost reports that the index knows nothing of a session that is logged.
func lost(cur archive.Cursor, j capture.Job) bool { return cur.Generation == 0 && j.Size > 0 }

func failures(failed []capture.FileError) error {
	var errs []error
	for _, f := range failed {
		errs = append(errs, fmt.Errorf("%s: %w", f.Path, f.Err))
	}
	return errors.Join(errs...)
}

func (p Pass) journal(ctx context.Context, idx Index, _ *Stage) error {
	return p.Journal.Sync(ctx, idx)
}

// embed makes the vectors that are missing.
func (p Pass) embed(ctx context.Context, _ Index, st *Stage) (err error) {
	if p.Embed != nil {
		st.Done, err = p.Embed(ctx)
	}
	return err
}
