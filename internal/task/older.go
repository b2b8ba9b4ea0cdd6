package task

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Queue is a session's queue in the shape of the older tools' files.
type Queue struct {
	SessionID  string       `json:"session_id"`
	Pending    []QueueEntry `json:"pending"`
	Compressed []QueueEntry `json:"compressed"`
	UpdatedAt  time.Time    `json:"updated_at,omitzero"`
}

// QueueEntry is one segment of a queue.
type QueueEntry struct {
	archive.Segment
	QueuedAt time.Time `json:"queued_at,omitzero"`
}

// Queue returns the queue of one session.
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
		entry.Content = "" // the segment's own file has it
		q.Compressed = append(q.Compressed, entry)
	}
	return q
}

// Files returns what the older tools keep of these segments, by their path below
// the project's folder.
func (s *State) Files(session string) (map[string][]byte, error) {
	out := map[string][]byte{}
	put := func(name string, v any) error {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		out[name] = append(data, '\n')
		return nil
	}
	for _, e := range s.Entries {
		if e.Session != session || e.Content == "" {
			continue
		}
		dir := "compressed_context"
		if e.Tier == archive.TierCold {
			dir = "archived_context"
		}
		if err := put(dir+"/"+e.ID+".json", e.Segment); err != nil {
			return nil, err
		}
	}
	q := s.Queue(session)
	if err := put("context_queue/"+session+"_pending.json", q); err != nil {
		return nil, err
	}
	state := map[string]any{"session_id": session, "pending_count": len(q.Pending), "compressed_count": len(q.Compressed), "updated_at": q.UpdatedAt}
	return out, put("context_queue/"+session+"_state.json", state)
}

// older is the union of the shapes that the older tools' files have.
type older struct {
	archive.Segment
	Subject    string            `json:"subject"`
	Pending    []json.RawMessage `json:"pending"`
	Compressed []json.RawMessage `json:"compressed"`
}

// maxImported is how long a summary from a file may be, in bytes.
const maxImported = 64 << 10

// Import reads one file of an older tool and returns the facts that it tells:
// summaries (one or a list), cold-task files, queues, and archived segments, told
// apart by their members and by the folder's name. A file that cannot be read
// tells nothing and gives the reason; nothing of it is taken by halves.
func Import(name string, data []byte) ([]archive.SegmentFact, error) {
	trimmed := strings.TrimSpace(string(data))
	archived := strings.Contains(filepath.ToSlash(name), "archived_context/")
	if strings.HasPrefix(trimmed, "[") {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, unreadable(name, err)
		}
		return importAll(name, list, archived)
	}
	var o older
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, unreadable(name, err)
	}
	if o.Pending != nil || o.Compressed != nil {
		return importQueue(name, o)
	}
	if o.ID == "" && o.Task == "" {
		if strings.HasSuffix(name, "_state.json") {
			return nil, nil // counters only
		}
		return nil, archive.Invalid(filepath.Base(name)+" is no segment, summary or queue", "")
	}
	return importOne(name, data, archived)
}

func unreadable(name string, err error) error {
	return &archive.Error{Code: archive.CodeInvalid, Msg: filepath.Base(name) + " is not whole JSON", Err: err}
}

func importAll(name string, list []json.RawMessage, archived bool) (facts []archive.SegmentFact, err error) {
	for _, raw := range list {
		one, err := importOne(name, raw, archived)
		if err != nil {
			return nil, err
		}
		facts = append(facts, one...)
	}
	return facts, nil
}

func importQueue(name string, o older) (facts []archive.SegmentFact, err error) {
	for _, raw := range o.Pending {
		s, err := readSegment(name, raw, o.Session)
		if err != nil {
			return nil, err
		}
		s.Content = ""
		facts = append(facts, archive.SegmentFact{Event: archive.SegmentQueued, Segment: s})
	}
	for _, raw := range o.Compressed {
		s, err := readSegment(name, raw, o.Session)
		if err != nil {
			return nil, err
		}
		if s.Content != "" {
			facts = append(facts, archive.SegmentFact{Event: archive.SegmentImported, Segment: s})
		}
	}
	return facts, nil
}

