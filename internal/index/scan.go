package index

import (
	"slices"
	"time"

	"strandline/internal/archive"
)

// Scan reads the columns of a row into what dest points at.
type Scan = func(dest ...any) error

// PassageColumns are what ReadPassage reads, of both stores' tables.
const PassageColumns = "turn, step, seq, kind, label, paths, line_from, line_to, time, partial, text"

// copied returns the reference that a row keeps of where it was copied from.
func copied(at archive.Ref) *archive.Ref {
	if at.Session == "" {
		return nil
	}
	return &at
}

// ReadTurn reads a turn: its number, the columns of its own, of which the copy's
// session is a number, and that session's id.
func ReadTurn(scan Scan, session string) (archive.Turn, error) {
	x := archive.Turn{Session: session}
	var start, end, owner int64
	var at archive.Ref
	err := scan(&x.Index, &x.Title, &x.PromptID, &start, &end, &x.LineFrom, &x.LineTo, &x.Steps, &x.Dead,
		&owner, &at.Turn, &at.Step, &at.Session)
	x.Start, x.End = Instant(start), Instant(end)
	x.Copy = copied(at)
	return x, err
}

// ReadStep reads a step in the same form.
func ReadStep(scan Scan, session string) (archive.Step, error) {
	x := archive.Step{Session: session}
	var at, owner int64
	var from archive.Ref
	err := scan(&x.Turn, &x.Index, &x.MessageID, &x.Model, &at, &x.LineFrom, &x.LineTo, &x.Usage.Input, &x.Usage.Output,
		&x.Usage.CacheRead, &x.Usage.CacheWrite, &x.Stop, &x.APIError, &x.Sidechain, &owner, &from.Turn, &from.Step, &from.Session)
	x.Time = Instant(at)
	x.Copy = copied(from)
	return x, err
}

// ReadCall returns what reads a call of a tool as it was at a line, if that is not
// 0: one whose result stands there or later has no outcome yet.
func ReadCall(beforeLine int) func(scan Scan, session string) (archive.Call, error) {
	return func(scan Scan, session string) (archive.Call, error) {
		x := archive.Call{Session: session}
		var files string
		var duration int64
		err := scan(&x.Turn, &x.Step, &x.Seq, &x.ToolID, &x.Name, &x.Kind, &x.Command, &files, &x.Exit, &x.Failed, &x.Error,
			&duration, &x.LineUse, &x.LineResult)
		if err != nil {
			return x, err
		}
		x.Duration = time.Duration(duration)
		if x.Files, err = DecodeList(files); err != nil {
			return x, err
		}
		if beforeLine > 0 && x.LineResult >= beforeLine {
			x.LineResult, x.Exit, x.Failed, x.Error, x.Duration = -1, nil, false, "", 0
		}
		return x, nil
	}
}

// ReadPassage reads PassageColumns into x, and what is selected behind them into
// more.
func ReadPassage(scan Scan, x *archive.Passage, more ...any) error {
	var paths string
	var at int64
	dest := append([]any{&x.Turn, &x.Step, &x.Seq, &x.Kind, &x.Label, &paths, &x.LineFrom, &x.LineTo, &at, &x.Partial, &x.Text}, more...)
	err := scan(dest...)
	if err != nil {
		return err
	}
	x.Time = Instant(at)
	x.Paths, err = DecodeList(paths)
	return err
}

// ReadFile reads that a call touched a file.
func ReadFile(scan Scan, session string) (archive.FileTouch, error) {
	x := archive.FileTouch{Session: session}
	var at int64
	err := scan(&x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, &at)
	x.Time = Instant(at)
	return x, err
}

// ReadTask reads an event of a task.
func ReadTask(scan Scan, session string) (archive.TaskEvent, error) {
	x := archive.TaskEvent{Session: session}
	var at int64
	err := scan(&x.Line, &x.Seq, &x.TaskID, &x.Subject, &x.Status, &at, &x.Turn, &x.Step)
	x.Time = Instant(at)
	return x, err
}

// ReadCompaction returns what reads a compaction as it was at a line, if that is
// not 0: a summary that stands there or later is not there yet.
func ReadCompaction(beforeLine int) func(scan Scan, session string) (archive.Compaction, error) {
	return func(scan Scan, session string) (archive.Compaction, error) {
		x := archive.Compaction{Session: session}
		var at, duration int64
		err := scan(&x.Index, &x.Line, &at, &x.Trigger, &x.PreTokens, &x.PostTokens, &duration, &x.SummaryLine, &x.Kept, &x.Ours, &x.Turn)
		x.Time, x.Duration = Instant(at), time.Duration(duration)
		if beforeLine > 0 && x.SummaryLine >= beforeLine {
			x.SummaryLine = -1
		}
		return x, err
	}
}

// ReadSession reads a session: its id, what a store has of its own, the columns of
// all stores, and its project as it was written down, which names resolves.
func ReadSession(scan Scan, names *Projects, x *archive.Session, own ...any) error {
	var project, first, last, api, duration int64
	var p archive.Project
	dest := append([]any{&x.ID}, own...)
	err := scan(append(dest, &x.Client, &project, &p.Worktree, &x.Parent, &x.Relation, &x.Agent.ID, &x.Agent.Type, &x.Agent.Description,
		&x.Cwd, &x.GitBranch, &x.Version, &x.Model, &x.Title, &first, &last, &x.Generation, &x.Bytes, &x.Lines,
		&x.Turns, &x.Steps, &x.Calls, &x.Compacts, &x.Usage.Input, &x.Usage.Output, &x.Usage.CacheRead, &x.Usage.CacheWrite,
		&x.Cost.USD, &api, &duration, &x.Cost.Turns, &x.Cost.LinesAdded, &x.Cost.LinesGone,
		&p.Key, &p.Name, &p.Root, &p.Remote)...)
	x.First, x.Last = Instant(first), Instant(last)
	x.Cost.APITime, x.Cost.Duration = time.Duration(api), time.Duration(duration)
	x.Project = names.Resolve(p)
	return err
}

// ReadTouch reads one row of a file's history, its project's number behind it.
// wanted reports whether the filter, whose projects have these numbers, lets it
// through.
func ReadTouch(scan Scan, f archive.HistoryFilter, projects []int64) (x archive.Touch, wanted bool, err error) {
	var at, project int64
	err = scan(&x.Session, &x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, &at, &x.Tool, &x.Command, &x.Failed, &project)
	x.Time = Instant(at)
	switch {
	case len(f.Projects) > 0 && !slices.Contains(projects, project):
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, x.Kind):
	case !f.Since.IsZero() && x.Time.Before(f.Since):
	case x.Command != "" && !NamesFile(x.Command, f.Path):
	default:
		wanted = true
	}
	return x, wanted, err
}

// ReadProject reads a project and the sums of its sessions.
func ReadProject(scan Scan) (archive.ProjectSummary, error) {
	var x archive.ProjectSummary
	var first, last int64
	p := &x.Project
	err := scan(&p.Key, &p.Name, &p.Root, &p.Remote, &x.Sessions, &x.Agents, &x.Turns, &x.Bytes, &first, &last)
	x.First, x.Last = Instant(first), Instant(last)
	return x, err
}
