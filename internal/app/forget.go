package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// Deletion is a planned or completed deletion. Either Session or Part is set.
type Deletion struct {
	Session *SessionDeletion
	Part    *PartDeletion
	// DeletionOutcome is that of Session or Part.
	*DeletionOutcome
	// Progress, unless nil, is called while the index is rebuilt.
	Progress func(capture.Progress)
	// Warning, unless nil, is why vectors are missing after the deletion.
	Warning error
	// Damaged, unless nil, is why entries of the journal could not be searched.
	Damaged error

	samples []string // texts to search the archive for afterwards
	// begin records the deletion. Then the sessions, or parts of them, are erased.
	begin           func(ctx context.Context, w Workspace) error
	sessions, parts []string
}

// SessionDeletion is the deletion of a session.
type SessionDeletion struct {
	Session string    `json:"session"`
	Title   string    `json:"title,omitempty"`
	Project string    `json:"project,omitempty"`
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Turns   int       `json:"turns"`
	Bytes   int64     `json:"bytes"` // of transcripts
	Logs    int       `json:"logs"`
	Facts   int       `json:"facts"` // of the journal
	// Related are sessions that share rows with it: its forks and its origin.
	Related []string `json:"related"`
	DeletionOutcome
}

// PartDeletion is the deletion of a turn or a step.
type PartDeletion struct {
	Handle   string   `json:"handle"`
	Title    string   `json:"title,omitempty"` // of the turn
	Lines    int      `json:"lines"`
	Bytes    int64    `json:"bytes"` // of the transcript
	Notes    int      `json:"notes"` // other lines, metadata of the client
	Files    []string `json:"files"`
	Sessions []string `json:"sessions"` // whose logs are searched for copies
	// Also are handles of turns that repeat its texts. They stay.
	Also []string `json:"also"`
	// Resumed reports that an interrupted call began the deletion.
	Resumed bool `json:"-"`
	DeletionOutcome
}

// DeletionOutcome is the result of a deletion.
type DeletionOutcome struct {
	// Client is the client's transcript, if it exists. It stays.
	Client string `json:"client_file,omitempty"`
	// Places are those of archive push and pull: they may hold it until the next push.
	Places []string `json:"places,omitempty"`
	Done   bool     `json:"done"`
	Proof  *Proof   `json:"proof,omitempty"`
}

// Result is the deletion as JSON.
func (d *Deletion) Result() any {
	if d.Session != nil {
		return d.Session
	}
	return d.Part
}

// PlanForget plans the deletion of a session, a turn or a step.
func (a *App) PlanForget(ctx context.Context, typed string) (*Deletion, error) {
	w, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	d, err := a.planForget(ctx, w, typed)
	if err != nil {
		return d, err
	}
	d.Places = archive.Convert(w.Exchanges(), func(e Exchanged) string { return e.Place })
	return d, nil
}

func (a *App) planForget(ctx context.Context, w Workspace, typed string) (*Deletion, error) {
	h, err := archive.ParseHandle(typed)
	switch {
	case err != nil:
		return nil, err
	case h.Turn >= 0:
		return a.planPart(ctx, w, typed)
	case archive.IsAgentID(h.Session):
		return nil, archive.Invalid("a sub-agent's run cannot be forgotten alone", "it is deleted with its session, or with the turn that started it")
	}
	return a.planSession(ctx, w, typed, h.Session)
}

// Forget deletes for good. Then it searches every file of the archive for samples
// of the deleted texts and for the given ones.
func (a *App) Forget(ctx context.Context, d *Deletion, texts []string) error {
	return a.locked("maintain", "maintenance run", func(w Workspace) error {
		err := a.proveSpace(ctx, w, d.Progress)
		if err == nil {
			err = d.begin(ctx, w)
		}
		if err != nil {
			return err
		}
		if d.Warning, err = a.erase(ctx, w, d.sessions, d.parts, d.Progress); err != nil {
			return fmt.Errorf("the deletion has begun, and `strandline maintain` completes it: %w", err)
		}
		d.Done = true
		if d.Damaged, err = journalDamage(ctx, w); err != nil {
			return err
		}
		proof, err := Prove(ctx, w.Config.Paths.Home, append(d.samples, texts...))
		if err == nil {
			d.Proof = &proof
		}
		return err
	})
}

