package capture_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/capture"
)

// notes writes a session's notes into the client's folder, and files that are none.
func (w *world) notes(memory string) map[string]string {
	w.t.Helper()
	top := filepath.Dir(w.client)
	files := map[string]string{
		"projects/-home-dev-shop/memory/MEMORY.md":             memory,
		"plans/calm-blue-otter.md":                             "# Retry twice\n",
		"todos/" + sessionA + "-agent-" + sessionA + ".json":   `[{"content":"Write a test"}]`,
		"tasks/" + sessionA + "/1.json":                        `{"subject":"Wait longer"}`,
		"plans/other-red-fox.md":                               "of another session",
		"projects/-home-dev-shop/memory/" + "large.md":         strings.Repeat("x", 1<<20+1),
		"projects/-home-dev-shop/memory/" + "nested/secret.md": "deeper",
	}
	for path, text := range files {
		w.write(filepath.Join(top, filepath.FromSlash(path)), []byte(text))
	}
	transcript := strings.ReplaceAll(string(transcriptOf(sessionA, 1, 2)), `"isSidechain":false`, `"isSidechain":false,"slug":"calm-blue-otter"`)
	transcript = strings.Replace(transcript, "calm-blue-otter", "../../settings", 1) // no path of a row is trusted
	w.write(filepath.Join(w.client, "-home-dev-shop", sessionA+".jsonl"), []byte(transcript))
	w.write(filepath.Join(top, "settings.md"), []byte("not a plan"))
	return files
}

func TestNotes(t *testing.T) {
	w := newWorld(t)
	files := w.notes("first")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere.md"), filepath.Join(w.client, "-home-dev-shop", "memory", "link.md")); err != nil {
		t.Log(err) // not allowed on this system
	}
	work := capture.PendingWork{Session: sessionA, Transcript: filepath.Join(w.client, "-home-dev-shop", sessionA+".jsonl")}
	if _, err := w.capture.LogPending(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	w.notes("second") // begins a generation
	if _, err := w.capture.LogPending(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	got, err := w.capture.SideFiles(sessionA)
	want := "memory/MEMORY.md plans/calm-blue-otter.md tasks/1.json todos/" + sessionA + "-agent-" + sessionA + ".json"
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("archived %q, %v", got, err)
	}
	var memory strings.Builder
	if err := w.capture.ExportFile(sessionA, "memory/MEMORY.md", &memory); err != nil || memory.String() != "second" {
		t.Errorf("exported %q, %v", memory.String(), err)
	}

	to := filepath.Join(t.TempDir(), "projects")
	if _, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to}); err != nil {
		t.Fatal(err)
	}
	restored := tree(t, filepath.Dir(to))
	for path, text := range files {
		_, ok := restored[path]
		if archived := strings.Contains(path, "MEMORY") || strings.Contains(text, "Retry") || strings.Contains(path, sessionA); archived != ok {
			t.Errorf("%s was restored: %t", path, ok)
		}
	}

	// A note that changed later stays, and nothing about it is an error.
	w.write(filepath.Join(to, "-home-dev-shop", "memory", "MEMORY.md"), []byte("third"))
	if _, err := w.capture.Rebuild(t.Context(), sessionA, capture.Rebuilding{Dir: to}); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(filepath.Join(to, "-home-dev-shop", "memory", "MEMORY.md")); string(data) != "third" {
		t.Errorf("the changed note is now %q", data)
	}
}

// TestNotesInHooks checks that a hook, which has a deadline, leaves notes to its detached run.
func TestNotesInHooks(t *testing.T) {
	w := newWorld(t)
	w.notes("first")
	w.capture.MaxLog = 1 << 20
	w.hook(sessionA)
	if got, err := w.capture.SideFiles(sessionA); len(got) > 0 || err != nil {
		t.Errorf("a hook archived %q, %v", got, err)
	}
	w.capture.MaxLog = 0
	jobs, _, err := w.capture.Discover(t.Context(), []string{w.client})
	if n := len(jobs); err != nil || n != 5 {
		t.Errorf("an import finds %d files, %v", n, err)
	}
}

// A plan in the folder that the setting plansDirectory names is archived; a folder outside
// of the session's is not read.
func TestPlansDirectory(t *testing.T) {
	for setting, want := range map[string]string{"docs/plans": "plans/calm-blue-otter.md", "../plans": "", "/plans": ""} {
		w := newWorld(t)
		cwd := filepath.Join(t.TempDir(), "shop")
		w.write(filepath.Join(cwd, ".claude", "settings.json"), []byte(`{"plansDirectory":"`+setting+`"}`))
		w.write(filepath.Join(cwd, filepath.FromSlash(setting), "calm-blue-otter.md"), []byte("# Retry twice\n"))
		quoted, _ := json.Marshal(cwd)
		transcript := strings.ReplaceAll(string(transcriptOf(sessionA, 1, 2)), `"isSidechain":false`, `"isSidechain":false,"slug":"calm-blue-otter"`)
		transcript = strings.ReplaceAll(transcript, `"cwd":"/home/dev/shop"`, `"cwd":`+string(quoted))
		path := filepath.Join(w.client, "-home-dev-shop", sessionA+".jsonl")
		w.write(path, []byte(transcript))
		if _, err := w.capture.LogPending(t.Context(), capture.PendingWork{Session: sessionA, Transcript: path}); err != nil {
			t.Fatal(err)
		}
		if got, err := w.capture.SideFiles(sessionA); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: archived %q, %v", setting, got, err)
		}
	}
}
