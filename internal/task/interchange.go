package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Queue is a session's queue in the format of older tools.
type Queue struct {
	SessionID  string       `json:"session_id"`
	Pending    []QueueEntry `json:"pending"`
	Compressed []QueueEntry `json:"compressed"`
	UpdatedAt  time.Time    `json:"updated_at,omitzero"`
}

// QueueEntry is a segment in a queue.
type QueueEntry struct {
	archive.Segment
	QueuedAt time.Time `json:"queued_at,omitzero"`
}

// Queue returns the queue of a session.
func (s *State) Queue(session string) Queue {
	q := Queue{SessionID: session, Pending: []QueueEntry{}, Compressed: []QueueEntry{}}
	for _, e := range s.Entries {
		if e.Session != session {
			continue
		}
		entry := QueueEntry{Segment: e.Segment, QueuedAt: e.QueuedAt}
		q.UpdatedAt = latest(q.UpdatedAt, latest(e.QueuedAt, e.CompressedAt))
		if e.Pending {
			q.Pending = append(q.Pending, entry)
			continue
		}
		entry.Content = "" // in the segment's own file
		q.Compressed = append(q.Compressed, entry)
	}
	return q
}

// addJSON adds a file with indented JSON.
func addJSON(files map[string][]byte, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	files[name] = append(data, '\n')
	return nil
}

// Files returns the older tools' files for a session's segments, by their path in the
// project's folder.
func (s *State) Files(session string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, e := range s.Entries {
		if e.Session != session || e.Content == "" {
			continue
		}
		dir := "compressed_context"
		if e.Tier == archive.TierCold {
			dir = "archived_context"
		}
		if err := addJSON(out, dir+"/"+e.ID+".json", e.Segment); err != nil {
			return nil, err
		}
	}
	q := s.Queue(session)
	if err := addJSON(out, "context_queue/"+session+"_pending.json", q); err != nil {
		return nil, err
	}
	state := map[string]any{"session_id": session, "pending_count": len(q.Pending), "compressed_count": len(q.Compressed), "updated_at": q.UpdatedAt}
	return out, addJSON(out, "context_queue/"+session+"_state.json", state)
}

// TaskFiles adds the older tools' files with the summaries of the session's finished
// tasks.
func (h *History) TaskFiles(state *State, now time.Time, files map[string][]byte) error {
	for _, t := range h.Segments() {
		if t.Open() || t.Status == Deleted {
			continue
		}
		at := now
		if e, ok := state.Get(SegmentID(t.Session, t.ID)); ok && e.Content != "" {
			at = e.CompressedAt
		}
		if err := addJSON(files, "compressed_context/"+SegmentHash(t.Session, t.ID)+".json", h.Extract(t, at)); err != nil {
			return err
		}
	}
	return nil
}

// importedFile has the members of all formats of older tools.
type importedFile struct {
	archive.Segment
	Pending    []json.RawMessage `json:"pending"`
	Compressed []json.RawMessage `json:"compressed"`
}

// maxImported is the length of the longest summary that is imported, in bytes.
const maxImported = 64 << 10

// Import reads one file of an older tool and returns its facts: summaries (one or a
// list), cold-task files, queues and archived segments, which differ in their members
// and the folder's name. If any part of a file is invalid, it returns no facts.
func Import(name string, data []byte) ([]archive.SegmentFact, error) {
	i := importer{base: filepath.Base(name)}
	archived := strings.Contains(filepath.ToSlash(name), "archived_context/")
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		var list []json.RawMessage
		i.decode(data, &list)
		for _, raw := range list {
			i.addSummary(raw, archived)
		}
		return i.facts, i.err
	}
	var f importedFile
	switch i.decode(data, &f); {
	case i.err != nil:
	case f.Pending != nil || f.Compressed != nil:
		i.addQueue(f)
	case f.ID != "" || f.Task != "":
		i.addSummary(data, archived)
	case !strings.HasSuffix(name, "_state.json"): // those hold counters only
		i.fail("%s is not a segment, summary or queue", i.base)
	}
	return i.facts, i.err
}

// importer collects the facts of one file until the first error.
type importer struct {
	base  string // the file's name
	facts []archive.SegmentFact
	err   error
}

func (i *importer) decode(data []byte, to any) {
	if err := json.Unmarshal(data, to); err != nil {
		i.facts, i.err = nil, &archive.Error{Code: archive.CodeInvalid, Msg: i.base + " is not valid JSON", Err: err}
	}
}

func (i *importer) fail(format string, args ...any) {
	i.facts, i.err = nil, archive.Invalid(fmt.Sprintf(format, args...), "")
}

func (i *importer) add(event archive.SegmentEvent, s archive.Segment) {
	i.facts = append(i.facts, archive.SegmentFact{Event: event, Segment: s})
}

func (i *importer) addQueue(f importedFile) {
	for _, raw := range f.Pending {
		if s, ok := i.segment(raw, f.Session); ok {
			s.Content = ""
			i.add(archive.SegmentQueued, s)
		}
	}
	for _, raw := range f.Compressed {
		if s, ok := i.segment(raw, f.Session); ok && s.Content != "" {
			i.add(archive.SegmentImported, s)
		}
	}
}

func (i *importer) addSummary(raw []byte, archived bool) {
	s, ok := i.segment(raw, "")
	if !ok {
		return
	}
	if s.Content == "" {
		i.fail("segment %s in %s has no summary", archive.Clip(s.ID, 60), i.base)
		return
	}
	i.add(archive.SegmentImported, s)
	if archived {
		i.add(archive.SegmentArchived, archive.Segment{ID: s.ID, Session: s.Session})
	}
}

// segment reads a segment or the summary of a cold task. It returns false after an
// error.
func (i *importer) segment(raw []byte, session string) (s archive.Segment, ok bool) {
	if i.err != nil {
		return s, false
	}
	if i.decode(raw, &s); i.err != nil {
		return s, false
	}
	s.Session = cmp.Or(s.Session, session)
	var sum Summary
	if json.Unmarshal(raw, &sum) == nil && sum.Subject != "" && s.Content == "" {
		s.Topic, s.Content = sum.Subject, sum.Text()
		s.CompressedAt, s.KeyFiles, s.KeyDecisions = sum.CompressedAt, sum.FilesModified, decisions(sum.KeyOutcomes)
		s.Metadata.TaskCompleted, s.Metadata.ContainsErrors = true, len(sum.ErrorsResolved) > 0
	}
	if s.ID == "" && s.Task != "" {
		s.ID = SegmentID(s.Session, s.Task)
	}
	if s.CompressedTokens == 0 {
		s.CompressedTokens = text.Tokens(s.Content)
	}
	s.By = "import"
	switch {
	case !archive.ValidID(s.Session):
		i.fail("%s names no session", i.base)
	case s.ID == "":
		i.fail("a segment in %s has no id", i.base)
	case !archive.ValidID(s.ID):
		i.fail("a segment in %s has an invalid id", i.base)
	case len(s.Content) > maxImported:
		i.fail("the summary of %s in %s is too long", s.ID, i.base)
	}
	return s, i.err == nil
}

// News returns the facts that are not in the state yet, so that a repeated import
// records nothing.
func (s *State) News(facts []archive.SegmentFact) []archive.SegmentFact {
	return archive.Select(facts, func(f archive.SegmentFact) bool {
		e, known := s.Get(f.Segment.ID)
		switch f.Event {
		case archive.SegmentQueued:
			return !known || !e.Pending && e.Content == ""
		case archive.SegmentArchived:
			return !known || e.Tier != archive.TierCold
		}
		return !known || e.Content != f.Segment.Content
	})
}