// journalDamage returns the damage of the journal, nil if there is none.
func journalDamage(ctx context.Context, w Workspace) (damage, err error) {
	err = w.Journal.Log.Verify(ctx, func(_ string, _ sessionlog.VerifyReport, err error) { damage = errors.Join(damage, err) })
	return damage, err
}

// erase completes the deletion of forgotten sessions, and of parts of the sessions in
// parts. warning is why vectors are missing.
func (a *App) erase(ctx context.Context, w Workspace, sessions, parts []string, progress func(capture.Progress)) (warning, err error) {
	if _, err = w.EraseSessions(ctx, sessions); err == nil {
		_, err = w.EraseParts(ctx, parts)
	}
	if err == nil {
		warning, err = a.rebuildDerived(ctx, w, progress)
	}
	if err == nil {
		err = errors.Join(w.EndForget(sessions), w.EndParts(parts))
	}
	return warning, err
}

// Free space from which a deletion needs no proof: an index is at most as large as the
// transcripts, which the logs hold compressed.
const (
	roomyFactor = 40
	roomyBase   = 256 << 20
)

// deletionSpace is kept free while the space is proved, for the small files in which a
// deletion is recorded.
const deletionSpace = 256 << 10

// proveSpace fails unless the disk has the space of a deletion, which rebuilds the
// index: otherwise it would end after the logs are deleted and before the index is
// replaced. On a disk that is nearly full it builds the index once on trial.
func (a *App) proveSpace(ctx context.Context, w Workspace, progress func(capture.Progress)) error {
	home, need := w.Config.Paths.Home, roomyFactor*(treeSize(w.File("log"))+w.indexBytes())+roomyBase
	if free, ok := a.System.DiskFree(home); ok && free >= need {
		return nil
	}
	lock, err := w.Lock("reindex", "reindex")
	if err != nil {
		return err
	}
	defer lock.Release() // also released when the process ends
	jobs, err := w.Capture.LoggedJobs(ctx)
	if err != nil {
		return err
	}
	trial, reserve := w.Config.Paths.Index()+".new", w.Config.Paths.Index()+".space"
	if err = state.ReplaceSynced(reserve, make([]byte, deletionSpace)); err == nil {
		_, err = a.buildIndex(ctx, w, trial, jobs, progress)
	}
	err = errors.Join(err, removeIndex(trial), state.Remove(reserve))
	if err == nil || ctx.Err() != nil || archive.ErrorCode(err) == archive.CodeBusy {
		return err
	}
	return &archive.Error{
		Code: archive.CodeDenied, Msg: "nothing was deleted: the disk has no space for a second index", Err: err,
		Hint: fmt.Sprintf("free about %d MB and repeat the command", 3*w.indexBytes()>>20+1),
	}
}

// rebuildDerived rebuilds the index and the vectors: a database only marks deleted
// rows as free, and they would stay in its file.
func (a *App) rebuildDerived(ctx context.Context, w Workspace, progress func(capture.Progress)) (warning, err error) {
	hadVectors := false
	err = a.ifIndexed(ctx, w, func(x Archive) error {
		sets, err := x.Index.VectorSets(ctx)
		hadVectors = len(sets) > 0
		return err
	})
	if err == nil {
		_, err = a.rebuildIndex(ctx, w, progress)
	}
	if err == nil {
		err = removeVectorFiles(w.Config.Paths.Vectors())
	}
	if err != nil || !hadVectors {
		return nil, err
	}
	return a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
		_, err := a.embedAll(ctx, x)
		return err
	}), nil
}

// removeVectorFiles removes the files that are derived from vectors; the next search
// writes them again.
func removeVectorFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != ".lock" { // a writer may hold it
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("delete vectors: %w", err)
	}
	return nil
}

// maxSamples is how many texts the archive is searched for after a deletion.
const maxSamples = 64

