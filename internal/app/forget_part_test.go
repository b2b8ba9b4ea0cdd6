package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// threeTurns logs a session of three turns and returns the middle one as a target.
func threeTurns(t *testing.T) (*world, app.Target) {
	t.Helper()
	w := newWorld(t)
	for seed := range uint64(3) {
		w.grow(sessionA, seed+1)
	}
	w.log(sessionA)
	w.run()
	place := w.target(1)
	return w, place
}

func (w *world) target(turn int) app.Target {
	w.t.Helper()
	turns, err := w.store.Turns(w.t.Context(), archive.Span{Session: sessionA})
	if err != nil || len(turns) <= turn {
		w.t.Fatalf("%d turns, %v", len(turns), err)
	}
	p := app.Target{
		Ref: archive.Ref{Session: sessionA, Turn: turn, Step: -1}, LineFrom: turns[turn].LineFrom, LineTo: 1 << 30,
		Sessions: []string{sessionA},
	}
	if turn+1 < len(turns) {
		p.LineTo = turns[turn+1].LineFrom
	}
	passages, err := w.store.Passages(w.t.Context(), archive.PassageSpan{Span: archive.Span{Session: sessionA, TurnFrom: turn, TurnTo: turn + 1}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, x := range passages {
		p.Texts = append(p.Texts, x.Text)
		if x.Kind == archive.KindPrompt {
			p.Prompts = append(p.Prompts, x.Text)
		}
	}
	return p
}

func (w *world) export() string {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.runner.Capture.Export(sessionA, 0, &out); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

const middle = "make retry number 2 wait"

// After an interruption the log is old or new, never a mix, and the next run
// completes the deletion.
func TestForgetPartAfterInterruption(t *testing.T) {
	w, place := threeTurns(t)
	f := w.forget()
	before := w.export()
	plan, err := f.PlanPart(t.Context(), place, 8)
	if err != nil || plan.Lines < 2 || len(plan.Samples) == 0 && len(place.Texts) == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if open, err := f.OpenParts(t.Context()); err != nil || len(open) != 0 {
		t.Fatalf("before: %v, %v", open, err)
	}
	if err := f.BeginPart(t.Context(), place.Ref, plan); err != nil {
		t.Fatal(err)
	}
	// Killed before the log was replaced, with a partial temporary file.
	path := w.runner.Capture.Layout.Transcript("claude", "-home-dev-shop", sessionA, 1)
	if err := os.WriteFile(path+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w.export() != before {
		t.Error("the log changed before it was rewritten")
	}
	for _, done := range []bool{false, true} {
		if done { // killed after the log, before the index
			if _, err := f.EraseParts(t.Context(), []string{sessionA}); err != nil {
				t.Fatal(err)
			}
		}
		if open, err := f.OpenParts(t.Context()); err != nil || len(open) != 1 || open[0] != sessionA {
			t.Fatalf("rewritten %v: %v, %v", done, open, err)
		}
	}
	after := w.export()
	if len(after) != len(before) || strings.Count(after, "\n") != strings.Count(before, "\n") || strings.Contains(after, middle) {
		t.Errorf("%d bytes became %d:\n%s", len(before), len(after), after)
	}
	if err := f.EndParts([]string{sessionA}); err != nil {
		t.Fatal(err)
	}
	if open, err := f.OpenParts(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("afterwards: %v, %v", open, err)
	}
	if of, err := w.runner.Capture.ForgottenParts().Of(sessionA); err != nil || of.Open || len(of.Samples) != 0 {
		t.Errorf("%+v, %v", of, err)
	}
	if found := w.holding(middle); len(found) != 0 {
		t.Errorf("still in %v", found)
	}
	// The journal restores lost marker files; a second run changes nothing.
	if err := os.RemoveAll(w.runner.Capture.ForgottenParts().Dir); err != nil {
		t.Fatal(err)
	}
	if open, err := f.OpenParts(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("after the marker files were lost: %v, %v", open, err)
	}
	if gone, err := f.EraseParts(t.Context(), []string{sessionA}); err != nil || gone != 0 {
		t.Errorf("again: %+v, %v", gone, err)
	}
	if w.export() != after {
		t.Error("the second run changed the log")
	}
	if _, err := f.PlanPart(t.Context(), place, 8); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("forgotten twice: %v", err)
	}
}

// A session that continues is captured as before. A log that is captured again from
// the client's file does not contain the part.
func TestForgottenPartIsNotCapturedAgain(t *testing.T) {
	w, place := threeTurns(t)
	f := w.forget()
	plan, err := f.PlanPart(t.Context(), place, 8)
	if err == nil {
		err = f.BeginPart(t.Context(), place.Ref, plan)
	}
	if err == nil {
		_, err = f.EraseParts(t.Context(), []string{sessionA})
	}
	if err == nil {
		err = f.EndParts([]string{sessionA})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.grow(sessionA, 4)
	w.log(sessionA)
	grown := w.export()
	if strings.Contains(grown, middle) || !strings.Contains(grown, "make retry number 4 wait") {
		t.Errorf("after it continued:\n%s", grown)
	}
	for _, e := range []string{"log", "log/claude/-home-dev-shop"} {
		if err := os.RemoveAll(filepath.Join(w.home, e)); err != nil {
			t.Fatal(err)
		}
	}
	w.log(sessionA)
	if again := w.export(); again != grown {
		t.Errorf("captured again:\n%s\nbefore:\n%s", again, grown)
	}
	entries := w.files()
	if len(entries) != 1 {
		t.Errorf("%d logs", len(entries))
	}
}

// The journal's facts about the part are deleted, others stay.
func TestForgetPartDeletesItsFacts(t *testing.T) {
	w, place := threeTurns(t)
	place.Texts = []string{"a text of the middle turn that is long enough", middle}
	segment := func(id string, from, to int) archive.SegmentFact {
		return archive.SegmentFact{Event: archive.SegmentSaved, Segment: archive.Segment{ID: id, Session: sessionA, StartTurn: from, EndTurn: to, Content: id + " was done"}}
	}
	for _, fact := range []archive.SegmentFact{segment("before", 0, 0), segment("covers", 0, 1), segment("behind", 2, 2)} {
		if err := w.runner.Journal.Record(t.Context(), archive.JournalSegment, sessionA, fact); err != nil {
			t.Fatal(err)
		}
	}
	for session, text := range map[string]string{sessionA: "they said: " + middle, sessionB: "another one said: " + middle} {
		if err := w.runner.Journal.Record(t.Context(), archive.JournalSummary, session, archive.SummaryFact{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	f := w.forget()
	plan, err := f.PlanPart(t.Context(), place, 8)
	if err == nil {
		err = f.BeginPart(t.Context(), place.Ref, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	gone, err := f.EraseParts(t.Context(), []string{sessionA})
	if err != nil || gone != 3 { // two facts and a log
		t.Errorf("%+v, %v", gone, err)
	}
	for text, stays := range map[string]bool{"before was done": true, "covers was done": false, "behind was done": true, "they said": false, "another one said": true} {
		if found := w.holding(text); len(found) > 0 != stays {
			t.Errorf("%q is in %v", text, found)
		}
	}
}

// The copies in a fork are deleted as well.
func TestForgetPartInForks(t *testing.T) {
	w, place := threeTurns(t)
	data, err := os.ReadFile(w.path(sessionA))
	if err == nil {
		err = os.WriteFile(w.path(sessionB), bytes.ReplaceAll(data, []byte(sessionA), []byte(sessionB)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.log(sessionB)
	place.Sessions = []string{sessionA, sessionB}
	f := w.forget()
	plan, err := f.PlanPart(t.Context(), place, 8)
	if err == nil {
		err = f.BeginPart(t.Context(), place.Ref, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	gone, err := f.EraseParts(t.Context(), place.Sessions)
	if err == nil {
		err = f.EndParts(place.Sessions)
	}
	if err != nil || gone != 2 {
		t.Errorf("%+v, %v", gone, err)
	}
	if found := w.holding(middle); len(found) != 0 {
		t.Errorf("still in %v", found)
	}
}
