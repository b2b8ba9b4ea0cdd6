package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// Segment is a stretch of finished work. The shape is that of older tools' files,
// with its place.
type Segment struct {
	archive.Segment
	Handle   string            `json:"handle"`
	Tier     archive.Tier      `json:"tier"`
	Pending  bool              `json:"pending"`
	Pruned   bool              `json:"pruned,omitempty"`
	Versions []archive.Segment `json:"versions,omitempty"`
}

// newSegment returns a segment with its relevance when its session has steps steps.
func newSegment(e task.Entry, steps int) Segment {
	e.Relevance = task.Relevance(e.Segment, steps)
	return Segment{
		Segment: e.Segment, Tier: e.Tier, Pending: e.Pending, Pruned: e.Pruned, Versions: e.Versions,
		Handle: archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}.Handle(),
	}
}

func segments(s *task.State, pending bool, steps int) []Segment {
	entries := s.Entries
	if pending {
		entries = s.Pending()
	}
	return archive.Convert(entries, func(e task.Entry) Segment { return newSegment(e, steps) })
}

// SegmentsQuery selects segments.
type SegmentsQuery struct {
	Session string // handle or ID; "" for the latest session of the project
	All     bool   // of all sessions
	Pending bool   // only segments without a summary
}

// Segments lists segments.
func (a *App) Segments(ctx context.Context, q SegmentsQuery) ([]Segment, error) {
	if q.All {
		return readAllSegments(ctx, a, ReadOnly, func(_ Archive, s *task.State) ([]Segment, error) { return segments(s, q.Pending, 0), nil })
	}
	return readSegments(ctx, a, q.Session, func(x Archive, id string, s *task.State) ([]Segment, error) {
		info, err := x.Index.Session(ctx, id)
		return segments(s, q.Pending, info.Steps), err
	})
}

// readSegments is readSession with the state of the session's segments.
func readSegments[T any](ctx context.Context, a *App, session string, do func(x Archive, id string, s *task.State) (T, error)) (T, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (out T, err error) {
		s, err := task.LoadState(ctx, x.Index, id)
		if err == nil {
			out, err = do(x, id, s)
		}
		return out, err
	})
}

// readAllSegments calls do with the state of the segments of all sessions.
func readAllSegments[T any](ctx context.Context, a *App, mode Mode, do func(x Archive, s *task.State) (T, error)) (out T, err error) {
	err = a.withArchive(ctx, mode, func(x Archive) error {
		s, err := task.LoadState(ctx, x.Index, "")
		if err == nil {
			out, err = do(x, s)
		}
		return err
	})
	return out, err
}

// SearchSegments finds summaries by their words. archived includes the tier L3.
func (a *App) SearchSegments(ctx context.Context, words string, archived bool) ([]Segment, error) {
	return readAllSegments(ctx, a, ReadOnly, func(_ Archive, s *task.State) ([]Segment, error) {
		return archive.Convert(s.Search(words, archived), func(e task.Entry) Segment { return newSegment(e, e.End) }), nil
	})
}

// Segment returns the segment with this ID or ID prefix. If the client's model runs
// this process, reading a summary is recorded as use.
func (a *App) Segment(ctx context.Context, id string) (Segment, error) {
	mode, byModel := ReadOnly, a.Getenv("CLAUDECODE") != ""
	if byModel {
		mode = ReadWrite
	}
	return readAllSegments(ctx, a, mode, func(x Archive, s *task.State) (Segment, error) {
		e, err := s.Find(id)
		if err == nil && e.Content != "" && byModel {
			err = recordSegments(ctx, x, e.Session, archive.SegmentFact{Event: archive.SegmentRead, Segment: archive.Segment{ID: e.ID, Session: e.Session}})
		}
		return newSegment(e, e.End), err
	})
}

// SegmentQueue returns a session's queue in the shape of older tools' files.
func (a *App) SegmentQueue(ctx context.Context, session string) (task.Queue, error) {
	return readSegments(ctx, a, session, func(x Archive, id string, s *task.State) (task.Queue, error) {
		h, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return task.Queue{}, err
		}
		return h.Queue(s), nil
	})
}

// ResetSegmentCheck makes the next hook of a session check its segments. It returns
// the session's ID.
func (a *App) ResetSegmentCheck(ctx context.Context, session string) (string, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (string, error) { return id, x.Marks().Reset(id) })
}