// planSession plans the deletion of a session. A deletion that was interrupted is
// found by the marker file, since the index may no longer have the session.
func (a *App) planSession(ctx context.Context, w Workspace, typed, session string) (*Deletion, error) {
	s := &SessionDeletion{Related: []string{}}
	d := &Deletion{Session: s, DeletionOutcome: &s.DeletionOutcome}
	d.begin = func(ctx context.Context, w Workspace) error {
		d.sessions = []string{s.Session}
		return w.BeginForget(ctx, s.Session, archive.ForgetAsked)
	}
	forgotten, err := w.Capture.Forgotten().List()
	if err != nil {
		return nil, err
	}
	for id := range forgotten {
		if id == session || len(session) >= 8 && strings.HasPrefix(id, session) {
			s.Session = id
			return d, nil
		}
	}
	return d, a.withIndex(ctx, w, ReadOnly, func(x Archive) error {
		_, id, err := resolveSession(ctx, x.Index, typed)
		if err == nil {
			id, _, _ = strings.Cut(id, "@")
			d.samples, err = x.describeSession(ctx, id, s)
			return err
		}
		// Of a session without a transcript, the journal may hold what programs posted.
		size, serr := x.SessionSize(ctx, typed)
		if archive.ErrorCode(err) != archive.CodeNotFound || serr != nil || size.Facts == 0 {
			return errors.Join(err, serr)
		}
		*s = size
		s.Session, s.Title, s.Related = typed, "facts that programs posted", []string{}
		return nil
	})
}

// describeSession fills in the deletion of a session, and returns samples
// of its texts.
func (x Archive) describeSession(ctx context.Context, id string, out *SessionDeletion) ([]string, error) {
	s, err := x.Index.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	if *out, err = x.SessionSize(ctx, id); err != nil {
		return nil, err
	}
	out.Session, out.Title, out.Project, out.First, out.Last, out.Turns = id, s.Title, ProjectPath(s.Project), s.First, s.Last, s.Turns
	out.Related = []string{}
	if s.Relation == archive.RelationFork {
		out.Related = append(out.Related, s.Parent)
	}
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return nil, err
	}
	for _, other := range list {
		if other.Parent == id && other.Relation == archive.RelationFork {
			out.Related = append(out.Related, other.ID)
		}
	}
	slices.Sort(out.Related)
	passages, err := x.Index.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: id}})
	if err != nil {
		return nil, err
	}
	return x.Samples(ctx, id, passages, maxSamples)
}

// planPart plans the deletion of a turn or a step.
func (a *App) planPart(ctx context.Context, w Workspace, typed string) (*Deletion, error) {
	var ref archive.Ref
	d := &Deletion{}
	err := a.withIndex(ctx, w, ReadOnly, func(x Archive) error {
		h, id, err := resolveSession(ctx, x.Index, typed)
		ref = archive.Ref{Session: id, Turn: h.Turn, Step: h.Step}
		if err == nil && strings.ContainsAny(id, "~@") {
			err = archive.Invalid("a turn is forgotten in its session", "name the session itself: the turn's rows in sub-agents' runs and older generations are deleted with it")
		}
		if err == nil {
			err = a.describePart(ctx, x, ref, d)
		}
		return err
	})
	if archive.ErrorCode(err) != archive.CodeNotFound {
		return d, err
	}
	// An interrupted call may have deleted the lines, but not the derived data.
	of, perr := w.Capture.ForgottenParts().Of(ref.Session)
	if perr != nil || !of.Open {
		return nil, errors.Join(err, perr)
	}
	d.Part = &PartDeletion{Handle: ref.Handle(), Files: []string{}, Sessions: []string{ref.Session}, Also: []string{}, Resumed: true}
	d.DeletionOutcome, d.samples = &d.Part.DeletionOutcome, of.Samples
	d.begin = func(ctx context.Context, w Workspace) (err error) {
		d.parts, err = w.OpenParts(ctx)
		return err
	}
	return d, nil
}

