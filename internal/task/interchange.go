package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Queue is a session's queue in the format of older tools.
type Queue struct {
	SessionID     string       `json:"session_id"`
	Pending       []QueueEntry `json:"pending"`
	Compressed    []QueueEntry `json:"compressed"`
	LastCheckTurn int          `json:"last_check_turn"` // the last turn
	UpdatedAt     time.Time    `json:"updated_at,omitzero"`
}

// QueueEntry is a segment in a queue.
type QueueEntry struct {
	archive.Segment
	QueuedAt         time.Time `json:"queued_at,omitzero"`
	Timestamp        time.Time `json:"timestamp,omitzero"` // when it was queued or, later, summarised
	MessageCount     int       `json:"message_count"`      // steps
	QueuedAtTurn     int       `json:"queued_at_turn"`
	SinceMention     int       `json:"turns_since_mention"` // when it was queued
	CompressedAtTurn int       `json:"compressed_at_turn,omitempty"`
	StorageLocation  string    `json:"storage_location,omitempty"` // in the exported folder
}

// Queue returns the queue of the session.
func (h *History) Queue(s *State) Queue {
	q := Queue{SessionID: h.Session.ID, Pending: []QueueEntry{}, Compressed: []QueueEntry{}, LastCheckTurn: max(len(h.Turns)-1, 0)}
	for _, e := range s.Entries {
		if e.Session != h.Session.ID {
			continue
		}
		entry := QueueEntry{Segment: e.Segment, QueuedAt: e.QueuedAt, Timestamp: e.QueuedAt, MessageCount: e.End - e.Start, QueuedAtTurn: h.turnAt(e.QueuedAt)}
		entry.SinceMention = max(entry.QueuedAtTurn-e.EndTurn, 0)
		q.UpdatedAt = latest(q.UpdatedAt, latest(e.QueuedAt, e.CompressedAt))
		if e.Pending {
			q.Pending = append(q.Pending, entry)
			continue
		}
		entry.Content = "" // in the segment's own file
		entry.Timestamp, entry.CompressedAtTurn, entry.StorageLocation = e.CompressedAt, h.turnAt(e.CompressedAt), e.file()
		q.Compressed = append(q.Compressed, entry)
	}
	return q
}

// turnAt returns the number of the last turn that began by a time.
func (h *History) turnAt(when time.Time) (n int) {
	for _, t := range h.Turns {
		if !t.Start.After(when) {
			n = t.Index
		}
	}
	return n
}

// file returns the path of the segment's file in the project's folder.
func (e *Entry) file() string {
	if e.Tier == archive.TierCold {
		return "archived_context/" + e.ID + ".json"
	}
	return "compressed_context/" + e.ID + ".json"
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

// Files returns the older tools' files for the session's segments and finished tasks, by
// their path in the project's folder.
func (h *History) Files(s *State, now time.Time) (map[string][]byte, error) {
	out, session := map[string][]byte{}, h.Session.ID
	for _, e := range s.Entries {
		if e.Session != session || e.Content == "" {
			continue
		}
		if err := addJSON(out, e.file(), e.Segment); err != nil {
			return nil, err
		}
	}
	if err := h.addTasks(s, now, out); err != nil {
		return nil, err
	}
	q := h.Queue(s)
	if err := addJSON(out, "context_queue/"+session+"_pending.json", q); err != nil {
		return nil, err
	}
	state := map[string]any{"session_id": session, "pending_count": len(q.Pending), "compressed_count": len(q.Compressed), "updated_at": q.UpdatedAt}
	return out, addJSON(out, "context_queue/"+session+"_state.json", state)
}

// addTasks adds the files with the summaries of the session's finished tasks.
func (h *History) addTasks(state *State, now time.Time, files map[string][]byte) error {
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
// and the folder's name. Times without a zone are in local. If any part of a file is
// invalid, it returns no facts.
func Import(name string, data []byte, local *time.Location) ([]archive.SegmentFact, error) {
	i := importer{base: filepath.Base(name), local: local}
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
		session, _ := strings.CutSuffix(i.base, "_pending.json")
		f.Session = cmp.Or(f.Session, session)
		i.addQueue(f)
	case f.ID != "" || f.Task != "":
		i.addSummary(data, archived)
	case !strings.HasSuffix(name, "_state.json"): // those hold counters only
		i.fail("%s is not a segment, summary or queue", i.base)
	}
	return i.facts, i.err
}

// naiveTime finds a whole JSON string with a time without a zone, as Python writes it.
var naiveTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?"`) })

// counterID matches the IDs seg_<turn>_<number> that one older tool gives.
var counterID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^seg_\d+_\d+$`) })

const naiveLayout = "2006-01-02T15:04:05.999999999"

// importer collects the facts of one file until the first error.
type importer struct {
	base  string // the file's name
	local *time.Location
	facts []archive.SegmentFact
	err   error
}

func (i *importer) decode(data []byte, to any) {
	zoned := naiveTime().ReplaceAllFunc(data, func(found []byte) []byte {
		t, err := time.ParseInLocation(naiveLayout, string(found[1:len(found)-1]), i.local)
		if err != nil {
			return found
		}
		return []byte(t.Format(`"` + time.RFC3339Nano + `"`))
	})
	if err := json.Unmarshal(zoned, to); err != nil {
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
	if counterID().MatchString(s.ID) && archive.ValidID(s.Session) {
		s.ID += "-" + archive.ShortID(s.Session) // it is unique in its session only
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