func importOne(name string, raw []byte, archived bool) ([]archive.SegmentFact, error) {
	s, err := readSegment(name, raw, "")
	if err != nil {
		return nil, err
	}
	if s.Content == "" {
		return nil, archive.Invalid("segment "+archive.Clip(s.ID, 60)+" in "+filepath.Base(name)+" has no summary", "")
	}
	facts := []archive.SegmentFact{{Event: archive.SegmentImported, Segment: s}}
	if archived {
		facts = append(facts, archive.SegmentFact{Event: archive.SegmentArchived, Segment: archive.Segment{ID: s.ID, Session: s.Session}})
	}
	return facts, nil
}

// readSegment reads a segment or a cold task's summary. Ids may come as numbers.
func readSegment(name string, raw []byte, session string) (archive.Segment, error) {
	var o older
	if err := json.Unmarshal(raw, &o); err != nil {
		return archive.Segment{}, unreadable(name, err)
	}
	s := o.Segment
	if s.Session == "" {
		s.Session = session
	}
	if !archive.ValidID(s.Session) {
		return archive.Segment{}, archive.Invalid(filepath.Base(name)+" names no session", "")
	}
	var sum Summary
	if json.Unmarshal(raw, &sum) == nil && sum.Subject != "" && s.Content == "" {
		s.Topic, s.Content = sum.Subject, sum.Text()
		s.CompressedAt, s.KeyFiles, s.KeyDecisions = sum.CompressedAt, sum.FilesModified, decisions(sum.KeyOutcomes)
		s.Metadata.TaskCompleted, s.Metadata.ContainsErrors = true, len(sum.ErrorsResolved) > 0
	}
	switch {
	case s.ID == "" && s.Task == "":
		return archive.Segment{}, archive.Invalid("a segment in "+filepath.Base(name)+" has no id", "")
	case s.ID == "":
		s.ID = SegmentID(s.Session, s.Task)
	case !archive.ValidID(s.ID):
		return archive.Segment{}, archive.Invalid("a segment in "+filepath.Base(name)+" has an id that is none", "")
	}
	if len(s.Content) > maxImported {
		return archive.Segment{}, archive.Invalid("the summary of "+s.ID+" in "+filepath.Base(name)+" is too long", "")
	}
	if s.CompressedTokens == 0 {
		s.CompressedTokens = text.Tokens(s.Content)
	}
	s.By = "import"
	return s, nil
}

// News leaves out what the state holds already, so that an import that runs
// again records nothing.
func (s *State) News(facts []archive.SegmentFact) (out []archive.SegmentFact) {
	for _, f := range facts {
		e, known := s.Get(f.Segment.ID)
		switch f.Event {
		case archive.SegmentQueued:
			known = known && (e.Pending || e.Content != "")
		case archive.SegmentArchived:
			known = known && e.Tier == archive.TierCold
		default:
			known = known && e.Content == f.Segment.Content
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}

// TaskFiles adds the summaries of the session's finished tasks, each under
// compressed_context/ and the name that Name gives it.
func (p *History) TaskFiles(state *State, now time.Time, files map[string][]byte) error {
	for _, t := range p.Segments() {
		if t.Open() || t.Status == Deleted {
			continue
		}
		at := now
		if e, ok := state.Get(SegmentID(t.Session, t.ID)); ok && e.Content != "" {
			at = e.CompressedAt
		}
		data, err := json.MarshalIndent(p.Extract(t, at), "", "  ")
		if err != nil {
			return fmt.Errorf("encode summary: %w", err)
		}
		files["compressed_context/"+SegmentHash(t.Session, t.ID)+".json"] = append(data, '\n')
	}
	return nil
}
