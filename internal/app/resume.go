package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/install"
	"strandline/internal/project"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Rebuilding selects how Rebuild and Resume restore a session's files.
type Rebuilding struct {
	To   string // folder instead of the client's
	Into string // working directory to resume in; "" is the one that the session had
	Mend bool   // relink rows whose parent is missing
	// FromLastCompaction leaves out the rows that a resume does not read.
	FromLastCompaction bool
}

// Rebuilt are the restored files of a session.
type Rebuilt struct {
	Session string
	Dir     string   // working directory to resume in
	Command []string // that continues the session
	client  string
	Reach   claude.Reach
	Files   []capture.RestoredFile
	from    archive.Project // that the session began in
}

// Rebuild writes a session's transcript, its sub-agents' transcripts and its tool
// outputs. It never changes an existing file with other content, except to mend or shorten a
// transcript of which the archive holds every byte.
func (a *App) Rebuild(ctx context.Context, session string, o Rebuilding) (out Rebuilt, err error) {
	w, id, err := a.loggedSession(ctx, session)
	if err != nil {
		return out, err
	}
	r, out, err := a.rebuilding(w, id, o)
	if err == nil && (r.Mend || r.FromLastCompaction) {
		r.Replace = true
		err = a.captureFirst(ctx, w, out, r)
	}
	if err != nil {
		return out, err
	}
	return a.rebuild(ctx, w, r, out)
}

// Resume restores the files of a session that the client cannot resume: they were deleted, its
// folder was moved, or its rows are not linked.
func (a *App) Resume(ctx context.Context, session string, o Rebuilding) (out Rebuilt, err error) {
	w, id, err := a.loggedSession(ctx, session)
	if err != nil {
		return out, err
	}
	r, out, err := a.rebuilding(w, id, o)
	if err != nil {
		return out, err
	}
	if out, r, err = a.findFolder(ctx, w, out, r); err != nil {
		return out, err
	}
	if err := a.captureFirst(ctx, w, out, r); err != nil {
		return out, err
	}
	if o.Into != "" {
		if err := a.mergeInto(ctx, out); err != nil {
			return out, err
		}
	}
	if out.Reach, err = w.Capture.Reach(ctx, out.Session); err != nil {
		return out, err
	}
	path, held, err := w.Capture.TranscriptPath(out.Session, r)
	if err != nil {
		return out, err
	}
	r.Mend = r.Mend || out.Reach.Reached < out.Reach.Turns
	r.Replace = true
	if info, err := os.Stat(path); err == nil && info.Size() >= held && !r.Mend && !r.FromLastCompaction {
		return out, nil
	}
	return a.rebuild(ctx, w, r, out)
}

// rebuilding converts o for the capture layer, and names the session and its folder.
func (a *App) rebuilding(w Workspace, id string, o Rebuilding) (r capture.Rebuilding, out Rebuilt, err error) {
	id, _, _ = strings.Cut(id, "~")
	r = capture.Rebuilding{Dir: a.Abs(o.To), Mend: o.Mend, FromLastCompaction: o.FromLastCompaction}
	path, err := w.Capture.LogOf(id)
	if err != nil {
		return r, out, err
	}
	h, _, err := sessionlog.ReadHeader(path)
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
		return r, out, err
	}
	client := w.Capture.ClientOf(h.Client)
	if roots := a.roots(client); o.To == "" && len(roots) > 0 {
		if r.Dir = roots[0]; client.New != nil {
			r.Dir = filepath.Dir(r.Dir)
		}
	}
	out.Session, out.Dir, out.from, out.client = id, h.Cwd, h.Project, h.Client
	out.Command = append(slices.Clone(client.Resume), cmp.Or(resumeID(w, client, id), id))
	if o.Into != "" {
		if out.Dir, err = filepath.EvalSymlinks(a.Abs(o.Into)); err != nil {
			return r, out, &archive.Error{Code: archive.CodeNotFound, Msg: "there is no folder " + o.Into, Err: err, Hint: "--into names the folder that the project is in now"}
		}
		r.Cwd = out.Dir
	}
	return r, out, nil
}

// resumeID returns the id by which the client knows a session, "" for the archive's.
func resumeID(w Workspace, client transcript.Client, session string) string {
	if client.ResumeID == nil {
		return ""
	}
	var first firstLine
	_ = w.Capture.Export(session, 0, &first) // firstLine ends it
	return client.ResumeID(first)
}

// firstLine is a writer that keeps the first line and fails after it.
type firstLine []byte

// Write implements io.Writer.
func (l *firstLine) Write(p []byte) (int, error) {
	line, _, more := bytes.Cut(p, []byte("\n"))
	if *l = append(*l, line...); more {
		return len(line), io.ErrShortWrite
	}
	return len(p), nil
}

