package capture_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

const (
	recordBody = text.ReplacementOpening + ".\n- the real request"
	oldRecord  = "=== STRANDLINE RECORD 01234567: session 7f3a12cd. Data.\n" + recordBody + "\n=== END STRANDLINE RECORD 01234567"
)

// noted returns a journal that notes an injected text.
func noted(t *testing.T, session string, f archive.InjectedFact) func(context.Context) ([]archive.JournalEntry, error) {
	t.Helper()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return func(context.Context) ([]archive.JournalEntry, error) {
		return []archive.JournalEntry{{Kind: archive.JournalInjected, Session: session, Data: data}}, nil
	}
}

// A record is Strandline's by its signature or, without the key or in the form of earlier
// versions, by the journal's note of it.
func TestRecordsOwn(t *testing.T) {
	const session, fork = "7f3a12cd-0000-4000-8000-000000000001", "9b1c44ee-0000-4000-8000-000000000002"
	key := func(k string) func() []byte { return func() []byte { return []byte(k) } }
	signed := (&capture.Records{Key: key("one")}).Sign(text.Fence("session 7f3a12cd", recordBody))
	unread := func(context.Context) ([]archive.JournalEntry, error) {
		t.Error("the journal is read for a signed record")
		return nil, nil
	}
	note := noted(t, session, archive.InjectedFact{Nonce: capture.SumOf(signed)})
	// The client's frame of a summary, with the kept messages in a second record.
	both := "This session is being continued from a previous conversation that ran out of context.\n" + (&capture.Records{Key: key("one")}).Sign(
		text.Fence("session 7f3a12cd", recordBody)+"\n"+text.Fence("the last messages, verbatim", strings.Repeat("user: hello\n", 400)))
	bothNote := noted(t, session, archive.InjectedFact{Nonce: capture.SumOf(both)})
	oldNote := noted(t, session, archive.InjectedFact{Chars: text.Units(oldRecord)})
	for _, c := range []struct {
		name    string
		records *capture.Records
		session string
		message string
		want    bool
	}{
		{"signed", &capture.Records{Key: key("one"), Entries: unread}, session, signed, true},
		{"signed, in a fork", &capture.Records{Key: key("one"), Entries: unread}, fork, signed, true},
		{"with another key", &capture.Records{Key: key("two")}, session, signed, false},
		{"with a lost key, but noted", &capture.Records{Key: key("two"), Entries: note}, session, signed, true},
		{"on another computer with the journal, without a key", &capture.Records{Entries: note}, fork, signed, true},
		{"a summary with two records, on another computer", &capture.Records{Key: key("two"), Entries: bothNote}, session, both, true},
		{"noted, but changed", &capture.Records{Key: key("two"), Entries: note}, session, text.Fence("session 7f3a12cd", recordBody+" FORGED"), false},
		{"truncated", &capture.Records{Key: key("one"), Entries: note}, session, signed[:len(signed)-30], false},
		{"of an earlier version", &capture.Records{Key: key("one"), Entries: oldNote}, session, oldRecord, true},
		{"of an earlier version, in a fork", &capture.Records{Key: key("one"), Entries: oldNote}, fork, oldRecord, true},
		{"of an earlier version, not noted", &capture.Records{Key: key("one"), Entries: note}, session, oldRecord, false},
		{"of an earlier version, with another size", &capture.Records{Key: key("one"), Entries: oldNote}, session,
			"=== STRANDLINE RECORD 01234567: session 7f3a12cd. Data.\n" + recordBody + " FORGED\n=== END STRANDLINE RECORD 01234567", false},
		{"without records", nil, session, signed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms := []transcript.Message{{Role: "user", Text: c.message, Prompt: c.message}, {Role: "assistant", Text: "Yes."}}
			claude.MarkRecord(ms, c.session, c.records.Owns)
			if got := ms[0].Record != ""; got != c.want || got == (ms[0].Prompt != "") {
				t.Errorf("record %q, prompt %q", ms[0].Record, ms[0].Prompt)
			}
		})
	}
}

// A record counts only where the client puts it: alone or framed as a summary, and before
// the first response.
func TestRecordsHaveTheirPlace(t *testing.T) {
	records := &capture.Records{Key: func() []byte { return []byte("key") }}
	signed := records.Sign(text.Fence("session 7f3a12cd", recordBody))
	added := records.Sign(text.Fence("session 7f3a12cd", "- restored"))
	frame := "This session is being continued from a previous conversation.\n\nSummary:\n"
	user := func(s string) transcript.Message { return transcript.Message{Role: "user", Text: s, Prompt: s} }
	reply := transcript.Message{Role: "assistant", Text: signed}
	for name, c := range map[string]struct {
		messages []transcript.Message
		want     int // index of the record, -1: none
	}{
		"first":                  {[]transcript.Message{user(signed), reply}, 0},
		"after a reminder":       {[]transcript.Message{user("<system-reminder>x</system-reminder>"), user(signed), reply}, 1},
		"beside a long reminder": {[]transcript.Message{user("<system-reminder>" + strings.Repeat("rules ", 2000) + "</system-reminder>\n" + signed), reply}, 0},
		"as a summary":           {[]transcript.Message{user(frame + signed + "\nRead the transcript."), reply}, 0},
		"with another record":    {[]transcript.Message{user(signed + "\n" + added), reply}, 0},
		"a record that adds":     {[]transcript.Message{user(added), reply}, -1},
		"with a prompt":          {[]transcript.Message{user(signed + "\nand fix it"), reply}, -1},
		"quoted in a prompt":     {[]transcript.Message{user("Why this?\n" + signed), reply}, -1},
		"pasted later":           {[]transcript.Message{user("one"), reply, user(signed)}, -1},
		"written by the model":   {[]transcript.Message{reply, user("one")}, -1},
		"in a client's reminder": {[]transcript.Message{user("<system-reminder>" + signed + "</system-reminder>fix it"), reply}, -1},
	} {
		got := -1
		claude.MarkRecord(c.messages, "", records.Owns)
		for i := range c.messages {
			if c.messages[i].Record == signed {
				got = i
			}
		}
		for _, m := range c.messages {
			if m.Role == "user" && m.Record == "" && m.Prompt == "" && !m.Summary {
				t.Errorf("%s: a prompt is lost: %+v", name, m)
			}
		}
		if got != c.want {
			t.Errorf("%s: the record is message %d, want %d", name, got, c.want)
		}
	}
}

// Text that begins like the client's summary is a prompt after the first response.
func TestSummariesHaveTheirPlace(t *testing.T) {
	const summary = "This session is being continued from a previous conversation. Why do I see this?"
	ms := []transcript.Message{{Role: "user", Text: summary}, {Role: "assistant", Text: "Yes."}, {Role: "user", Text: summary}}
	for i := range ms {
		claude.Classify(&ms[i])
	}
	claude.MarkRecord(ms, "", nil)
	if !ms[0].Summary || ms[2].Summary || ms[2].Prompt != summary {
		t.Errorf("messages %+v", ms)
	}
}
