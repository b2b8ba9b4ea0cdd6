package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript/claude"
)

// FileAt asks for the content of a file. At is a handle or a time; the zero value is the
// newest session that read or changed the file.
type FileAt struct {
	Path   string // whole, or its end after a slash
	Handle string
	Until  time.Time
	Scope
}

// FileContent is the content of a file as a session knew it, exact and not redacted.
type FileContent struct {
	Path    string
	Handle  string // of the last step that read or changed the file
	Time    time.Time
	From    string // what it was rebuilt from
	Content string
}

// FileContent rebuilds a file from the reads, writes and edits of one session. It fails
// with CodeNotFound if the session knows only a part of it.
func (a *App) FileContent(ctx context.Context, q FileAt) (FileContent, error) {
	return read(ctx, a, func(x Archive) (out FileContent, err error) {
		f := archive.HistoryFilter{Path: q.Path, Kinds: []archive.CallKind{archive.CallRead, archive.CallEdit}}
		before := -1 // line of the session
		session := ""
		if q.Handle != "" {
			if session, before, err = lineAfter(ctx, x, q.Handle); err != nil {
				return out, err
			}
		} else if f.Projects, err = a.keys(ctx, x, q.Scope); err != nil {
			return out, err
		}
		touches, err := x.Index.History(ctx, f)
		if err != nil {
			return out, err
		}
		touches = archive.Select(touches, func(t archive.Touch) bool {
			return !t.Failed && (session == "" || t.Session == session && t.Line < before) && (q.Until.IsZero() || !t.Time.After(q.Until))
		})
		last, err := a.lastTouch(touches, q.Path)
		if err != nil {
			return out, err
		}
		if out, err = fileContent(ctx, x, last, touches); err == nil && endsCRLF(last.Path) && !strings.Contains(out.Content, "\r\n") {
			out.Content = strings.ReplaceAll(out.Content, "\n", "\r\n") // the client writes back what it hid
			out.From += ", with CRLF as in the present file"
		}
		return out, err
	})
}

// endsCRLF reports whether all line ends at the start of a file are CRLF.
func endsCRLF(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	ends := bytes.Count(head[:n], []byte("\n"))
	return ends > 0 && ends == bytes.Count(head[:n], []byte("\r\n"))
}

// lineAfter returns the session of a handle and the line after its place.
func lineAfter(ctx context.Context, x Archive, handle string) (session string, line int, err error) {
	h, err := archive.ParseHandle(handle)
	if err != nil {
		return "", 0, err
	}
	if session, err = x.Index.Resolve(ctx, h.Session); err != nil {
		return "", 0, err
	}
	if _, line, err = lineRange(ctx, x.Index, session, h); line == 0 {
		line = int(^uint(0) >> 1)
	}
	return session, line, err
}

// lastTouch returns the newest touch of the file. Several files with the path's end are
// an error unless one of them is the path.
func (a *App) lastTouch(touches []archive.Touch, path string) (last archive.Touch, err error) {
	if len(touches) == 0 {
		return last, archive.NotFound(fmt.Sprintf("no session read or changed %s", path), "--all looks in all projects; `strandline files "+path+"` lists the known versions")
	}
	var paths []string
	for _, t := range touches {
		if !slices.Contains(paths, t.Path) {
			paths = append(paths, t.Path)
		}
		if t.Path == a.Abs(path) || t.Path == path {
			return newestOf(touches, t.Path), nil
		}
	}
	if len(paths) > 1 {
		return last, &archive.Error{
			Code: archive.CodeAmbiguous, Msg: fmt.Sprintf("%d files end with %s", len(paths), path),
			Hint: "write the whole path: " + strings.Join(paths[max(len(paths)-8, 0):], ", "),
		}
	}
	return newestOf(touches, paths[0]), nil
}

func newestOf(touches []archive.Touch, path string) (last archive.Touch) {
	for _, t := range touches {
		if t.Path == path {
			last = t
		}
	}
	return last
}

func fileContent(ctx context.Context, x Archive, last archive.Touch, touches []archive.Touch) (out FileContent, err error) {
	tracker := claude.FileTracker{Path: last.Path}
	own := archive.Select(touches, func(t archive.Touch) bool { return t.Session == last.Session && t.Path == last.Path })
	_, to, err := lineRange(ctx, x.Index, last.Session, archive.Handle{Session: last.Session, Turn: last.Turn, Step: last.Step})
	if err != nil {
		return out, err
	}
	first := slices.MinFunc(own, func(s, t archive.Touch) int { return s.Line - t.Line })
	common, err := x.Capture.Common(last.Session)
	if err != nil {
		return out, err
	}
	err = x.Scan(ctx, last.Session, first.Line, to, func(no int, line []byte) error {
		tracker.Add(no, common(line))
		return nil
	})
	if err != nil {
		return out, err
	}
	handle := archive.Ref{Session: last.Session, Turn: last.Turn, Step: last.Step}.Handle()
	if !tracker.Known {
		why := tracker.Lost
		if why == "" {
			why = "no result of a read or a write is in the log"
		}
		return out, archive.NotFound(fmt.Sprintf("the content of %s is not known at %s: %s", last.Path, handle, why),
			"--at names an earlier handle or time; `strandline files "+last.Path+" --reads` lists them")
	}
	base := own[0]
	for _, t := range own {
		if t.Line <= tracker.BaseLine {
			base = t
		}
	}
	from := tracker.Base + " (" + archive.Ref{Session: base.Session, Turn: base.Turn, Step: base.Step}.Handle() + ")"
	switch {
	case tracker.Edits == 1:
		from += " and 1 edit"
	case tracker.Edits > 1:
		from += fmt.Sprintf(" and %d edits", tracker.Edits)
	}
	return FileContent{Path: last.Path, Handle: handle, Time: last.Time, From: from, Content: tracker.Content}, nil
}