// findFolder sets the folder of a session that was moved, unless it was given.
func (a *App) findFolder(ctx context.Context, w Workspace, out Rebuilt, r capture.Rebuilding) (Rebuilt, capture.Rebuilding, error) {
	if r.Cwd != "" {
		return out, r, nil
	}
	info, err := os.Stat(out.Dir)
	if err == nil && info.IsDir() {
		return out, r, nil
	}
	out.Dir, err = a.movedTo(ctx, w, out)
	r.Cwd = out.Dir
	return out, r, err
}

// movedTo returns the folder that a session's folder, which does not exist, was moved to.
func (a *App) movedTo(ctx context.Context, w Workspace, s Rebuilt) (dir string, err error) {
	old := w.Capture.Project(s.Dir)
	err = a.withIndex(ctx, w, ReadOnly, func(x Archive) error {
		known, err := x.Index.Projects(ctx)
		if err != nil {
			return err
		}
		here := x.Capture.Project(a.ProjectDir())
		for _, p := range known {
			if p.Project.Key == old.Key || p.Project.Root == old.Root || archive.FolderKey(p.Project.Root) == old.Key {
				old = p.Project
			}
		}
		for _, m := range project.Moves(append(known, archive.ProjectSummary{Project: here}), mayExist) {
			if rel, err := filepath.Rel(m.From.Root, s.Dir); err == nil && filepath.IsLocal(rel) {
				dir = filepath.Join(m.Into.Root, rel)
			}
		}
		return nil
	})
	if info, serr := os.Stat(dir); err == nil && (serr != nil || !info.IsDir()) {
		err = archive.NotFound("the session's folder "+s.Dir+" does not exist any more",
			"--into DIR names the folder where the project is now, for example: strandline resume "+s.Session[:min(8, len(s.Session))]+" --into .")
	}
	return dir, err
}

// mergeInto assigns a project whose folder does not exist any more to the folder in which one
// of its sessions is resumed.
func (a *App) mergeInto(ctx context.Context, s Rebuilt) error {
	if mayExist(s.from.Root) {
		return nil
	}
	_, err := a.MergeProjects(ctx, s.from.Key, s.Dir)
	if code := archive.ErrorCode(err); code == archive.CodeInvalid || code == archive.CodeNotFound {
		return nil // it was merged before
	}
	return err
}

// captureFirst logs what the client's file of a session holds, so that the archive has every
// byte of a file that is replaced.
func (a *App) captureFirst(ctx context.Context, w Workspace, of Rebuilt, r capture.Rebuilding) error {
	path, _, err := w.Capture.TranscriptPath(of.Session, r)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
		_, err := x.Capture.CatchUp(ctx, x.Index, capture.PendingWork{Client: of.client, Session: of.Session, Transcript: path})
		return err
	})
}

func (a *App) rebuild(ctx context.Context, w Workspace, r capture.Rebuilding, out Rebuilt) (_ Rebuilt, err error) {
	out.Files, err = w.Capture.Rebuild(ctx, out.Session, r)
	if archive.ErrorCode(err) == archive.CodeInternal && errors.As(err, new(*fs.PathError)) {
		err = &archive.Error{Code: archive.CodeDenied, Msg: "cannot write below " + r.Dir, Err: err, Hint: "--to names another folder"}
	}
	return out, err
}

// CommandLine returns a command as a line for a shell, run in dir.
func CommandLine(dir string, argv []string) string {
	words := archive.Convert(argv, func(s string) string { return install.Quote(s, runtime.GOOS) })
	return "cd " + install.Quote(dir, runtime.GOOS) + " && " + strings.Join(words, " ")
}

// ReachText describes the turns of a session that the client's resume misses, "" if none.
func ReachText(r claude.Reach) string {
	if r.Reached >= r.Turns {
		return ""
	}
	return fmt.Sprintf("the client's resume finds %d of its %d turns", r.Reached, r.Turns)
}

// Limits of checkReach: it reads the newest sessions, together at most this many bytes.
const (
	reachSessions = 20
	reachBytes    = 64 << 20
)

// checkReach reports newest sessions of which the client's resume finds a part only.
func (a *App) checkReach(ctx context.Context, x Archive) (out []Finding, err error) {
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{Limit: reachSessions})
	if err != nil {
		return nil, err
	}
	left := int64(reachBytes)
	for _, s := range list {
		if left -= s.Bytes; left < 0 || strings.Contains(s.ID, "@") {
			continue // too long, or replaced by a later generation
		}
		reach, err := x.Capture.Reach(ctx, s.ID)
		if err != nil {
			continue // verify reports damaged and missing logs
		}
		if text := ReachText(reach); text != "" {
			out = append(out, finding(install.LevelInfo, "resume", "session "+archive.ShortID(s.ID)+": "+text, "`strandline resume "+archive.ShortID(s.ID)+"` mends it"))
		}
	}
	return out, nil
}
