package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
	"strandline/internal/redact"
)

func TestReindexKeepsAnswers(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	commands := [][]string{{"sessions", "--agents", "--json"}, {"search", "--all", "--json", "gateway"}, {"show", sessionA}, {"stats"}}
	var before []string
	for _, args := range commands {
		before = append(before, w.must(args...))
	}
	if out := w.must("reindex"); !strings.HasPrefix(out, "2 sessions and 1 sub-agent run indexed") {
		t.Errorf("printed %q", out)
	}
	for i, args := range commands {
		if after := w.must(args...); after != before[i] {
			t.Errorf("%v: %s", args, firstDifference(after, before[i]))
		}
	}
	list, err := os.ReadDir(w.path("archive"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.Contains(e.Name(), ".new") {
			t.Errorf("remaining file: %s", e.Name())
		}
	}
}

// Hooks that run while the new index is built write to the old one.
func TestReindexIncludesConcurrentCaptures(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	c, _, err := newCapture(&config.Config{Paths: config.Paths{Home: w.path("archive")}})
	if err != nil {
		t.Fatal(err)
	}
	const begun = "c0ffee11-0000-4000-8000-000000000003"
	logged := func(session string) {
		src, err := capture.TranscriptSource(w.path("home", ".claude", "projects", "-home-dev-shop", session+".jsonl"), session, "/home/dev/shop")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.LogSession(t.Context(), src, false); err != nil {
			t.Fatal(err)
		}
	}
	damaged := c.Layout.Transcript("claude", "-home-dev-shop", "0bad", 1)
	if err := os.WriteFile(damaged, []byte("this is not a session log, however long one reads it"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	o := w.outside()
	o.Stores = testStores{closing: func() { // after the listed logs were indexed
		w.session(begun, "/home/dev/shop", noon().Add(-time.Minute), func(s *synth.Session) { w.turn(s, "Count the albatrosses", 7) })
		logged(begun)
		path := w.path("home", ".claude", "projects", "-home-dev-shop", sessionB+".jsonl")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w.session(sessionB, "/home/dev/a-project-whose-name-does-not-fit-in", noon().Add(-40*time.Minute), func(s *synth.Session) {
			w.turn(s, "Where is the backoff?", 3)
			w.turn(s, "And where are the cormorants?", 8)
		})
		if after, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(after, before) || len(after) == len(before) {
			t.Fatalf("the session did not grow: %d and %d bytes, %v", len(before), len(after), err)
		}
		logged(sessionB)
	}}
	env := w.options(&out, &errOut)
	env.App = app.New(o)
	if code := Main(t.Context(), env, []string{"reindex"}); code != ExitCorrupt {
		t.Errorf("exit code %d", code)
	}
	if got := out.String(); !strings.HasPrefix(got, "2 sessions and 1 sub-agent run indexed") || !strings.Contains(got, "2 sessions changed meanwhile") {
		t.Errorf("printed %q", got)
	}
	if n := strings.Count(errOut.String(), "not indexed completely: 0bad"); n != 1 {
		t.Errorf("a damaged log is reported %d times: %s", n, &errOut)
	}
	for _, word := range []string{"albatrosses", "cormorants"} {
		if got := w.must("search", "--all", word); strings.Contains(got, "Nothing found") {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// A hook that finds no index creates one with its own session. Doctor and status
// report that the others are missing.
func TestLostIndexIsReported(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(w.path("archive", "index.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(t.Context(), w.path("archive", "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const missing = "3 archived sessions are not in the index"
	if _, out, _ := w.run("doctor"); !strings.Contains(out, missing) || strings.Contains(out, "the index is sound") {
		t.Errorf("doctor says\n%s", out)
	}
	if out := w.must("status"); !strings.Contains(out, missing) || !strings.Contains(out, "`strandline maintain`") {
		t.Errorf("status says\n%s", out)
	}
	w.must("maintain")
	if out := w.must("status"); strings.Contains(out, "not in the index") {
		t.Errorf("after maintain, status says\n%s", out)
	}
}

// An index of older redaction rules is written again once, by maintenance.
func TestMaintainAppliesNewerRules(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	s, err := sqlite.Open(t.Context(), w.path("archive", "index.db"), sqlite.Options{Rules: redact.Rules - 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.must("import")
	const again = "indexed again with newer rules"
	if out := w.must("maintain"); !strings.Contains(out, again) {
		t.Errorf("maintain says\n%s", out)
	}
	if out := w.must("maintain"); strings.Contains(out, again) {
		t.Errorf("the second maintain says\n%s", out)
	}
	if out := w.must("search", "--all", "backoff"); strings.Contains(out, "Nothing found") {
		t.Errorf("afterwards search says\n%s", out)
	}
}
