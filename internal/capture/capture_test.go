package capture_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

const sessionA, sessionB = "7f3a12cd-0000-4000-8000-000000000001", "9b1c44ee-0000-4000-8000-000000000002"

// TestCaptureInPieces checks that a transcript that grows in any pieces is logged byte
// for byte, and that the index is the same as after one capture.
func TestCaptureInPieces(t *testing.T) {
	whole := transcriptOf(sessionA, 1, 6)
	once := newWorld(t)
	once.write(once.path(sessionA), whole)
	once.hook(sessionA)
	want := once.dump("index.db")
	if !strings.Contains(want, "TestRetry3") {
		t.Fatal("the index holds nothing of the session")
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.t = t
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(whole)), 0, 12).Draw(rt, "cuts")
		cuts = append(cuts, len(whole))
		size := 0
		for _, cut := range cuts {
			if cut < size {
				continue
			}
			w.appendTo(w.path(sessionA), whole[size:cut])
			size = cut
			w.hook(sessionA)
			sameBytes(t, "export", w.export(sessionA, 0), whole[:cut])
		}
		if got := w.dump("index.db"); got != want {
			rt.Fatalf("the index differs from that of the whole transcript:\n%s", firstDifference(got, want))
		}
	})
}

// firstDifference returns the first lines that differ between two dumps.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			other := "(nothing)"
			if i < len(w) {
				other = w[i]
			}
			return "got  " + g[i] + "\nwant " + other
		}
	}
	return "(the first is a part of the second)"
}

func TestUnfinishedLineIndexedLater(t *testing.T) {
	w := newWorld(t)
	whole := transcriptOf(sessionA, 1, 2)
	half := len(whole) - 40
	w.write(w.path(sessionA), whole[:half])
	w.hook(sessionA)
	sameBytes(t, "log", w.export(sessionA, 0), whole[:half])
	w.appendTo(w.path(sessionA), whole[half:])
	w.hook(sessionA)
	sameBytes(t, "log", w.export(sessionA, 0), whole)
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

// TestLastLineWithoutNewline checks that a complete last line without a newline is
// indexed once, also after its newline is written.
func TestLastLineWithoutNewline(t *testing.T) {
	whole := transcriptOf(sessionA, 1, 2)
	bare := whole[:len(whole)-1]
	for _, later := range []string{"", "\n", "\r\n"} {
		w := newWorld(t)
		w.write(w.path(sessionA), bare)
		w.hook(sessionA)
		lines := w.cursor(sessionA).Line
		if want := strings.Count(string(whole), "\n"); lines != want {
			t.Errorf("%d lines are indexed, want %d", lines, want)
		}
		w.appendTo(w.path(sessionA), []byte(later))
		w.hook(sessionA)
		more := transcriptOf(sessionA, 2, 1)
		if later != "" {
			w.appendTo(w.path(sessionA), more)
			w.hook(sessionA)
		}
		if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
			t.Errorf("then %q: %s", later, firstDifference(got, want))
		}
	}
}

func (w *world) cursor(session string) archive.Cursor {
	w.t.Helper()
	var cur archive.Cursor
	w.withStore("index.db", func(s storeType) {
		var err error
		if cur, err = s.Cursor(context.Background(), session); err != nil {
			w.t.Fatal(err)
		}
	})
	return cur
}

func TestRewrittenTranscriptStartsGeneration(t *testing.T) {
	first, second := transcriptOf(sessionA, 1, 3), transcriptOf(sessionA, 9, 2)
	tests := map[string]struct {
		replace func(w *world)
		want    []byte // the latest generation
		gens    int
	}{
		"other content of another size": {func(w *world) { w.write(w.path(sessionA), second) }, second, 2},
		"truncated":                     {func(w *world) { w.write(w.path(sessionA), first[:5000]) }, first, 1},
		"truncated, then other content": {func(w *world) {
			w.write(w.path(sessionA), first[:5000])
			w.hook(sessionA)
			w.appendTo(w.path(sessionA), second)
		}, append(append([]byte{}, first[:5000]...), second...), 2},
		"emptied": {func(w *world) { w.write(w.path(sessionA), nil) }, first, 1},
		"emptied, then other content": {func(w *world) {
			w.write(w.path(sessionA), nil)
			w.hook(sessionA)
			w.write(w.path(sessionA), second)
		}, second, 2},
		"replaced by a copy that grew": {func(w *world) {
			w.replace(w.path(sessionA), append(append([]byte{}, first...), second...))
		}, append(append([]byte{}, first...), second...), 1},
		"replaced by a file that differs in the middle only": {func(w *world) {
			changed := append(append([]byte{}, first...), second...)
			changed[len(first)/2] ^= 1
			w.replace(w.path(sessionA), changed)
		}, nil, 2},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path(sessionA), first)
			w.hook(sessionA)
			c.replace(w)
			w.hook(sessionA)
			w.hook(sessionA)
			if c.want != nil {
				sameBytes(t, "latest generation", w.export(sessionA, 0), c.want)
			}
			if c.gens > 1 || name == "emptied" {
				sameBytes(t, "first generation", w.export(sessionA, 1), first)
			}
			if err := w.capture.Export(sessionA, c.gens+1, &strings.Builder{}); archive.ErrorCode(err) != archive.CodeNotFound {
				t.Errorf("there is a generation %d: %v", c.gens+1, err)
			}
			if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
				t.Errorf("index: %s", firstDifference(got, want))
			}
		})
	}
}

