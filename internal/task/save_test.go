package task_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

const goodDraft = "The tokenizer in tokenizer.go reads runes because bytes break names; nextRune was missing; all tests pass."

func TestSave(t *testing.T) {
	m := parserSession()
	id := task.SegmentID(session, "1")
	for name, c := range map[string]struct {
		draft task.Draft
		want  string // in the error; "" for a valid draft
	}{
		"taken":                 {task.Draft{Segment: id, Text: goodDraft}, ""},
		"by the id's beginning": {task.Draft{Segment: id[:10], Text: goodDraft}, ""},
		"without seg-":          {task.Draft{Segment: id[4:12], Text: goodDraft}, ""},
		"empty":                 {task.Draft{Segment: id, Text: " \n"}, "too short"},
		"a word":                {task.Draft{Segment: id, Text: "Done."}, "too short"},
		"endless":               {task.Draft{Segment: id, Text: strings.Repeat(goodDraft, 80)}, "maximum is 6000"},
		"too long for it":       {task.Draft{Segment: id, Text: strings.Repeat(goodDraft+" ", 40)}, "tokens"},
		"no key file":           {task.Draft{Segment: id, Text: "The tokenizer reads runes because bytes break names; all tests pass."}, "does not name tokenizer.go"},
		"no key file, with a reason": {task.Draft{Segment: id, NoFiles: "it was deleted again",
			Text: "The tokenizer reads runes because bytes break names; all tests pass."}, ""},
		"about something else": {task.Draft{Segment: id, Text: "tokenizer.go: Meyer lemons need acidic soil, mulch and patient gardeners every springtime."}, "not seem to be about"},
		"about another segment": {task.Draft{Segment: id,
			Text: "tokenizer.go: Chart of the tides drawn; number of tides chart drawn, draw a chart."}, "seems to be about"},
		"unknown":      {task.Draft{Segment: "seg-ffff", Text: goodDraft}, "no segment"},
		"no id at all": {task.Draft{Text: goodDraft}, "no segment"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "too long for it" || name == "endless" {
				m = parserSession()
			}
			m.prompt("Next").idle(1) // closes the chart's topic
			s, err := m.load(t, 0).Save(m.state(t), c.draft, noon())
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want a reason with %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != id || s.By != "agent" || !strings.HasPrefix(s.Content, c.draft.Text) || s.CompressedTokens == 0 || s.Ratio == 0 {
				t.Errorf("got %+v", s)
			}
			if c.draft.NoFiles != "" && !strings.Contains(s.Content, c.draft.NoFiles) {
				t.Errorf("the reason is lost: %q", s.Content)
			}
		})
	}
}

func TestSaveOfAnOpenTask(t *testing.T) {
	m := newMemory().step(event("1", "in_progress", "Write")).idle(3)
	_, err := m.load(t, 0).Save(m.state(t), task.Draft{Segment: task.SegmentID(session, "1"), Text: goodDraft}, noon())
	if err == nil || !strings.Contains(err.Error(), "is not finished") {
		t.Errorf("got %v", err)
	}
}

// A later summary replaces the previous one, which is kept as a version. Late or
// identical ones change nothing.
func TestVersions(t *testing.T) {
	m := parserSession()
	facts := m.load(t, 0).Check(m.state(t), 0.7, defaults(), noon())
	m.store(facts, noon())
	late := facts[0]
	late.Segment.Content = "too late"
	m.store([]archive.SegmentFact{late}, noon().Add(time.Minute))
	better := facts[0]
	better.Event, better.Segment.By, better.Segment.Content = archive.SegmentSaved, "agent", "better"
	m.store([]archive.SegmentFact{better, better}, noon().Add(2*time.Minute))
	m.store([]archive.SegmentFact{{Event: archive.SegmentRead, Segment: archive.Segment{ID: better.Segment.ID}}}, noon().Add(3*time.Minute))
	e := m.state(t).Entries[0]
	if e.Content != "better" || len(e.Versions) != 1 || e.Versions[0].By != "extract" || e.AccessCount != 1 || !e.LastAccessed.Equal(noon().Add(3*time.Minute)) {
		t.Errorf("got %+v", e)
	}
	m.store([]archive.SegmentFact{better}, noon().Add(4*time.Minute))
	if e := m.state(t).Entries[0]; e.AccessCount != 1 {
		t.Errorf("the count of reads is %d after another summary", e.AccessCount)
	}
}

func TestInvalidFactsAreIgnored(t *testing.T) {
	m := newMemory()
	for _, f := range []archive.SegmentFact{
		{Event: archive.SegmentArchived, Segment: archive.Segment{ID: "seg-1"}},
		{Event: archive.SegmentSaved, Segment: archive.Segment{ID: "seg-2"}},
		{Event: archive.SegmentSummarised},
		{Event: "of the future", Segment: archive.Segment{ID: "seg-3", Content: "x"}},
	} {
		m.fact(archive.JournalSegment, noon(), f)
	}
	m.fact(archive.JournalSegment, noon(), []int{1})
	if s := m.state(t); len(s.Entries) != 0 {
		t.Errorf("got %+v", s.Entries)
	}
}

