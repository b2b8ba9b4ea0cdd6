package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/index/sqlite"
	"strandline/internal/state"
)

func TestReindexGivesTheSameAnswers(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	commands := [][]string{{"sessions", "--agents", "--json"}, {"search", "--all", "--json", "gateway"}, {"show", sessionA}, {"stats"}}
	var before []string
	for _, args := range commands {
		before = append(before, w.must(args...))
	}
	if out := w.must("reindex"); !strings.HasPrefix(out, "2 sessions and 1 sub-agent run indexed") {
		t.Errorf("said %q", out)
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
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// Hooks that ran while the new index was built wrote to the old one.
func TestWhatIsLoggedDuringAReindexIsInTheNewIndex(t *testing.T) {
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
		if _, err := c.Log(t.Context(), src); err != nil {
			t.Fatal(err)
		}
	}
	damaged := c.Layout.Transcript("claude", "-home-dev-shop", "0bad", 1)
	if err := os.WriteFile(damaged, []byte("this is not a session log, however long one reads it"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	o := w.outside()
	o.Stores = testStores{closing: func() { // all logs that were listed are indexed
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
		t.Errorf("said %q", got)
	}
	if n := strings.Count(errOut.String(), "not indexed: 0bad"); n != 1 {
		t.Errorf("a damaged log is told %d times: %s", n, &errOut)
	}
	for _, word := range []string{"albatrosses", "cormorants"} {
		if got := w.must("search", "--all", word); strings.Contains(got, "Nothing found") {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// The old index stays in its place while anybody has it open.
func TestAnIndexInUseIsNotReplaced(t *testing.T) {
	w := newWorld(t)
	final, fresh := w.path("archive", "index.db"), w.path("archive", "index.db.new")
	if err := errors.Join(os.WriteFile(final, []byte("old"), 0o600), os.WriteFile(fresh, []byte("new"), 0o600), os.WriteFile(final+"-wal", []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	reader, err := state.WaitLock(t.Context(), final+".lock", true)
	if err != nil {
		t.Fatal(err)
	}
	patience, cancel := context.WithCancel(t.Context())
	cancel()
	err = swapIndex(patience, fresh, final)
	if archive.ErrorCode(err) != archive.CodeBusy || archive.ErrorHint(err) == "" {
		t.Errorf("got %v", err)
	}
	holds := func(path, want string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", path, data, err)
		}
	}
	holds(final, "old")
	holds(fresh, "new")
	if err := reader.Release(); err != nil {
		t.Fatal(err)
	}
	if err := swapIndex(t.Context(), fresh, final); err != nil {
		t.Fatal(err)
	}
	holds(final, "new")
	for _, gone := range []string{fresh, final + "-wal"} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

// A hook that finds no index begins one with its own session; that the others
// are missing has to show.
func TestALostIndexShows(t *testing.T) {
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
	const missing = "3 sessions that are kept are not in the index"
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
