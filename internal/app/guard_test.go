package app

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/config"
	"strandline/internal/transcript"
)

// fakeWatcher allows so many watches.
type fakeWatcher struct {
	allowed int
	watched []string
}

func (f *fakeWatcher) Add(dir string) error {
	if len(f.watched) >= f.allowed {
		return errors.New("no space left on device")
	}
	f.watched = append(f.watched, filepath.Base(dir))
	return nil
}

func (f *fakeWatcher) Remove(dir string) error {
	f.watched = slices.DeleteFunc(f.watched, func(s string) bool { return s == filepath.Base(dir) })
	return nil
}

func (*fakeWatcher) Changes() <-chan string { return nil }
func (*fakeWatcher) Close() error           { return nil }

// guardWorld is a client's folder with a guard whose clock the test moves.
type guardWorld struct {
	*guard
	t       *testing.T
	root    string
	watcher *fakeWatcher
	clock   time.Time
	notices []string
}

func newGuardWorld(t *testing.T, watches int) *guardWorld {
	t.Helper()
	dir := t.TempDir()
	g := &guardWorld{t: t, root: filepath.Join(dir, "client", "projects"), watcher: &fakeWatcher{allowed: watches}, clock: time.Now()}
	g.guard = &guard{
		app: New(Options{Now: func() time.Time { return g.clock }}), watcher: g.watcher, roots: []guardRoot{{dir: g.root}},
		w: Workspace{Config: &config.Config{Paths: config.Paths{Home: filepath.Join(dir, "archive")}}}, log: slog.New(slog.DiscardHandler),
		notice:  func(line string) { g.notices = append(g.notices, line) },
		folders: map[string]time.Time{}, due: map[string]dueSession{},
	}
	return g
}

func (g *guardWorld) write(path string) string {
	g.t.Helper()
	path = filepath.Join(g.root, filepath.FromSlash(path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}\n"), 0o600)); err != nil {
		g.t.Fatal(err)
	}
	return path
}

// noted returns the sessions that are due, and no longer.
func (g *guardWorld) noted() string {
	list := slices.Sorted(maps.Keys(g.due))
	clear(g.due)
	return strings.Join(list, " ")
}

func TestGuardWatchesNewFolders(t *testing.T) {
	g := newGuardWorld(t, 100)
	g.watchRoot(g.root, time.Time{})
	above := filepath.Base(filepath.Dir(filepath.Dir(g.root)))
	if got := strings.Join(g.watcher.watched, " "); got != above {
		t.Fatalf("watches %q before the client has a folder", got)
	}
	g.write("-p/s1.jsonl")
	g.changed(filepath.Dir(g.root))
	if got := strings.Join(g.watcher.watched, " "); got != above+" projects -p" || g.noted() != "s1" {
		t.Errorf("watches %q once it has one", got)
	}
	g.clock = g.clock.Add(time.Hour)
	g.write("-p/s1/subagents/agent-a.jsonl")
	g.changed(g.write("-p/s1.jsonl"))
	if got := g.noted(); got != "s1" {
		t.Errorf("noted %q", got)
	}
	if got := strings.Join(g.watcher.watched, " "); got != above+" projects -p s1 subagents" {
		t.Errorf("watches %q with a sub-agent", got)
	}
	for path, want := range map[string]string{
		"-p/s1/subagents/agent-a.jsonl": "s1", "-p/s1/tool-results/out.txt": "s1", "-p/memory/note.md": "", "-p/x y.jsonl": "", "-p/s2.jsonl": "s2",
	} {
		if g.changed(g.write(path)); g.noted() != want {
			t.Errorf("%s does not note %q", path, want)
		}
	}
	gone := filepath.Join(g.root, "-p")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	g.changed(gone)
	if _, known := g.folders[gone]; known {
		t.Error("a deleted folder stays listed")
	}
}

func TestGuardLeavesOldSessionsFoldersAlone(t *testing.T) {
	g := newGuardWorld(t, 100)
	old := g.write("-p/s1.jsonl")
	g.write("-p/s1/subagents/agent-a.jsonl")
	then := g.clock.Add(-48 * time.Hour)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	g.watchRoot(g.root, time.Time{})
	if got := strings.Join(g.watcher.watched, " "); got != "projects -p" || len(g.due) > 0 {
		t.Errorf("watches %q, %d sessions are due", got, len(g.due))
	}
}

func TestGuardReadsFoldersThatCannotBeWatched(t *testing.T) {
	g := newGuardWorld(t, 2)
	g.write("-p1/s1.jsonl")
	g.write("-p2/s2.jsonl")
	g.write("-p3/s3.jsonl")
	g.watchRoot(g.root, time.Time{})
	if len(g.notices) != 1 || !strings.Contains(g.notices[0], "no space left on device") {
		t.Fatalf("said %q", g.notices)
	}
	g.clock = g.clock.Add(time.Hour)
	g.read(false)
	g.noted()
	g.read(false)
	if got := g.noted(); got != "" {
		t.Errorf("noted %q although nothing changed", got)
	}
	later := g.clock.Add(time.Second)
	for _, name := range []string{"-p1/s1.jsonl", "-p3/s3.jsonl"} {
		if err := os.Chtimes(g.write(name), later, later); err != nil {
			t.Fatal(err)
		}
	}
	g.clock = later
	if g.read(false); g.noted() != "s3" {
		t.Error("the folders without a watch were not read")
	}
	if g.read(true); g.noted() != "s1 s3" {
		t.Error("not every folder was read after lost changes")
	}
}

func TestGuardLeavesCaptureToHooks(t *testing.T) {
	g := newGuardWorld(t, 100)
	start := time.Now()
	g.clock = start
	if err := g.w.Calls().Note("s1", start); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		g.clock = g.clock.Add(100 * time.Millisecond)
		g.changed(g.write("-p/s1.jsonl"))
		g.changed(g.write("-p/s2.jsonl"))
	}
	if at := g.due["s1"].at; !at.Equal(g.clock.Add(hookQuiet)) {
		t.Errorf("a session with hooks is due %v after its last row", at.Sub(g.clock))
	}
	if at := g.due["s2"].at; !at.Equal(start.Add(100*time.Millisecond + captureDelay)) {
		t.Errorf("one without is due %v after its first", at.Sub(start))
	}
}

// TestGuardNotesDatabases: a change of a database or its write-ahead log makes the file due
// once, and its folder is watched without those below it.
func TestGuardNotesDatabases(t *testing.T) {
	g := newGuardWorld(t, 100)
	g.write("-p/deep/other.db")
	path := g.write("store.db")
	match := func(path string) bool { return filepath.Base(path) == "store.db" }
	g.roots = []guardRoot{{path, transcript.Client{
		Name: "sample", New: func() transcript.Translator { return nil }, Database: &transcript.Database{Match: match},
	}}}
	g.watchRoot(path, time.Time{})
	if got := strings.Join(g.watcher.watched, " "); got != "projects" || len(g.due) != 0 {
		t.Errorf("watches %q, due %v", got, g.due)
	}
	g.changed(g.write("store.db-wal"))
	at := g.due[path].at
	g.clock = g.clock.Add(time.Second)
	g.changed(path)
	g.changed(filepath.Join(g.root, "-p", "deep", "other.db"))
	if d := g.due[path]; len(g.due) != 1 || d.Client != "sample" || d.Session != "" || !d.at.Equal(at) || at.Sub(g.clock) != storedDelay-time.Second {
		t.Errorf("due %+v", g.due)
	}
}