func TestFindAndClear(t *testing.T) {
	m := newMemory()
	for _, id := range []string{"seg-aa1", "seg-aa2", "seg-b"} {
		m.fact(archive.JournalSegment, noon(), archive.SegmentFact{Event: archive.SegmentQueued, Segment: archive.Segment{ID: id, Session: session}})
	}
	s := m.state(t)
	for id, want := range map[string]archive.Code{"seg-aa1": "", "b": "", "seg-b": "", "seg-aa": archive.CodeAmbiguous, "x": archive.CodeNotFound, "": archive.CodeNotFound} {
		if _, err := s.Find(id); archive.ErrorCode(err) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
	if n := len(s.Pending()); n != 3 {
		t.Errorf("%d pending", n)
	}
	m.fact(archive.JournalSegment, noon(), archive.SegmentFact{Event: archive.SegmentCleared, Segment: archive.Segment{ID: "seg-b"}})
	if n := len(m.state(t).Pending()); n != 2 {
		t.Errorf("%d pending after one was cleared", n)
	}
}

// A summary in the JSON form of older tools is saved as text.
func TestSaveReport(t *testing.T) {
	m := parserSession()
	m.prompt("Next").idle(1)
	s, err := m.load(t, 0).Save(m.state(t), task.Draft{Segment: task.SegmentID(session, "1"), Text: `{"task_id":"1","name":"Write the tokenizer",` +
		`"completion_status":"done","impact":"names with runes parse","key_actions":["nextRune was missing","all tests pass"],` +
		`"artifacts":["lex/tokenizer.go"],"dependencies":[],"notes":"bytes break names","finished_at":"2026-11-20"}`}, noon())
	want := "Write the tokenizer · done · 2026-11-20\nImpact: names with runes parse\n- nextRune was missing\n- all tests pass\n" +
		"Files: lex/tokenizer.go\nNotes: bytes break names"
	if err != nil || s.Content != want {
		t.Errorf("got %q, %v", s.Content, err)
	}
}

// Files for older tools can be imported again and give no new facts.
func TestFilesAndImport(t *testing.T) {
	m := parserSession()
	m.store(m.load(t, 0).Check(m.state(t), 0.7, defaults(), noon()), noon())
	m.fact(archive.JournalSegment, noon(), archive.SegmentFact{Event: archive.SegmentQueued, Segment: archive.Segment{ID: "seg-b", Session: session, Topic: "waits"}})
	files, err := m.load(t, 0).Files(m.state(t), noon())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"compressed_context/" + task.SegmentID(session, "1") + ".json", "compressed_context/" + task.SegmentHash(session, "1") + ".json",
		"context_queue/" + session + "_pending.json", "context_queue/" + session + "_state.json",
	}
	if len(files) != len(names) {
		t.Errorf("%d files", len(files))
	}
	fresh := newMemory()
	for _, name := range names {
		facts, err := task.Import("/p/"+name, files[name], time.UTC)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if news := m.state(t).News(facts); len(news) > 0 && !strings.Contains(name, task.SegmentHash(session, "1")) {
			t.Errorf("%s gives %s", name, events(news))
		}
		fresh.store(facts, noon())
	}
	s := fresh.state(t)
	if len(s.Summarised()) != 1 || len(s.Pending()) != 1 {
		t.Errorf("got %+v", s.Entries)
	}
	var q task.Queue
	if err := json.Unmarshal(files[names[2]], &q); err != nil || q.SessionID != session || len(q.Pending) != 1 || len(q.Compressed) != 1 {
		t.Errorf("queue %v, %v", q, err)
	}
}

