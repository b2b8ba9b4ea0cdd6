package app

import (
	"context"
	"errors"
	"io"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/transcript/claude"
)

// Outline is a session with its turns.
type Outline struct {
	Session
	TurnList []Turn   `json:"turn_list"`
	Files    []string `json:"files"` // names of the files that the client stores next to the transcript
}

// Turn is a turn in an outline.
type Turn struct {
	Handle string `json:"handle"`
	archive.Turn
	Copy string `json:"copy_of,omitempty"`
}

func newTurn(t archive.Turn) Turn {
	out := Turn{Handle: t.Ref().Handle(), Turn: t}
	if t.Copy != nil {
		out.Copy = t.Copy.Handle()
	}
	return out
}

// Outline returns a session's turns.
func (a *App) Outline(ctx context.Context, session string) (Outline, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (Outline, error) {
		info, err := x.Index.Session(ctx, id)
		if err != nil {
			return Outline{}, err
		}
		turns, err := x.Index.Turns(ctx, archive.Span{Session: id})
		if err != nil {
			return Outline{}, err
		}
		info.Retold = retold(turns)
		files, err := x.Capture.SideFiles(id)
		return Outline{newSession(info), archive.Convert(turns, newTurn), append([]string{}, files...)}, err
	})
}

// Block is one piece of a turn: a prompt, a reply, a tool call or its result. Its text
// is redacted.
type Block = claude.Block

// Call is one use of a tool.
type Call struct {
	Handle string `json:"handle"` // of its step
	archive.Call
	DurationMS int64 `json:"duration_ms,omitempty"`
}

func newCall(c archive.Call) Call { return Call{c.Ref().Handle(), c, c.Duration.Milliseconds()} }

// Place is a turn or a step: its redacted text and its calls.
type Place struct {
	Handle string  `json:"handle"`
	Blocks []Block `json:"blocks"`
	Calls  []Call  `json:"calls"`
	// Ref is the place, and Session its session.
	Ref     archive.Ref     `json:"-"`
	Session archive.Session `json:"-"`
	Steps   []archive.Step  `json:"-"` // of the turn
}

// Place returns a turn or a step. It fails with CodeCorrupt if there are calls in it and the
// log has lost all rows that a conversation consists of.
func (a *App) Place(ctx context.Context, at archive.Handle) (Place, error) {
	return readSession(ctx, a, at.Session, func(x Archive, id string) (Place, error) {
		blocks, err := x.Blocks(ctx, x.Index, id, at)
		if err != nil {
			return Place{}, err
		}
		span := archive.Span{Session: id, TurnFrom: at.Turn, TurnTo: at.Turn + 1}
		calls, err := x.Index.Calls(ctx, archive.CallSpan{Span: span})
		if err != nil {
			return Place{}, err
		}
		p := newPlace(archive.Ref{Session: id, Turn: at.Turn, Step: at.Step}, blocks, calls)
		if p.Session, err = x.Index.Session(ctx, id); err != nil {
			return Place{}, err
		}
		if len(p.Calls) > 0 && !slices.ContainsFunc(p.Blocks, Block.Conversation) {
			return Place{}, &archive.Error{
				Code: archive.CodeCorrupt, Msg: "the rows of " + p.Handle + " cannot be read from the log", Hint: "`strandline verify` names the damaged bytes",
			}
		}
		p.Steps, err = x.Index.Steps(ctx, span)
		return p, err
	})
}

// newPlace keeps of a turn's calls those of the step.
func newPlace(at archive.Ref, blocks []Block, calls []archive.Call) Place {
	own := archive.Select(calls, func(c archive.Call) bool { return at.Step < 0 || c.Step == at.Step })
	return Place{Handle: at.Handle(), Ref: at, Blocks: append([]Block{}, blocks...), Calls: archive.Convert(own, newCall)}
}

// RecordRecall notes in the journal that places were given to the model of the
// client's session.
func (a *App) RecordRecall(ctx context.Context, refs ...archive.Ref) error {
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	return w.Journal.RecordAccess(ctx, a.Getenv("CLAUDE_CODE_SESSION_ID"), refs)
}

