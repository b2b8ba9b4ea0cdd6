package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/lockfile"
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
	if out := w.must("reindex"); !strings.HasPrefix(out, "3 sessions indexed") {
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

// The old index stays in its place while anybody has it open.
func TestAnIndexInUseIsNotReplaced(t *testing.T) {
	w := newWorld(t)
	final, fresh := w.path("archive", "index.db"), w.path("archive", "index.db.new")
	if err := errors.Join(os.WriteFile(final, []byte("old"), 0o600), os.WriteFile(fresh, []byte("new"), 0o600), os.WriteFile(final+"-wal", []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	reader, err := lockfile.Wait(t.Context(), final+".lock", true)
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