// replace replaces a file by another, as an editor does.
func (w *world) replace(path string, data []byte) {
	w.t.Helper()
	tmp := path + ".tmp"
	w.write(tmp, data)
	if err := os.Rename(tmp, path); err != nil {
		w.t.Fatal(err)
	}
}

func TestSideFilesLoggedAgentsIndexed(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(sessionA), transcriptOf(sessionA, 1, 1))
	dir := strings.TrimSuffix(w.path(sessionA), ".jsonl")
	agent := strings.ReplaceAll(string(transcriptOf(sessionA, 4, 1)), `"isSidechain":false`, `"isSidechain":true,"agentId":"a2c37f95"`)
	files := map[string]string{
		"subagents/agent-a2c37f95.jsonl":     agent,
		"subagents/agent-a2c37f95.meta.json": `{"agentType":"Explore","description":"Look at the retries"}`,
		"tool-results/b1.txt":                "a long output",
	}
	for rel, text := range files {
		w.write(filepath.Join(dir, filepath.FromSlash(rel)), []byte(text))
	}
	if err := os.MkdirAll(filepath.Join(dir, "tool-results", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.hook(sessionA)
	for rel, text := range files {
		var out strings.Builder
		if err := w.capture.ExportFile(sessionA, rel, &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != text {
			t.Errorf("%s differs", rel)
		}
	}
	w.withStore("index.db", func(s storeType) {
		got, err := s.Session(context.Background(), sessionA+"~a2c37f95")
		if err != nil {
			t.Fatal(err)
		}
		if got.Parent != sessionA || got.Agent.Type != "Explore" || got.Turns == 0 {
			t.Errorf("the sub-agent's session: %+v", got)
		}
	})
	w.write(filepath.Join(dir, "subagents", "agent-a2c37f95.meta.json"), []byte(`{"agentType":"Explore","description":"Look at the retries","finished":true}`))
	w.hook(sessionA)
	var out strings.Builder
	if err := w.capture.ExportFile(sessionA, "subagents/agent-a2c37f95.meta.json", &out); err != nil || !strings.Contains(out.String(), "finished") {
		t.Errorf("the rewritten description: %q, %v", out.String(), err)
	}
	if got, want := w.dump("index.db"), w.reindex("other.db"); got != want {
		t.Errorf("index: %s", firstDifference(got, want))
	}
}

func TestTranscriptSource(t *testing.T) {
	tests := map[string]struct {
		path, session string
		ok            bool
	}{
		"as the client names it":     {"/c/projects/-x/" + sessionA + ".jsonl", sessionA, true},
		"a session that climbs":      {"/c/projects/-x/../../etc/passwd", "../../etc/passwd", false},
		"another file":               {"/etc/passwd", sessionA, false},
		"another session's file":     {"/c/projects/-x/" + sessionB + ".jsonl", sessionA, false},
		"a relative path":            {sessionA + ".jsonl", sessionA, false},
		"an empty session":           {"/c/.jsonl", "", false},
		"a hidden session":           {"/c/.x.jsonl", ".x", false},
		"a session with a separator": {"/c/a/b.jsonl", "a/b", false},
		"no path":                    {"", sessionA, false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := capture.TranscriptSource(c.path, c.session, "")
			if (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMissingTranscript(t *testing.T) {
	w := newWorld(t)
	got, err := w.capture.LogSession(context.Background(), w.source(sessionA), true)
	if err != nil || !got.Missing {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := os.Stat(w.home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an archive was made for nothing: %v", err)
	}
}

func TestLargeFirstCaptureDeferred(t *testing.T) {
	w := newWorld(t)
	whole := transcriptOf(sessionA, 1, 3)
	w.write(w.path(sessionA), whole)
	w.capture.MaxLog = 1000
	got, err := w.capture.LogSession(context.Background(), w.source(sessionA), true)
	if err != nil || !got.Deferred {
		t.Fatalf("deferred %v, %v", got.Deferred, err)
	}
	w.withStore("index.db", func(s storeType) {
		done, err := w.capture.CatchUp(context.Background(), s, capture.PendingWork{Session: sessionA, Transcript: w.path(sessionA)})
		if err != nil || !done {
			t.Fatal(done, err)
		}
	})
	sameBytes(t, "log", w.export(sessionA, 0), whole)
}