// ExportSegments writes a session's segments into dir as older tools store them and
// returns the number of files. Files of the same name are replaced.
func (a *App) ExportSegments(ctx context.Context, session, dir string) (int, error) {
	return readSegments(ctx, a, session, func(x Archive, id string, s *task.State) (int, error) {
		h, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return 0, err
		}
		files, err := h.Files(s, a.Now())
		if err != nil {
			return 0, err
		}
		for name, data := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
				return 0, &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + dir, Err: err}
			}
		}
		return len(files), nil
	})
}

// summarizeAll is a share of the context window above every threshold.
const summarizeAll = 2

// SegmentCheck is a check for finished work.
type SegmentCheck struct {
	Session string
	Share   float64 // of the context window that is taken as used; 0: above all thresholds
	IfDue   bool    // use the recorded share, and update the hooks' check state
}

// SegmentChecked is the result of a check.
type SegmentChecked struct {
	Facts     []archive.SegmentFact
	Summaries int // number before the check
}

// CheckSegments looks for finished work in a session and records the results.
func (a *App) CheckSegments(ctx context.Context, c SegmentCheck) (out SegmentChecked, err error) {
	err = a.changeSegments(ctx, c.Session, func(x Archive, id string, h *task.History, s *task.State) error {
		if c.IfDue && x.Config.Segments.Disabled {
			return nil
		}
		share := cmp.Or(c.Share, summarizeAll)
		if c.Share == 0 && c.IfDue && !x.Config.Segments.ForceCheck {
			known, _ := usage.Store{Dir: x.Config.Paths.State()}.Session(id)
			share = min(known.LastPercentage, 1) // 0 after a compaction
		}
		out = SegmentChecked{append([]archive.SegmentFact{}, h.Check(s, share, x.SegmentOptions(), a.Now())...), len(s.Summarised())}
		if err := recordSegments(ctx, x, id, out.Facts...); err != nil || !c.IfDue {
			return err
		}
		return updateCheckState(ctx, x, id, share, len(h.Steps))
	})
	return out, err
}

// updateCheckState notes for the hooks the number of pending segments and the
// highest threshold that share exceeds.
func updateCheckState(ctx context.Context, x Archive, id string, share float64, steps int) error {
	s, err := task.LoadState(ctx, x.Index, id)
	if err != nil {
		return err
	}
	c := x.Marks().Read(id)
	c.Checked, c.Pending, c.Crossed = max(c.Checked, steps), len(s.Pending()), 0
	for _, percent := range []int{x.Config.Segments.QueueAt, x.Config.Segments.SummariseAt, x.Config.Segments.ArchiveAt} {
		if share >= float64(percent)/100 {
			c.Crossed = max(c.Crossed, percent)
		}
	}
	c.Reminded = min(c.Reminded, c.Crossed)
	return x.Marks().Write(id, c)
}

// pruneSegments reduces old archived summaries to their text.
func (a *App) pruneSegments(ctx context.Context, x Archive) (int, error) {
	if x.Config.Segments.Disabled {
		return 0, nil
	}
	s, err := task.LoadState(ctx, x.Index, "")
	if err != nil {
		return 0, err
	}
	facts := s.Prune(x.SegmentOptions(), a.Now())
	return len(facts), recordSegments(ctx, x, "", facts...)
}

// SaveSegment stores a written summary of a segment and reports the result. An
// empty session is the segment's own. A rejected summary changes nothing.
func (a *App) SaveSegment(ctx context.Context, session string, d task.Draft) (report string, err error) {
	if session == "" {
		if session, err = a.sessionOfSegment(ctx, d.Segment); err != nil {
			return "", err
		}
	}
	err = a.changeSegments(ctx, session, func(x Archive, id string, h *task.History, s *task.State) error {
		d.Text, d.NoFiles = x.Redact(d.Text), x.Redact(d.NoFiles)
		saved, err := h.Save(s, d, a.Now())
		if err != nil {
			return err
		}
		fact := archive.SegmentFact{Event: archive.SegmentSaved, Segment: saved}
		report = task.Report([]archive.SegmentFact{fact})
		return recordSegments(ctx, x, id, fact)
	})
	return report, err
}

// sessionOfSegment returns the session of a known segment, or "".
func (a *App) sessionOfSegment(ctx context.Context, segment string) (string, error) {
	return readAllSegments(ctx, a, ReadOnly, func(_ Archive, s *task.State) (string, error) {
		e, err := s.Find(segment)
		if archive.ErrorCode(err) == archive.CodeNotFound {
			return "", nil
		}
		return e.Session, err
	})
}