// WriteLines writes the transcript lines of a session, a turn or a step, exact and
// not redacted.
func (a *App) WriteLines(ctx context.Context, at archive.Handle, out io.Writer) error {
	return a.reading(ctx, func(x Archive) error {
		id, err := a.sessionOrLatest(ctx, x, at.Session)
		if err != nil {
			return err
		}
		from, to, err := lineRange(ctx, x.Index, id, at)
		if err != nil {
			return err
		}
		return x.Scan(ctx, id, from, to, func(_ int, line []byte) error {
			_, err := out.Write(append(line, '\n'))
			return err
		})
	})
}

// Transcript is the exact bytes of a session's transcript, open for reading.
type Transcript struct {
	Session string // full ID
	Bytes   interface {
		io.ReaderAt
		io.Closer
	}
	Size int64
}

// Transcript opens a session's transcript. Generation 0 is the latest.
func (a *App) Transcript(ctx context.Context, session string, generation int) (Transcript, error) {
	w, id, err := a.loggedSession(ctx, session)
	if err != nil {
		return Transcript{}, err
	}
	r, err := w.Capture.Open(id, generation)
	if err != nil {
		return Transcript{}, err
	}
	return Transcript{Session: id, Bytes: r, Size: r.Position().Raw}, nil
}

// LoggedSession resolves a session that has a log. A full ID needs no index.
func (a *App) loggedSession(ctx context.Context, typed string) (w Workspace, id string, err error) {
	if w, err = a.Workspace(); err != nil {
		return w, "", err
	}
	h, err := archive.ParseHandle(typed)
	if err != nil {
		return w, "", err
	}
	if w.Capture.HasLog(h.Session) {
		return w, h.Session, nil
	}
	err = a.reading(ctx, func(x Archive) error {
		id, err = x.Index.Resolve(ctx, h.Session)
		return err
	})
	if archive.ErrorCode(err) == archive.CodeNotFound {
		if lost, lerr := w.Capture.LostLogs(h.Session, nil); lerr == nil && len(lost) > 0 {
			return w, h.Session, nil
		}
	}
	return w, id, err
}

// Export is a request for the exact bytes of a transcript or of a file that the
// client stores next to it.
type Export struct {
	Session    string
	File       string // name of the file; "" for the transcript
	Generation int    // of the transcript; 0 is the latest
}

// Export writes the exact bytes that e selects and returns the number of torn bytes at the
// end of the log. A damaged log is CodeCorrupt after everything readable is written, with
// spaces and newlines in the place of the rest.
func (a *App) Export(ctx context.Context, e Export, out io.Writer) (damaged int64, err error) {
	w, id, err := a.loggedSession(ctx, e.Session)
	if err != nil {
		return 0, err
	}
	if e.File != "" {
		return 0, w.Capture.ExportFile(id, e.File, out)
	}
	err = w.Capture.Export(id, e.Generation, out)
	if e.Generation == 0 && (err == nil || archive.ErrorCode(err) == archive.CodeNotFound) {
		err = errors.Join(a.lossOf(ctx, w, id), err)
	}
	if err != nil {
		return 0, err
	}
	return w.Capture.DamagedBytes(id, e.Generation)
}

// lossOf returns a CodeCorrupt error if a session's transcript was deleted or shortened.
func (a *App) lossOf(ctx context.Context, w Workspace, id string) error {
	lost, err := a.lostLogs(ctx, w, id)
	if err != nil {
		return err
	}
	path, err := w.Capture.LogOf(id)
	if err != nil {
		path, _ = w.Capture.Manifest().LogOf(id) // an unreadable manifest lists nothing
	}
	for _, l := range lost {
		if l.Path == path {
			return &archive.Error{Code: archive.CodeCorrupt, Msg: l.String(), Hint: "restore " + path + " from a backup if you have one"}
		}
	}
	return nil
}
