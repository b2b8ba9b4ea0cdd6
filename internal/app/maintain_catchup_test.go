package app_test

import (
	"context"
	"errors"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

func TestPendingSessionsAreCaptured(t *testing.T) {
	w := newWorld(t)
	w.grow(sessionA, 1)
	w.grow(sessionB, 2)
	w.note(sessionA)
	w.note(sessionB)
	w.note("0000aaaa") // without a transcript
	stages := w.run()
	healthy(t, stages)
	if st := stages["pending"]; st.Done != 2 {
		t.Errorf("%+v", st)
	}
	if w.runner.Pending().Any() {
		t.Error("sessions are still pending")
	}
	w.exported(sessionA)
	w.exported(sessionB)
	if w.turns(sessionA) != 1 || w.turns(sessionB) != 1 {
		t.Errorf("%d and %d turns are indexed", w.turns(sessionA), w.turns(sessionB))
	}
}

// The client may end a hook that has indexed a turn and not counted its tokens.
func TestCatchUpCountsWhatAHookIndexed(t *testing.T) {
	w := newWorld(t)
	w.runner.Monitor = &usage.Monitor{
		Store: usage.Store{Dir: t.TempDir()}, Getenv: func(string) string { return "" }, LastUsage: claude.LastUsage,
	}
	w.grow(sessionA, 1)
	w.log(sessionA)
	if err := w.runner.Capture.Index(t.Context(), w.store, sessionA); err != nil {
		t.Fatal(err)
	}
	w.note(sessionA)
	healthy(t, w.run())
	if got, kept := w.runner.Monitor.Store.Session(sessionA); !kept || got.LastTokenEstimate == 0 || got.Estimated {
		t.Errorf("%+v, kept: %t", got, kept)
	}
	w.note(sessionB) // without a transcript
	healthy(t, w.run())
	if got, kept := w.runner.Monitor.Store.Session(sessionB); kept {
		t.Errorf("a session that is not kept is counted: %+v", got)
	}
}

// A session stays pending only if a retry may succeed. Otherwise it would block
// the hooks that wait for pending sessions.
func TestPendingAfterAnError(t *testing.T) {
	tests := map[string]struct {
		err  error
		kept bool
	}{
		"the index is locked":  {&archive.Error{Code: archive.CodeBusy, Msg: "locked"}, true},
		"the disk is full":     {&archive.Error{Code: archive.CodeDenied, Msg: "full"}, true},
		"the index is damaged": {&archive.Error{Code: archive.CodeCorrupt, Msg: "damaged"}, false},
		"an internal error":    {errors.New("nil pointer"), false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.grow(sessionA, 1)
			w.note(sessionA)
			done, err := w.runner.CatchUp(t.Context(), broken{Store: w.store, apply: c.err})
			if done != 0 || !errors.Is(err, c.err) {
				t.Errorf("%d done, %v", done, err)
			}
			if w.runner.Pending().Any() != c.kept {
				t.Errorf("pending: %v, want %v", w.runner.Pending().Any(), c.kept)
			}
			w.exported(sessionA) // the log does not depend on the index
		})
	}
	t.Run("the process was asked to end", func(t *testing.T) {
		w := newWorld(t)
		w.grow(sessionA, 1)
		w.note(sessionA)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.runner.CatchUp(ctx, w.store); err == nil || !w.runner.Pending().Any() {
			t.Errorf("%v, pending: %v", err, w.runner.Pending().Any())
		}
	})
	t.Run("a transcript outside the client's folder", func(t *testing.T) {
		w := newWorld(t)
		if err := w.runner.Pending().Add(capture.PendingWork{Session: sessionA, Transcript: "/etc/passwd"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.runner.CatchUp(t.Context(), w.store); archive.ErrorCode(err) != archive.CodeInvalid || w.runner.Pending().Any() {
			t.Errorf("%v, pending: %v", err, w.runner.Pending().Any())
		}
	})
}