func TestImportFormats(t *testing.T) {
	for name, c := range map[string]struct{ file, data, want string }{
		"a cold task": {"x.json", `{"session_id":"s1","task_id":"7","subject":"Fix it","start_turn":1,"end_turn":3,"files_modified":["a.go"],"commands_run":[],"key_outcomes":["done"],"errors_resolved":[]}`,
			"imported 7Fix it"},
		"a list":                    {"x.json", `[{"segment_id":"a","session_id":"s1","compressed_content":"x","topic":"T"}]`, "imported T"},
		"archived":                  {"/p/archived_context/a.json", `{"segment_id":"a","session_id":"s1","compressed_content":"x","topic":"T"}`, "imported T, archived "},
		"a queue":                   {"s1_pending.json", `{"session_id":"s1","pending":[{"segment_id":"a","topic":"T"}],"compressed":[{"segment_id":"b","topic":"U","compressed_content":"y"}]}`, "queued T, imported U"},
		"a queue without a session": {"s1_pending.json", `{"pending":[{"segment_id":"seg_42_0","topic":"T","timestamp":"2026-02-10T17:15:32.123456"}],"compressed":[],"last_check_turn":42}`, "queued T"},
		"a time without a zone":     {"x.json", `{"segment_id":"a","session_id":"s1","compressed_content":"x","topic":"T","compressed_at":"2026-02-10T17:15:32.123456"}`, "imported T"},
		"an empty queue":            {"s1_pending.json", `{"session_id":"s1","pending":[],"compressed":[]}`, ""},
		"counters":                  {"s1_state.json", `{"session_id":"s1","turns":4}`, ""},
		"half-written":              {"s1_pending.json", `{"session_id":"s1","pending":[{"segm`, "! not valid JSON"},
		"half a list":               {"x.json", `[{"segment_id":"a"`, "! not valid JSON"},
		"nothing":                   {"x.json", ``, "! not valid JSON"},
		"something else":            {"x.json", `{"name":"x"}`, "! is not a segment"},
		"no session":                {"x.json", `{"segment_id":"a","compressed_content":"x"}`, "! names no session"},
		"a session that is a path":  {"x.json", `{"segment_id":"a","session_id":"../../x","compressed_content":"x"}`, "! names no session"},
		"an id that is a path":      {"x.json", `{"segment_id":"../a","session_id":"s1","compressed_content":"x"}`, "! an invalid id"},
		"no summary":                {"x.json", `{"segment_id":"a","session_id":"s1"}`, "! has no summary"},
		"too long":                  {"x.json", `{"segment_id":"a","session_id":"s1","compressed_content":"` + strings.Repeat("x", 70_000) + `"}`, "! too long"},
		"one bad of two":            {"x.json", `[{"segment_id":"a","session_id":"s1","compressed_content":"x"},{"segment_id":"b"}]`, "! names no session"},
	} {
		t.Run(name, func(t *testing.T) {
			facts, err := task.Import(c.file, []byte(c.data), time.UTC)
			if want, bad := strings.CutPrefix(c.want, "! "); bad {
				if err == nil || !strings.Contains(err.Error(), want) || len(facts) > 0 {
					t.Errorf("got %s and %v", events(facts), err)
				}
				return
			}
			if got := events(facts); err != nil || got != c.want {
				t.Errorf("got %q, want %q, %v", got, c.want, err)
			}
		})
	}
}

// Times without a zone are local, and IDs that only count are made unique.
func TestImportedTimeAndID(t *testing.T) {
	data := `{"segment_id":"seg_42_0","session_id":"7f3a12cd-0000","original_tokens":1000,"compressed_tokens":100,"compression_ratio":10.0,` +
		`"compressed_at":"2026-02-10T17:15:32.5","last_accessed":"2026-02-10T17:15:32Z","compressed_content":"At \"2026-02-10T17:15:32\" it failed."}`
	facts, err := task.Import("seg_42_0.json", []byte(data), time.FixedZone("", 3600))
	if err != nil || len(facts) != 1 {
		t.Fatalf("%v, %v", facts, err)
	}
	s := facts[0].Segment
	if want := time.Date(2026, 2, 10, 16, 15, 32, 5e8, time.UTC); !s.CompressedAt.Equal(want) || s.ID != "seg_42_0-7f3a12cd" || s.Ratio != 10 ||
		s.Content != `At "2026-02-10T17:15:32" it failed.` {
		t.Errorf("got %+v", s)
	}
}

func FuzzImport(f *testing.F) {
	f.Add("x.json", []byte(`{"segment_id":"a","session_id":"s1","compressed_content":"x"}`))
	f.Add("s_pending.json", []byte(`{"session_id":"s1","pending":[{"segment_id":"a"}],"compressed":[]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		facts, err := task.Import(name, data, time.UTC)
		if err != nil && len(facts) > 0 {
			t.Error("a rejected file returns facts")
		}
		for _, x := range facts {
			if !archive.ValidID(x.Segment.Session) || !archive.ValidID(x.Segment.ID) {
				t.Errorf("%+v", x.Segment)
			}
		}
	})
}

func TestCheckStates(t *testing.T) {
	m := task.CheckStates{Dir: t.TempDir() + "/segments"}
	if got := m.Read(session); got != (task.CheckState{}) {
		t.Errorf("at first %+v", got)
	}
	want := task.CheckState{Checked: 30, Pending: 2, Reminded: 60}
	if err := m.Write(session, want); err != nil {
		t.Fatal(err)
	}
	if got := m.Read(session); got != want {
		t.Errorf("got %+v", got)
	}
	if err := m.Reset(session); err != nil || m.Read(session) != (task.CheckState{}) {
		t.Errorf("after a reset %+v, %v", m.Read(session), err)
	}
	if err := m.Reset(session); err != nil {
		t.Errorf("reset twice: %v", err)
	}
	if err := m.Write("../x", want); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("a path as a session: %v", err)
	}
}
