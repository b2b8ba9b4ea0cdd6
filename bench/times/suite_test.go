package times

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// programs builds strandline and the reference programs.
func programs(t *testing.T) Programs {
	t.Helper()
	dir := t.TempDir()
	strandline := filepath.Join(dir, "strandline")
	if runtime.GOOS == "windows" {
		strandline += ".exe"
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", strandline, "strandline/cmd/strandline").CombinedOutput(); err != nil {
		t.Fatalf("build strandline: %v\n%s", err, out)
	}
	p, err := Build(t.Context(), dir, strandline)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSuiteMeasuresWhatItSays runs the whole suite over small archives: each
// hook is checked to have captured its turn, each search to have found something.
func TestSuiteMeasuresWhatItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs whole processes")
	}
	s := &Suite{
		Programs: programs(t), Dir: t.TempDir(), Runs: 1, Log: io.Discard, ImportBytes: 1e6, SearchMessages: 2000, Vectors: []int{5000},
	}
	for name, part := range map[string]func() error{
		"hooks":   func() error { return s.Hooks(t.Context(), []int64{1e5, 3e5}) },
		"status":  func() error { return s.Statusline(t.Context()) },
		"import":  func() error { return s.Import(t.Context()) },
		"search":  func() error { return s.Search(t.Context()) },
		"compact": func() error { return s.Compact(t.Context()) },
		"vectors": func() error { return s.Nearest(t.Context()) },
	} {
		if err := part(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var b strings.Builder
	if err := s.Report.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"transcript of 0.1 MB", "transcript of 0.3 MB", "times an empty Go program", "peak memory", "with nothing new", "hook at 0.3 MB against 0.1 MB",
		"import of 1.0 MB in 40 sessions", "again, nothing new", "search over 2000 messages: a question", "by words and by vectors: common words", "vectors of a passage", "rebuilding the file of vectors", "rebuilding the index from the logs", "restore block", "preserve, without git", "| statusline |", "170000 tokens", "nearest of 5000 vectors",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, b.String())
		}
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
}

func TestRunReportsFailure(t *testing.T) {
	w, err := NewWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Not the go command: with a separate home it leaves a process that still
	// writes there.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), nil, self, "-no-such-flag"); !errors.Is(err, errExit) {
		t.Errorf("got %v", err)
	}
}

func TestAWorldIsItsOwn(t *testing.T) {
	t.Setenv("STRANDLINE_HOME", "/elsewhere")
	t.Setenv("STRANDLINE_HOOK_DEADLINE", "1ms")
	w := World{Dir: t.TempDir()}
	env := strings.Join(w.env(), "\n")
	if strings.Contains(env, "/elsewhere") || strings.Contains(env, "DEADLINE") {
		t.Errorf("the user's settings leak into a measurement:\n%s", env)
	}
}

func TestBuildNeedsABinary(t *testing.T) {
	if _, err := Build(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