func (a *App) describePart(ctx context.Context, x Archive, ref archive.Ref, d *Deletion) error {
	target, title, err := x.target(ctx, ref)
	if err != nil {
		return err
	}
	plan, err := x.PlanPart(ctx, target, maxSamples)
	if err != nil {
		return err
	}
	size, err := x.SessionSize(ctx, ref.Session)
	if err != nil {
		return err
	}
	turns, err := x.Index.Turns(ctx, archive.Span{Session: ref.Session})
	if err != nil {
		return err
	}
	also := archive.Convert(plan.Also, func(line int) string { return turnAt(ref.Session, turns, line) })
	d.Part = &PartDeletion{
		Handle: ref.Handle(), Title: title, Lines: plan.Lines, Bytes: plan.Bytes, Notes: plan.Echoes,
		Files: append([]string{}, plan.Part.Files...), Sessions: plan.Part.Sessions, Also: slices.Compact(also),
		DeletionOutcome: DeletionOutcome{Client: size.Client},
	}
	d.DeletionOutcome, d.samples, d.parts = &d.Part.DeletionOutcome, plan.Samples, plan.Part.Sessions
	d.begin = func(ctx context.Context, w Workspace) error { return w.BeginPart(ctx, ref, plan) }
	return nil
}

// turnAt returns the handle of the turn that contains a line.
func turnAt(session string, turns []archive.Turn, line int) string {
	ref := archive.Ref{Session: session, Step: -1}
	for _, t := range turns {
		if t.LineFrom <= line {
			ref.Turn = max(ref.Turn, t.Index)
		}
	}
	return ref.Handle()
}

// target reads a turn or a step, and the turn's title, from the index.
func (x Archive) target(ctx context.Context, ref archive.Ref) (Target, string, error) {
	t := Target{Ref: ref, LineTo: 1 << 31}
	span := archive.Span{Session: ref.Session, TurnFrom: ref.Turn, TurnTo: ref.Turn + 2}
	turns, err := x.Index.Turns(ctx, span)
	if err != nil {
		return t, "", err
	}
	if len(turns) == 0 || turns[0].Index != ref.Turn {
		return t, "", archive.NotFound("unknown turn "+ref.Handle(), "`strandline show "+archive.ShortID(ref.Session)+"` lists the turns")
	}
	t.LineFrom = turns[0].LineFrom
	if len(turns) > 1 {
		t.LineTo = turns[1].LineFrom
	}
	span.TurnTo = ref.Turn + 1
	if ref.Step >= 0 {
		steps, err := x.Index.Steps(ctx, span)
		if err != nil {
			return t, "", err
		}
		at := slices.IndexFunc(steps, func(s archive.Step) bool { return s.Index == ref.Step })
		if at < 0 {
			return t, "", archive.NotFound("unknown step "+ref.Handle(), "")
		}
		t.LineFrom, t.LineTo, t.Message = steps[at].LineFrom, max(steps[at].LineTo, steps[at].LineFrom+1), steps[at].MessageID
	}
	passages, err := x.Index.Passages(ctx, archive.PassageSpan{Span: span})
	if err != nil {
		return t, "", err
	}
	for _, p := range passages {
		if ref.Step >= 0 && p.Step != ref.Step {
			continue
		}
		t.Texts = append(t.Texts, p.Text)
		if p.Kind == archive.KindPrompt {
			t.Prompts = append(t.Prompts, p.Text)
		}
	}
	t.Sessions, err = x.forks(ctx, ref.Session)
	return t, turns[0].Title, err
}

// forks lists a session, its forks and its origin, recursively: all hold
// copies of the same rows.
func (x Archive) forks(ctx context.Context, session string) ([]string, error) {
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return nil, err
	}
	out := []string{session}
	for i := 0; i < len(out); i++ {
		for _, s := range list {
			id, other := archive.Owner(s.ID), archive.Owner(s.Parent)
			if other == out[i] {
				id, other = other, id
			}
			if s.Relation == archive.RelationFork && id == out[i] && other != "" && !slices.Contains(out, other) {
				out = append(out, other)
			}
		}
	}
	return out, nil
}