// ClearSegments empties a session's queue or, if summaries is set, takes its summaries out
// of use, and returns the number of segments.
func (a *App) ClearSegments(ctx context.Context, session string, summaries bool) (n int, err error) {
	err = a.changeSegments(ctx, session, func(x Archive, id string, _ *task.History, s *task.State) error {
		which, event := s.Pending(), archive.SegmentCleared
		if summaries {
			which = archive.Select(s.Entries, func(e task.Entry) bool { return e.Session == id && e.Content != "" })
			event = archive.SegmentRemoved
		}
		n = len(which)
		return recordSegments(ctx, x, id, archive.Convert(which, func(e task.Entry) archive.SegmentFact {
			return archive.SegmentFact{Event: event, Segment: archive.Segment{ID: e.ID, Session: id}}
		})...)
	})
	return n, err
}

// segmentsWait is how long a change of segments waits for another.
const segmentsWait = 5 * time.Second

// changeSegments calls run with a session's history and the state of its segments,
// under the lock for changes of segments.
func (a *App) changeSegments(ctx context.Context, session string, run func(x Archive, id string, h *task.History, s *task.State) error) error {
	w, err := a.Workspace()
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, segmentsWait)
	defer cancel()
	lock, err := state.WaitLock(wait, w.File("segments.lock"), false)
	if err != nil {
		return w.LockError(err, "change of segments")
	}
	err = a.withIndex(ctx, w, ReadWrite, func(x Archive) error {
		id, err := a.sessionOrLatest(ctx, x, session)
		if err != nil {
			return err
		}
		h, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return err
		}
		s, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return err
		}
		return run(x, id, h, s)
	})
	return cmp.Or(err, lock.Release())
}

// recordSegments writes facts to the journal and the index.
func recordSegments(ctx context.Context, x Archive, session string, facts ...archive.SegmentFact) error {
	if len(facts) == 0 {
		return nil
	}
	err := x.Journal.RecordAll(ctx, archive.Convert(facts, func(f archive.SegmentFact) capture.Fact {
		return capture.Fact{Kind: archive.JournalSegment, Session: cmp.Or(f.Segment.Session, session), Data: f}
	})...)
	if err != nil {
		return err
	}
	return x.Journal.Sync(ctx, x.Index)
}

// ImportedSegments is the outcome of an import of older tools' files.
type ImportedSegments struct {
	Files    int      `json:"files"`
	Segments int      `json:"segments"`
	Failed   []string `json:"failed,omitempty"`
}

// ImportSegments imports the files that older tools store below paths. With dry it
// only counts.
func (a *App) ImportSegments(ctx context.Context, paths []string, dry bool) (out ImportedSegments, _ error) {
	var facts []archive.SegmentFact
	for _, p := range paths {
		names, err := olderFiles(a.Abs(p))
		if err != nil {
			return out, err
		}
		for _, name := range names {
			read, err := readOlder(name, a.Now().Location())
			if err != nil {
				out.Failed = append(out.Failed, name+": "+ErrorText(err))
				continue
			}
			out.Files++
			facts = append(facts, read...)
		}
	}
	return readAllSegments(ctx, a, ReadWrite, func(x Archive, s *task.State) (ImportedSegments, error) {
		added := s.News(facts)
		out.Segments = len(archive.Select(added, func(f archive.SegmentFact) bool { return f.Event != archive.SegmentArchived }))
		if dry {
			return out, nil
		}
		return out, recordSegments(ctx, x, "", added...)
	})
}

// OlderFolders returns the folders where older tools store summaries: the current one and
// that in the user's home, if it exists.
func (a *App) OlderFolders() []string {
	paths := []string{"."}
	if data := filepath.Join(a.Home, ".claude", "data"); exists(data) {
		paths = append(paths, data)
	}
	return paths
}

// olderFiles lists the JSON files in the folders that older tools use below a path.
// A path of a file is returned itself.
func olderFiles(path string) (names []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeNotFound, Msg: path + " does not exist", Err: err}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		parent := filepath.Base(filepath.Dir(name))
		if d.Type().IsRegular() && filepath.Ext(name) == ".json" &&
			slices.Contains([]string{"compressed_context", "archived_context", "context_queue"}, parent) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list files below %s: %w", path, err)
	}
	return names, nil
}

// maxOlder is the maximum size in bytes of an older tool's file.
const maxOlder = 8 << 20

func readOlder(name string, local *time.Location) ([]archive.SegmentFact, error) {
	if info, err := os.Stat(name); err == nil && info.Size() > maxOlder {
		return nil, errors.New("the file is too large")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return task.Import(name, data, local)
}
